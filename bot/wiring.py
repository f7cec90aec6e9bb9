"""Puts the product together from the settings; the only place that names adapters."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from bot.settings import OFF, Settings
from core.agent import Agent, Limits
from core.errors import Misconfigured, StoreUnavailable
from core.events import Observer, unobserved
from core.ingest import Ingestion
from core.ports import ChatModel, ConversationStore, DocumentSource, Embedder, PassageIndex, Reranker, Surface
from core.responder import Responder

if TYPE_CHECKING:
    from redis.asyncio import Redis

RETRY_WAIT = 0.5  # seconds


@dataclass(frozen=True, slots=True)
class Check:
    """A part to look at: `look` gives a line about it, or raises an error whose sentence says what to do.

    `setting` says where the part is, unless it is in this process.
    """

    name: str
    look: Callable[[], Awaitable[str]]
    setting: str | None = None


@dataclass(frozen=True, slots=True)
class App:
    """The assembled product, until the end of the context that made it."""

    responder: Responder
    agent: Agent
    ingestion: Ingestion
    index: PassageIndex
    conversations: ConversationStore | None
    checks: tuple[Check, ...]


@contextlib.asynccontextmanager
async def assemble(
    settings: Settings, *, memory: bool = False, observer: Observer = unobserved, retry_wait: float = RETRY_WAIT
) -> AsyncGenerator[App]:
    """Build everything; the store for conversations only where *memory* is wanted, since it may be a server of ours.

    Nothing is reached before it is needed, so that a service that is down costs only what needs it. One that fails is
    asked again after about *retry_wait* seconds, then after twice as many, and so on.
    """
    from core.retrieval import HybridRetriever

    async with contextlib.AsyncExitStack() as stack:
        parts = _Parts(settings, observer, retry_wait, stack)
        embedder = parts.embedder()
        reranker = parts.reranker()
        index = parts.index(embedder)
        retriever = HybridRetriever(embedder, index, clock=time.monotonic, reranker=reranker, observer=observer)
        agent = Agent(
            parts.chat_model(embedder),
            retriever,
            clock=time.monotonic,
            observer=observer,
            limits=Limits(excerpt_characters=settings.excerpt_characters, history_tokens=settings.history_tokens),
            prices=settings.prices,
        )
        conversations = await stack.enter_async_context(open_conversations(settings)) if memory else None
        yield App(
            responder=Responder(agent, conversations, now=lambda: datetime.now(UTC), observer=observer),
            agent=agent,
            ingestion=Ingestion(index, embedder),
            index=index,
            conversations=conversations,
            checks=(*parts.checks, *_last_checks(settings, index)),
        )


class _Parts:
    """Chooses each part by the settings: the service where there is a key or an address, what is built in otherwise."""

    def __init__(
        self, settings: Settings, observer: Observer, retry_wait: float, stack: contextlib.AsyncExitStack
    ) -> None:
        self._settings = settings
        self._observer = observer
        self._retry_wait = retry_wait
        self._stack = stack
        self.checks: list[Check] = []

    def chat_model(self, embedder: Embedder) -> ChatModel:
        settings = self._settings
        if not settings.has_chat_model:
            from adapters.extractive import ExtractiveModel

            self.checks.insert(0, Check("chat model", _says("none is configured; answers quote the documents")))
            return ExtractiveModel(embedder)
        from adapters.openai import OpenAIChat
        from adapters.openai.chat import RETRIES

        model = OpenAIChat(
            settings.openai_model,
            api_key=_secret(settings.openai_key) or "",
            base_url=settings.openai_url,
            retries=RETRIES.after(self._retry_wait),
            observer=self._observer,
        )
        self._stack.push_async_callback(model.aclose)
        self.checks.insert(0, Check("chat model", model.check, "OPENAI_BASE_URL"))
        return model

    def embedder(self) -> Embedder:
        settings = self._settings
        key = _secret(settings.cohere_key)
        if key is None:
            from adapters.minilm import MiniLM

            built_in = MiniLM(settings.data_dir / "models")
            self.checks.append(Check("embedder", lambda: _tried(built_in)))
            return built_in
        from adapters.cohere import CohereEmbedder
        from adapters.cohere.connection import RETRIES

        embedder = CohereEmbedder(
            settings.cohere_embed_model,
            dimension=settings.cohere_dimension,
            api_key=key,
            base_url=settings.cohere_url,
            retries=RETRIES.after(self._retry_wait),
            observer=self._observer,
        )
        self._stack.push_async_callback(embedder.aclose)
        self.checks.append(Check("embedder", embedder.check, "COHERE_BASE_URL"))
        return embedder

    def reranker(self) -> Reranker | None:
        settings = self._settings
        key = _secret(settings.cohere_key)
        if key is None or settings.cohere_rerank_model == OFF:
            return None
        from adapters.cohere import CohereReranker
        from adapters.cohere.connection import RETRIES

        reranker = CohereReranker(
            settings.cohere_rerank_model,
            api_key=key,
            base_url=settings.cohere_url,
            retries=RETRIES.after(self._retry_wait),
            observer=self._observer,
        )
        self._stack.push_async_callback(reranker.aclose)
        self.checks.append(Check("reranker", reranker.check, "COHERE_BASE_URL"))
        return reranker

    def index(self, embedder: Embedder) -> PassageIndex:
        settings = self._settings
        if settings.qdrant_url is None:
            from adapters.qdrant import EdgeIndex

            built_in = EdgeIndex(settings.data_dir / "index", embedder=embedder.name, dimension=embedder.dimension)
            self._stack.push_async_callback(built_in.aclose)
            return built_in
        from adapters.qdrant import ServerIndex
        from adapters.qdrant.server import RETRIES

        index = ServerIndex(
            settings.qdrant_url,
            embedder=embedder.name,
            dimension=embedder.dimension,
            collection=settings.qdrant_collection,
            api_key=_secret(settings.qdrant_key),
            retries=RETRIES.after(self._retry_wait),
            observer=self._observer,
        )
        self._stack.push_async_callback(index.aclose)
        self.checks.append(Check("qdrant", index.check, "QDRANT_URL"))
        return index


def _last_checks(settings: Settings, index: PassageIndex) -> Iterator[Check]:
    """Look at the store, and at what there is to search."""
    yield Check("conversations", lambda: _check_store(settings), "REDIS_URL" if settings.redis_url else None)
    yield Check("index", lambda: _check_contents(index), "QDRANT_URL" if settings.qdrant_url else None)


async def _check_contents(index: PassageIndex) -> str:
    outline = await index.outline()
    if not outline.passages:
        raise Misconfigured("There are no documents yet. Read some first: footnote ingest FOLDER")
    return f"{outline.pages} pages, {outline.passages} passages from {', '.join(outline.sources)}"


def _secret(value: SecretStr | None) -> str | None:
    return None if value is None else value.get_secret_value()


def _says(line: str) -> Callable[[], Awaitable[str]]:
    """Make a look that finds the same every time."""

    async def look() -> str:
        return line

    return look


async def _tried(embedder: Embedder) -> str:
    """Let an embedder of this process do its work once."""
    await embedder.embed_query("Is anybody there?")
    return f"{embedder.name}, {embedder.dimension} numbers, in this process"


@contextlib.asynccontextmanager
async def open_conversations(settings: Settings) -> AsyncGenerator[ConversationStore]:
    """Reach the given server, or run a private one in the data folder."""
    from adapters.redis.conversations import RedisConversations
    from adapters.redis.seal import Seal

    if settings.secret_key is not None:
        seal = Seal.parse(settings.secret_key.get_secret_value())
    else:
        seal = Seal.from_file(settings.data_dir / "secret.key")
    async with _open_store(settings) as client:
        yield RedisConversations(client, ttl=settings.conversation_ttl, seal=seal)


async def _check_store(settings: Settings) -> str:
    """Say what keeps the conversations, and whether it may be used."""
    from adapters.redis.address import Address
    from adapters.redis.failure import UNREACHABLE
    from adapters.redis.health import check

    async with _open_store(settings) as client:
        if settings.redis_url is None:
            return await check(client, "a private socket in the data folder")
        address = str(Address.parse(settings.redis_url.get_secret_value()))
        try:
            return await check(client, address)
        except StoreUnavailable as error:
            if str(error) != UNREACHABLE:
                raise
            raise Misconfigured(f"{error} Check REDIS_URL ({address}), and whether the server runs.") from error


@contextlib.asynccontextmanager
async def _open_store(settings: Settings) -> AsyncGenerator[Redis]:
    from adapters.redis.connection import connect
    from adapters.redis.server import PrivateServer

    async with contextlib.AsyncExitStack() as stack:
        if settings.redis_url is not None:
            url = settings.redis_url.get_secret_value()
        else:
            url = await stack.enter_async_context(PrivateServer(settings.data_dir / "store"))
        client = connect(url)
        stack.push_async_callback(client.aclose)
        yield client


def folder(path: Path, *, name: str, base_url: str | None) -> DocumentSource:
    """Give a folder or file as a source of documents."""
    from adapters.documents.folder import Folder

    return Folder(path, name=name, base_url=base_url)


def surface(*, as_json: bool = False) -> Surface:
    """Choose how the terminal shows answers: JSON if asked for, rich on a screen, plain in a pipe."""
    from adapters.terminal import JsonSurface, PlainSurface, ScreenSurface

    if as_json:
        return JsonSurface(sys.stdout)
    if not sys.stdout.isatty():
        return PlainSurface(sys.stdout)
    from rich.console import Console

    return ScreenSurface(Console())
