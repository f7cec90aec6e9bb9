"""What stands behind commands, buttons and forms on every platform, in memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

from adapters.chat.services import ChatServices
from core.community.admission import Admission
from core.community.moderation import Forgetting, Moderation, SelfHelp
from core.community.visibility import Visibility
from core.errors import RetrievalUnavailable, StoreUnavailable
from core.events import Event, Observer, unobserved
from core.messages import Practices
from core.model import (
    EVERYTHING,
    Asked,
    Citation,
    Claim,
    Deleted,
    Kept,
    MessageRef,
    Outline,
    Scope,
    Signal,
    SourceRecord,
    Stage,
    Task,
    Terms,
    ThreadRef,
    Turn,
    Withdrawal,
)
from core.ports import Membership
from tests.builders import NOON
from tests.fakes.channel_cursor import MemoryChannelCursor
from tests.fakes.communities import MemoryCommunities
from tests.fakes.conversations import MemoryConversations
from tests.fakes.dedup import MemoryDedup
from tests.fakes.inbox import MemoryInbox
from tests.fakes.index import MemoryIndex
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.quota import MemoryQuota
from tests.fakes.vault import MemoryVault
from tests.fakes.votes import MemoryVotes
from tests.waiting import at_once

OUTLINE = Outline(passages=40, pages=12, sources=("handbook", "fa<q>"), chapters=())
NOTHING = Outline(passages=0, pages=0, sources=(), chapters=())
TERMS = Terms(top_k=7, relevance_threshold=0.25)
SOURCE = Citation(
    number=1, chapter="one", section="Arms", title="Robots", url="https://docs.example/arms", relevance_score=0.8
)


@dataclass
class Counter:
    """The end of the inbox at which signals are handed in; it keeps them, and says of each whether it was news.

    Set `fails` to an error that each call raises, and clear `opens` to let them wait. What is accepted is `kept` until
    it is moved, and its lease `ends` by the loop's clock; `reached` is how far what does not wait has come, and `left`
    what another process knew of. Set `is_closed` to make that impossible.
    """

    signals: list[Signal] = field(default_factory=list[Signal])
    fails: Exception | None = None
    is_news: bool = True
    opens: asyncio.Event = field(default_factory=asyncio.Event)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    kept: dict[MessageRef, Asked] = field(default_factory=dict[MessageRef, Asked])
    ends: dict[MessageRef, float] = field(default_factory=dict[MessageRef, float])
    reached: dict[MessageRef, Stage] = field(default_factory=dict[MessageRef, Stage])
    left: list[Asked] = field(default_factory=list[Asked])
    accepted_for: float = 30.0
    is_closed: bool = False

    def __post_init__(self) -> None:
        """Begin open."""
        self.opens.set()

    async def put(self, signal: Signal) -> bool:
        """Keep a signal."""
        await self.opens.wait()
        if self.fails:
            raise self.fails
        if isinstance(signal, Deleted):
            return self.kept.pop(signal.message, None) is not None
        self.signals.append(signal)
        self.came.set()
        return self.is_news

    async def accept(self, asked: Asked, *, within: float) -> bool:
        """Keep it at once, or not at all."""
        self._check()
        assert within > 0
        if asked.message in self.ends:
            return False
        self.kept[asked.message] = asked
        self._lease(asked)
        return True

    async def overdue(self, platform: str) -> Asked | None:
        """Give what nobody has any more."""
        self._check()
        now, of = asyncio.get_running_loop().time(), self.kept.values()
        left = (one for one in of if one.message.thread.platform == platform and self.ends[one.message] <= now)
        asked = next(left, None)
        if asked is not None:
            self._lease(asked)
        return asked

    async def untold(self, platform: str) -> Sequence[Asked]:
        """Give what the test says."""
        self._check()
        return self.left

    async def move(self, accepted: MessageRef, asked: Asked) -> bool:
        """Put it, once."""
        await self.opens.wait()
        if self.fails:
            raise self.fails
        if self.kept.pop(accepted, None) is None and accepted in self.ends:
            return False
        return await self.put(asked)

    async def stages(self, messages: Sequence[MessageRef]) -> Sequence[Stage]:
        """Look at each; what was put waits, unless it says otherwise."""
        self._check()
        put = dict.fromkeys([*self.kept, *(signal.message for signal in self.signals)], Stage.WAITING)
        return [{**put, **self.reached}.get(each, Stage.UNKNOWN) for each in messages]

    def follow(self) -> Counter:
        """Give what another process has of the same inbox, to whom nobody else is at anything any more."""
        return Counter(kept=dict(self.kept), ends=dict.fromkeys(self.ends, 0.0))

    def _lease(self, asked: Asked) -> None:
        self.ends[asked.message] = asyncio.get_running_loop().time() + self.accepted_for

    def _check(self) -> None:
        if self.is_closed:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")

    def claim(self) -> contextlib.AbstractAsyncContextManager[Task]:
        """Nobody works here."""
        raise NotImplementedError

    def withdrawal(self, claim: Claim) -> Withdrawal:
        """Nobody works here."""
        raise NotImplementedError

    async def keep(self, task: Task) -> bool:
        """Nobody works here."""
        raise NotImplementedError

    async def kept_for(self) -> Kept:
        """Nothing is ever lost."""
        return Kept(timedelta.max, "1")

    async def knows(self, message: MessageRef) -> bool:
        """Know what is begun."""
        return message in self.reached

    async def waiting(self) -> int:
        """All that came still wait."""
        return len(self.signals)


@dataclass(frozen=True, slots=True)
class MemoryCatalogue:
    """What there is to search: what the index has if there is one, or the outline, the same for whatever is open."""

    services: MemoryServices

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Say what there is to search."""
        if self.services.index is not None:
            return await self.services.index.outline(scope)
        return self._known() if scope.sources is None or scope.sources else NOTHING

    async def sources(self) -> Sequence[SourceRecord]:
        """Name the sources."""
        if self.services.index is not None:
            return await self.services.index.sources()
        return [SourceRecord(name=name) for name in self._known().sources]

    def _known(self) -> Outline:
        if self.services.outline is None:
            raise RetrievalUnavailable("The index cannot be reached.")
        return self.services.outline


@dataclass(kw_only=True)
class MemoryServices:
    """Stores that tests fill, read and shut, with the bundle that platforms work with."""

    inbox: Counter = field(default_factory=Counter)
    votes: MemoryVotes = field(default_factory=MemoryVotes)
    dedup: MemoryDedup = field(default_factory=MemoryDedup)
    policies: MemoryPolicies = field(default_factory=MemoryPolicies)
    conversations: MemoryConversations = field(
        default_factory=lambda: MemoryConversations(ttl=timedelta(hours=1), now=lambda: NOON)
    )
    outline: Outline | None = OUTLINE
    index: MemoryIndex | None = None
    communities: MemoryCommunities = field(default_factory=MemoryCommunities)
    memberships: dict[str, Membership] = field(default_factory=dict[str, Membership])
    events: list[Event] = field(default_factory=list[Event])
    sleep: Callable[[float], Awaitable[object]] = at_once
    observer: Observer = unobserved

    def _hear(self, event: Event) -> None:
        self.events.append(event)
        self.observer(event)

    @cached_property
    def services(self) -> ChatServices:
        """Put it together."""
        return bundle(
            self.inbox,
            accepting=self.inbox,
            votes=self.votes,
            dedup=self.dedup,
            policies=self.policies,
            conversations=self.conversations,
            communities=self.communities,
            admission=admission(
                Visibility(MemoryCatalogue(self), self.communities, self.policies, memberships=self.memberships),
                self.dedup,
            ),
            now=lambda: NOON,
            terms=TERMS,
            practices=Practices(conversation_hours=48, services=("OpenAI",)),
            sleep=self.sleep,
            observer=self._hear,
        )

    async def remember(self, thread: ThreadRef, asker: object, *, id: str = "1", **fields: Any) -> None:  # noqa: A002 - the field's name
        """Keep a turn that somebody has asked for."""
        ref = MessageRef(thread=thread, id=id)
        turn = Turn(question_ref=ref, question="?", answer="!", at=NOON, author_id=str(asker), **fields)
        await self.conversations.append(thread, turn)

    @property
    def away(self) -> StoreUnavailable:
        """What a store that is away says."""
        return StoreUnavailable("The data store cannot be reached. Try again in a moment.")

    def shut(self) -> None:
        """Let every call to a store fail from now on."""
        self.inbox.fails = self.away
        self.conversations.fails = self.votes.fails = self.dedup.fails = self.inbox.is_closed = True

    async def heard(self) -> Signal:
        """Wait for a signal and take it."""
        async with asyncio.timeout(5):
            while not self.inbox.signals:
                self.inbox.came.clear()
                await self.inbox.came.wait()
        return self.inbox.signals.pop(0)


def bundle(
    inbox: Any,
    *,
    accepting: Any = None,
    votes: MemoryVotes | None = None,
    policies: MemoryPolicies | None = None,
    conversations: MemoryConversations | None = None,
    **fields: Any,
) -> ChatServices:
    """Return what listeners and commands work with, over stores in memory where a test names none."""
    votes, policies = votes or MemoryVotes(), policies or MemoryPolicies()
    conversations = conversations or MemoryConversations(ttl=timedelta(hours=1), now=lambda: NOON)
    forgetting = Forgetting(conversations, votes, MemoryInbox(), policies, MemoryVault())
    moderation = Moderation(policies, forgetting, now=lambda: NOON)
    communities, dedup = MemoryCommunities(), MemoryDedup()
    standard: dict[str, Any] = {
        "name": "Discord",
        "dedup": dedup,
        "communities": communities,
        "channel_cursor": MemoryChannelCursor(),
        "company": _nobody_knows,
        "hear": conversations.hear,
        "owns": _not_ours,
        "admission": admission(Visibility(MemoryIndex(), communities, policies, memberships={}), dedup),
        "purge": forgetting.farewell,
    }
    return ChatServices(
        inbox=inbox,
        accepting=accepting if accepting is not None else inbox,
        votes=votes,
        policies=policies,
        moderation=moderation,
        self_help=SelfHelp(conversations, forgetting, moderation, MemoryInbox()),
        **{**standard, **fields},
    )


def admission(visibility: Visibility, dedup: MemoryDedup) -> Admission:
    """Return what decides who may ask, without budgets."""
    return Admission(visibility, visibility.policies, MemoryQuota(now=lambda: NOON), dedup, now=lambda: NOON)


async def _nobody_knows(_: ThreadRef) -> None:
    return None


async def _not_ours(_: ThreadRef) -> bool:
    return False
