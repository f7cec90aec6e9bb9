"""What all platforms share: the services that listeners work with, and what answers once it has logged in."""

from __future__ import annotations

import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
)
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from bot.settings import Settings
from bot.wiring.stores import Stores
from core.community.admission import Admission, WaitEstimate
from core.community.moderation import Forgetting, Moderation, SelfHelp
from core.events import Observer
from core.messages import Practices
from core.model import (
    Answer,
    Claim,
    Delivery,
    Drafted,
    Outline,
    Progress,
    Scope,
)
from core.ports import ChatSurface, Membership

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices
    from adapters.redis.inbox import RedisInbox
    from bot.metrics import Metrics


Outlined: TypeAlias = Callable[[Scope], Awaitable[Outline]]
"""Returns what there is to search in a scope. Raises `RetrievalUnavailable`."""

NOBODY: Mapping[str, Membership] = MappingProxyType({})


class PlatformServices:
    """Makes what the listeners and commands of a platform work with, over the stores of this process."""

    def __init__(self, settings: Settings, stores: Stores, inbox: RedisInbox, observer: Observer) -> None:
        self._settings = settings
        self._stores = stores
        self._inbox = inbox
        self._observer = observer
        self._now: Callable[[], datetime] = partial(datetime.now, UTC)

    def bundle(
        self, name: str, outline: Outlined, *, reads_all: bool = True, memberships: Mapping[str, Membership] = NOBODY
    ) -> ChatServices:
        """Return it for the platform of a *name*, where *memberships* say who is answered."""
        from adapters.chat.intake import askers, owns
        from adapters.chat.services import ChatServices, Waits

        stores, now = self._stores, self._now
        forgetting = Forgetting(stores.conversations, stores.votes, self._inbox, stores.policies)
        moderation = Moderation(stores.policies, stores.conversations, forgetting, now=now)
        admission = Admission(stores.policies, stores.quota, stores.dedup, now=now, memberships=memberships)
        estimate = WaitEstimate(self._settings.answers_at_once)
        return ChatServices(
            name=name,
            inbox=self._inbox,
            accepting=self._inbox,
            dedup=stores.dedup,
            policies=stores.policies,
            votes=stores.votes,
            channel_cursor=stores.channel_cursor,
            moderation=moderation,
            self_help=SelfHelp(stores.conversations, forgetting, moderation),
            askers=partial(askers, stores.conversations, self._inbox),
            owns=partial(owns, stores.conversations),
            purge=forgetting.farewell,
            outline=outline,
            waits=Waits(estimate=estimate, room=self._inbox, dedup=stores.dedup, admits=admission.admits, now=now),
            reads_all=reads_all,
            terms=self._settings.terms,
            practices=Practices(self._settings.conversation_hours, services=tuple(_readers(self._settings))),
            now=now,
            observer=self._observer,
        )


def _readers(settings: Settings) -> Iterator[str]:
    """Name the services that are given what people ask."""
    if settings.has_chat_model:
        where = urlsplit(settings.openai_url).hostname if settings.openai_url else "OpenAI"
        yield f"the chat model {settings.openai_model} ({where})"
    if settings.cohere_key is not None:
        yield "Cohere"


@dataclass(frozen=True, slots=True)
class Speaker:
    """What answers, once it has logged in; with a *membership*, only members are answered."""

    surface: ChatSurface
    log_in: Callable[[], Coroutine[Any, Any, None]]
    membership: Membership | None = None


class Platform(Protocol):
    """A platform that is set up; `key` is what it is called in the places of questions, and in roles."""

    @property
    def key(self) -> str:
        """Name it for programs."""
        ...

    @property
    def name(self) -> str:
        """Name it for people."""
        ...

    async def listen(self, stores: Stores, inbox: RedisInbox) -> None:
        """Put what people ask into the inbox, until this is cancelled. Raises `Misconfigured`."""
        ...

    def speaker(self, inbox: RedisInbox) -> AbstractAsyncContextManager[Speaker]:
        """Return what answers there; it has to log in first."""
        ...


class TimedSurface:
    """Notes in *metrics* how long readers wait for their turn and for the first words."""

    def __init__(self, surface: ChatSurface, metrics: Metrics) -> None:
        self._reply = surface.reply
        self._metrics = metrics
        self.react, self.unreact, self.withdraw = surface.react, surface.unreact, surface.withdraw

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Draw an answer."""
        self._metrics.waited(claim)
        async with aclosing(_timed(progress, self._metrics)) as timed:
            return await self._reply(claim, timed)


async def _timed(progress: AsyncIterator[Progress], metrics: Metrics) -> AsyncGenerator[Progress, None]:
    """Pass the progress on, and note when there is something to read for the first time; a refusal was no work."""
    start, is_silent = time.monotonic(), True
    async for item in progress:
        if is_silent and (isinstance(item, Drafted) or (isinstance(item, Answer) and item.total_time_ms > 0)):
            is_silent = False
            metrics.took("first_text", time.monotonic() - start)
        yield item
