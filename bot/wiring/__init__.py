"""Puts the product together from the settings; the only place that names adapters."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from bot.settings import Settings
from bot.wiring.documents import folder, opened, unknown_macros
from bot.wiring.platforms import Platform, practices
from bot.wiring.services import DEFAULT_TIMING, Advice, Check, RetryTiming, Services
from bot.wiring.slack import SlackPlatform, check_slack
from bot.wiring.stores import (
    Stores,
    check_communities,
    check_inbox,
    check_policies,
    check_seal,
    check_stores,
    open_stores,
)
from core.answering.agent import Agent, Limits
from core.answering.responder import Responder
from core.documents.ingest import Ingestion
from core.documents.library import NO_SOURCES, Library
from core.errors import Misconfigured
from core.events import Observer, PlatformWaited, unobserved
from core.messages import counted
from core.ports import Catalogue, ConversationStore, Embedder, PassageIndex, Reranker, Surface

if TYPE_CHECKING:
    from aiohttp.web import RouteDef

    from adapters.beside import OwnerClient


__all__ = [
    "DEFAULT_TIMING",
    "NOTHING_TO_SEARCH",
    "Advice",
    "App",
    "Check",
    "RetryTiming",
    "assemble",
    "folder",
    "surface",
]

NOTHING_TO_SEARCH = NO_SOURCES
SHOWN_PROBLEMS = 5  # sources that could not be read


@dataclass(frozen=True, slots=True)
class App:
    """The assembled product, until the end of the context that made it."""

    responder: Responder
    agent: Agent
    library: Library
    index: PassageIndex
    embedder: Embedder
    reranker: Reranker | None
    stores: Stores | None
    checks: tuple[Check, ...]

    @property
    def ingestion(self) -> Ingestion:
        """What reads a source that nobody has written down."""
        return self.library.ingestion

    @property
    def conversations(self) -> ConversationStore | None:
        """What is remembered, if anything is."""
        return self.stores.conversations if self.stores else None


@contextlib.asynccontextmanager
async def assemble(
    settings: Settings,
    *,
    memory: bool = False,
    observer: Observer = unobserved,
    timing: RetryTiming = DEFAULT_TIMING,
    owner: OwnerClient | None = None,
) -> AsyncGenerator[App]:
    """Build everything; the stores only where *memory* is wanted, since they may be a server of ours.

    Nothing is reached before it is needed, so that a service that is down costs only what needs it. One that fails is
    asked again after the wait that the *timing* names, then after twice as long, and so on. Where another process is
    the *owner* of the data folder, its index and its store are used.
    """
    from core.documents.retrieval import HybridRetriever

    async with contextlib.AsyncExitStack() as stack:
        services = Services(settings, observer, timing, stack, owner)
        embedder, reranker = services.embedder(), services.reranker()
        index = services.index(embedder)
        retriever = HybridRetriever(embedder, index, clock=time.monotonic, reranker=reranker, observer=observer)
        agent = Agent(
            services.chat_model(embedder),
            retriever,
            clock=time.monotonic,
            observer=observer,
            limits=_limits(settings),
            prices=settings.prices,
            dearest=settings.dearest_prices,
            bills_searches=settings.cohere_key is not None,
            reviewer=services.reviewer(),
            practices=practices(settings),
        )
        now, private = partial(datetime.now, UTC), owner.welcome.store if owner else None
        stores = await stack.enter_async_context(open_stores(settings, private)) if memory else None
        yield App(
            responder=Responder(agent, stores and stores.conversations, now=now, observer=observer),
            agent=agent,
            library=Library(index, Ingestion(index, embedder), partial(opened, settings), now),
            index=index,
            stores=stores,
            embedder=embedder,
            reranker=reranker,
            checks=(*services.checks, *_last_checks(settings, index, stores and stores.address)),
        )


def _limits(settings: Settings) -> Limits:
    """Return what the settings say of how much an answer may take."""
    return Limits(
        excerpt_characters=settings.excerpt_characters,
        history_tokens=settings.history_tokens,
        longest=settings.answer_seconds,
        handovers=int(settings.openai_fallback_model is not None),
    )


def _last_checks(settings: Settings, index: PassageIndex, private: str | None) -> Iterator[Check]:
    """Look at the stores, at what there is to search, and at the platforms; the *private* server may run already."""

    async def look() -> str:
        outline = await index.outline()
        if not outline.passages:
            raise Misconfigured(NOTHING_TO_SEARCH)
        pages, passages = counted(outline.pages, "page"), counted(outline.passages, "passage")
        says = f"{pages}, {passages} from {', '.join(outline.sources)}"
        found = [(record.name, record.last) for record in await index.sources() if record.last]
        problems = [f"{name}: {last.problem}" for name, last in found if last.problem]
        problems += [f"{name}: {unknown_macros(last.macros)}" for name, last in found if last.macros]
        return Advice("\n".join([says, *problems[:SHOWN_PROBLEMS]])) if problems else says

    redis = "REDIS_URL" if settings.redis_url else None
    stored = ("secret key", "conversations")
    yield Check("secret key", lambda: check_seal(settings))
    yield Check("conversations", lambda: check_stores(settings, private), redis)
    yield Check("questions", lambda: check_inbox(settings, private), redis, needs=stored)
    yield Check("moderation", lambda: check_policies(settings, private), redis, needs=stored)
    if settings.discord_token is not None or settings.has_slack:
        yield Check("communities", lambda: check_communities(settings, index, private), redis, needs=stored)
    yield Check("index", look, "QDRANT_URL" if settings.qdrant_url else None)
    if settings.discord_token is not None:
        from bot.wiring.discord import DiscordPlatform

        yield from DiscordPlatform(settings, unobserved, index).checks()  # what it sees is no news of the bot
    if settings.has_slack:
        needs = stored if settings.has_installations else ()  # which the store has
        setting = "SLACK_API_URL" if settings.slack_api_url else None
        yield Check("slack", lambda: check_slack(settings, private), setting, needs=needs)


def surface(*, as_json: bool = False) -> Surface:
    """Choose how the terminal shows answers: JSON if asked for, rich on a screen, plain in a pipe."""
    from adapters.terminal import JsonSurface, PlainSurface, ScreenSurface

    if as_json:
        return JsonSurface(sys.stdout)
    if not sys.stdout.isatty():
        return PlainSurface(sys.stdout)
    from rich.console import Console

    return ScreenSurface(Console())


@contextlib.asynccontextmanager
async def open_platforms(
    settings: Settings,
    observer: Observer,
    stores: Stores,
    catalogue: Catalogue,
    signs: Sequence[RouteDef] = (),
) -> AsyncGenerator[tuple[Platform, ...]]:
    """Yield what is set up; *catalogue* says what there is to search. What they share is open until the context ends.

    The *signs* of life of this process are given by each of them that is a server.
    """
    async with contextlib.AsyncExitStack() as stack:
        found: list[Platform] = []
        if settings.discord_token is not None:
            from bot.wiring.discord import DiscordPlatform

            found.append(DiscordPlatform(settings, observer, catalogue, stores.policies))
        if settings.has_slack:
            from adapters.slack.api import open_session

            opening = open_session(lambda seconds: observer(PlatformWaited(SlackPlatform.key, seconds)))
            session = await stack.enter_async_context(opening)
            found.append(SlackPlatform(settings, observer, session, stores, catalogue, signs))
        yield tuple(found)
