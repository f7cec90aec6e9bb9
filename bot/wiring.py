"""Puts the product together from the settings; the only place that names adapters."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.settings import Settings
from core.agent import Agent, Limits
from core.events import Observer, unobserved
from core.ingest import Ingestion
from core.ports import ConversationStore, DocumentSource, Embedder, PassageIndex, Surface
from core.responder import Responder


@dataclass(frozen=True, slots=True)
class App:
    """The assembled product, until the end of the context that made it."""

    responder: Responder
    agent: Agent
    ingestion: Ingestion
    index: PassageIndex
    embedder: Embedder
    conversations: ConversationStore | None


@contextlib.asynccontextmanager
async def assemble(settings: Settings, *, memory: bool = False, observer: Observer = unobserved) -> AsyncGenerator[App]:
    """Build everything; the store for conversations only where *memory* is wanted, since it may be a server of ours."""
    from adapters.extractive import ExtractiveModel
    from adapters.minilm import MiniLM
    from adapters.qdrant import EdgeIndex
    from core.retrieval import HybridRetriever

    async with contextlib.AsyncExitStack() as stack:
        embedder = MiniLM(settings.data_dir / "models")
        index = EdgeIndex(settings.data_dir / "index", embedder=embedder.name, dimension=embedder.dimension)
        stack.push_async_callback(index.aclose)
        conversations = await stack.enter_async_context(open_conversations(settings)) if memory else None
        agent = Agent(
            ExtractiveModel(embedder),
            HybridRetriever(embedder, index, clock=time.monotonic),
            clock=time.monotonic,
            observer=observer,
            limits=Limits(excerpt_characters=settings.excerpt_characters, history_tokens=settings.history_tokens),
        )
        yield App(
            responder=Responder(agent, conversations, now=lambda: datetime.now(UTC), observer=observer),
            agent=agent,
            ingestion=Ingestion(index, embedder),
            index=index,
            embedder=embedder,
            conversations=conversations,
        )


@contextlib.asynccontextmanager
async def open_conversations(settings: Settings) -> AsyncGenerator[ConversationStore]:
    """Reach the given server, or run a private one in the data folder."""
    from adapters.redis.connection import connect
    from adapters.redis.conversations import RedisConversations
    from adapters.redis.seal import Seal
    from adapters.redis.server import PrivateServer

    async with contextlib.AsyncExitStack() as stack:
        if settings.secret_key is not None:
            seal = Seal.parse(settings.secret_key.get_secret_value())
        else:
            seal = Seal.from_file(settings.data_dir / "secret.key")
        if settings.redis_url is not None:
            url = settings.redis_url.get_secret_value()
        else:
            url = await stack.enter_async_context(PrivateServer(settings.data_dir / "store"))
        client = connect(url)
        stack.push_async_callback(client.aclose)
        yield RedisConversations(client, ttl=settings.conversation_ttl, seal=seal)


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
