"""What all platforms share: the services that listeners work with, and what answers once it has logged in."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from adapters.chat.services import Presence
from adapters.retry import CONNECTING, Gate, RetryPolicy
from bot.settings import Settings
from bot.wiring.stores import Stores
from core.answering.agent import Limits
from core.community.admission import Admission, WaitEstimate
from core.community.moderation import Forgetting, Moderation, SelfHelp
from core.community.visibility import Visibility
from core.events import Observer
from core.messages import Practices
from core.model import Answer, Claim, Delivery, Drafted, Progress
from core.ports import Catalogue, ChatSurface, Membership

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices, Waits
    from adapters.redis.inbox import RedisInbox
    from bot.metrics import Metrics


LOG_IN, GATE = "log in", "gate"  # ways to a platform, beside those on which it is heard


@dataclass(frozen=True, slots=True)
class PlatformClient:
    """The surface of a platform, what logs in to it, which has to come first, and what it does beside all along."""

    surface: ChatSurface
    log_in: Callable[[], Coroutine[Any, Any, None]]
    beside: Callable[[], Coroutine[Any, Any, None]]


class Platform(ABC):
    """A platform that is set up; `key` is what it is called in the places of questions, and in roles.

    The *catalogue* says what there is to search, and *reads_all* whether the bot reads messages that do not mention it.
    """

    key: str
    name: str  # as people call it
    membership: Membership | None = None  # knows who reads an answer
    silence: float = Limits().silence  # seconds after which whoever asks is told what is waited for

    def __init__(self, settings: Settings, observer: Observer, catalogue: Catalogue, *, reads_all: bool = True) -> None:
        self._settings = settings
        self._observer = observer
        self._catalogue = catalogue
        self._reads_all = reads_all
        self._presence = Presence(self.name, observer)

    @abstractmethod
    async def listen(self, stores: Stores, inbox: RedisInbox) -> None:
        """Put what people ask into the inbox, until this is cancelled; comes back by itself after failures.

        Raises `Misconfigured`.
        """

    @abstractmethod
    def client(self, stores: Stores, inbox: RedisInbox) -> AbstractAsyncContextManager[PlatformClient]:
        """Return what answers there; it has to log in first."""

    def _retries(self, way: str) -> RetryPolicy:
        """Return how it is tried to go a *way* to the platform, and who is told."""

        def tell(_: int, reason: str) -> None:
            self._presence.lost(way, reason)

        return replace(CONNECTING, told=tell)

    async def _entered(self, entering: Callable[[RetryPolicy], Awaitable[object]]) -> None:
        """Log in, for as long as it takes. Raises `Misconfigured`."""
        await entering(self._retries(LOG_IN))
        self._presence.back(LOG_IN)

    def _gate(self) -> Gate:
        """Return what keeps requests from a platform that refuses them all."""
        return Gate(partial(self._presence.lost, GATE), partial(self._presence.back, GATE))

    def _waits(self, stores: Stores, inbox: RedisInbox, admission: Admission) -> Waits:
        """Return what knows how long people wait."""
        from adapters.chat.services import Waits

        estimate = WaitEstimate(self._settings.answers_at_once)
        return Waits(estimate=estimate, room=inbox, dedup=stores.dedup, admits=admission.admits, silence=self.silence)

    def _services(self, stores: Stores, inbox: RedisInbox) -> ChatServices:
        """Return what listeners and commands work with."""
        from adapters.chat.company import company, owns
        from adapters.chat.services import ChatServices

        settings, now = self._settings, partial[datetime](datetime.now, UTC)
        members = {self.key: self.membership} if self.membership is not None else {}
        forgetting = Forgetting(stores.conversations, stores.votes, inbox, stores.policies, stores.vault)
        moderation = Moderation(
            stores.policies, forgetting, now=now, budgets=settings.all_budgets, has_prices=settings.prices is not None
        )
        admission = admission_of(settings, stores, self._catalogue, members)
        return ChatServices(
            name=self.name,
            inbox=inbox,
            accepting=inbox,
            dedup=stores.dedup,
            communities=stores.communities,
            policies=stores.policies,
            votes=stores.votes,
            channel_cursor=stores.channel_cursor,
            moderation=moderation,
            self_help=SelfHelp(stores.conversations, forgetting, moderation, inbox),
            admission=admission,
            company=partial(company, stores.conversations, inbox),
            hear=stores.conversations.hear,
            owns=partial(owns, stores.conversations),
            purge=forgetting.farewell,
            waits=self._waits(stores, inbox, admission),
            reads_all=self._reads_all,
            judges=settings.has_chat_model,
            terms=settings.terms,
            practices=practices(settings),
            now=now,
            observer=self._observer,
        )


def admission_of(
    settings: Settings, stores: Stores, catalogue: Catalogue, members: Mapping[str, Membership]
) -> Admission:
    """Return what decides who may ask, and is answered from what of a *catalogue*; the *members* know who reads."""
    visibility = Visibility(catalogue, stores.communities, stores.policies, memberships=members)
    now = partial[datetime](datetime.now, UTC)
    return Admission(
        visibility,
        stores.policies,
        stores.quota,
        stores.dedup,
        now=now,
        budgets=settings.all_budgets,
        zone=settings.zone,
    )


class TimedSurface:
    """Notes in *metrics* how long readers wait for their turn and for the first words."""

    def __init__(self, surface: ChatSurface, metrics: Metrics) -> None:
        self._reply = surface.reply
        self._metrics = metrics
        self.react, self.unreact, self.withdraw = surface.react, surface.unreact, surface.withdraw
        self.refuse, self.alert, self.standing = surface.refuse, surface.alert, surface.standing

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Draw an answer, and note when there is something to read for the first time."""
        self._metrics.waited(claim)

        async def timed() -> AsyncGenerator[Progress, None]:
            start, is_silent = time.monotonic(), True
            async for item in progress:
                if is_silent and (isinstance(item, Drafted) or (isinstance(item, Answer) and item.total_time_ms > 0)):
                    is_silent = False
                    self._metrics.took("first_text", time.monotonic() - start)
                yield item

        async with aclosing(timed()) as passed_on:
            return await self._reply(claim, passed_on)


def practices(settings: Settings) -> Practices:
    """Return what the operator has chosen to keep, and who reads the questions."""
    return Practices(settings.conversation_hours, services=tuple(_readers(settings)))


def _readers(settings: Settings) -> Iterator[str]:
    """Yield the services that are given what people ask."""
    first = settings.openai_url
    models = (
        (settings.openai_model if settings.has_chat_model else None, first),
        (settings.openai_fallback_model, settings.openai_fallback_url or first),
        (settings.openai_review_model, settings.openai_review_url or first),
    )
    for model, url in models:
        if model is not None:
            yield f"the chat model {model} ({urlsplit(url).hostname if url else 'OpenAI'})"
    if settings.cohere_key is not None:
        yield "Cohere"
