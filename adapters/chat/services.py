"""What listeners, commands, buttons and forms of every platform work with."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from adapters.chat.platform import NOTICE, Part, Posted, Poster, nonce, utc_now
from adapters.retry import QUICK, Gate
from core.community.admission import Admission, WaitEstimate
from core.community.moderation import Moderation, SelfHelp
from core.community.routing import Company
from core.errors import Gone, PeopleUnavailable, RetrievalUnavailable, StoreUnavailable, Unavailable
from core.events import (
    CommunitiesFound,
    CommunitiesSee,
    CommunityBack,
    CommunityLost,
    Connected,
    ConnectionLost,
    Observer,
    unobserved,
)
from core.messages import AWAITED, Practices
from core.model import Asked, Awaited, MessageRef, Question, Stage, Terms, ThreadRef, WaitNotice, WorkspaceRef
from core.ports import Accepting, ChannelCursor, CommunityStore, Dedup, Inbox, PolicyStore, VoteStore, WaitingRoom


@dataclass(slots=True)
class Presence:
    """Reports that a platform is gone, and that it is back, each once, whichever of the ways to it is closed."""

    platform: str
    observer: Observer = unobserved
    _name: str = field(default="", init=False)
    _closed: set[str] = field(default_factory=set[str], init=False)
    _is_told: bool = field(default=False, init=False)

    def expect(self, way: str) -> None:
        """Note that a way is not open yet, which is no news."""
        self._closed.add(way)

    def lost(self, way: str, reason: str) -> None:
        """Note that a way is closed; it may be said again."""
        self._closed.add(way)
        if not self._is_told:
            self._is_told = True
            self.observer(ConnectionLost(self.platform, reason))

    def back(self, way: str, name: str = "") -> None:
        """Note that a way is open, and with a *name* as whom the bot is there."""
        is_news = bool(name) or way in self._closed
        self._closed.discard(way)
        self._name = name or self._name
        if is_news and not self._closed:
            self._is_told = False
            self.observer(Connected(self.platform, self._name))


LONGEST_NAME = 50  # characters of a community's, for whoever runs the bot


@dataclass(slots=True)
class CommunityGates:
    """A gate for each community with a token of its own; reports that one is refused, and taken again, each once."""

    platform: str
    observer: Observer = unobserved
    _gates: dict[WorkspaceRef, Gate] = field(default_factory=dict[WorkspaceRef, Gate], init=False)
    _lost: dict[WorkspaceRef, str] = field(default_factory=dict[WorkspaceRef, str], init=False)

    def of(self, community: WorkspaceRef, name: str) -> Gate:
        """Return the gate of a community, which people call by that *name*, if it is known."""
        if community not in self._gates:
            shown = " ".join(name.split())[:LONGEST_NAME]
            shown = f"{community} ({shown})" if shown else str(community)
            tells = partial(self._tell_lost, community, shown), partial(self._tell_back, community)
            self._gates[community] = Gate(*tells, was_good=True)
        return self._gates[community]

    def leave(self, community: WorkspaceRef) -> None:
        """Forget a community that the bot is not in any more."""
        self._gates.pop(community, None)
        self._tell_back(community, has_left=True)

    def _tell_lost(self, community: WorkspaceRef, name: str, reason: str) -> None:
        if community not in self._lost:
            self._lost[community] = name
            self.observer(CommunityLost(self.platform, str(community), name, reason))

    def _tell_back(self, community: WorkspaceRef, *, has_left: bool = False) -> None:
        if (name := self._lost.pop(community, None)) is not None:
            self.observer(CommunityBack(self.platform, str(community), name, has_left=has_left))


ValueT = TypeVar("ValueT")

LASTING = timedelta(minutes=5)  # within which people change what is wrong, so that it is worth another try
KEPT = 300.0  # seconds for which what a platform or the store says of people and places is kept


class ExpiringSet:
    """Names that were added not long ago, in the memory of the process."""

    def __init__(self, now: Callable[[], datetime], lasting: timedelta = LASTING) -> None:
        self._now = now
        self._lasting = lasting
        self._until: dict[str, datetime] = {}

    def add(self, name: str) -> bool:
        """Add a name; return whether it is a new one. One that is known lasts no longer for it."""
        if name in self:
            return False
        now = self._now()
        self._until = {known: until for known, until in self._until.items() if until > now}
        self._until[name] = now + self._lasting
        return True

    def __contains__(self, name: str) -> bool:
        """Return whether a name was added not long ago."""
        until = self._until.get(name)
        return until is not None and until > self._now()


@dataclass(slots=True)
class Recent(Generic[ValueT]):
    """Values that were looked up lately, no more than *most*: of more, those looked up longest ago are dropped.

    They are as good as new for *kept* seconds.
    """

    most: int
    clock: Callable[[], float]
    kept: float = KEPT
    _kept: OrderedDict[str, tuple[float, ValueT]] = field(
        default_factory=OrderedDict[str, tuple[float, ValueT]], init=False
    )

    def get(self, key: str, *, or_older: bool = False) -> ValueT | None:
        """Return a value that is as good as new, *or_older* any that is there; else None."""
        at, value = self._kept.get(key, (float("-inf"), None))
        return value if or_older or self.clock() - at < self.kept else None

    def put(self, key: str, value: ValueT) -> ValueT:
        """Keep a value, and return it."""
        self._kept[key] = self.clock(), value
        self._kept.move_to_end(key)
        if len(self._kept) > self.most:
            self._kept.popitem(last=False)
        return value

    def age(self, key: str) -> None:
        """Let a value count as an older one from now on."""
        if key in self._kept:
            self._kept[key] = float("-inf"), self._kept[key][1]

    def drop(self, key: str) -> None:
        """Forget a value."""
        self._kept.pop(key, None)


WorkByMessage: TypeAlias = dict[MessageRef, Callable[[], Awaitable[object]]]

MOST_KEPT = 100  # notices, and deletions
LONGEST_LOOK = 6.5  # seconds, for what would become of a question that waits; Slack's guests may take six
QUIET = 600  # seconds in which a place is not told again how long it takes where many wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How long people wait, and who hears of it; `admits` says whether a question will be answered.

    After so many seconds of *silence* whoever asked is told that their turn has not come yet.
    The latest notices of this process are in `said`, with what removes each, as a store that is emptied knows of none.
    """

    estimate: WaitEstimate
    room: WaitingRoom
    dedup: Dedup
    admits: Callable[[Question], Awaitable[bool]]
    now: Callable[[], datetime] = utc_now
    silence: float = 15.0
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    said: WorkByMessage = field(default_factory=WorkByMessage)

    async def retract(self, message: MessageRef) -> None:
        """Remove what this process said below a question that nobody knows any more. Raises `PostingFailed`."""
        if remove := self.said.pop(message, None):
            await remove()


@dataclass(slots=True)
class Unanswered:
    """A question that this process has put, how far it had come, and for how many looks in a row nobody knew it.

    One that is not *placed* was only accepted as yet; nothing has been seen of one without a `stage`. Whoever asked one
    that is *watched* is told in time that it waits.
    """

    asked: Asked
    is_placed: bool = True
    stage: Stage | None = None
    missed: int = 0
    is_watched: bool = False


@dataclass(slots=True)
class StoreMark:
    """The mark by which a store is known since what was said lately is read: with another one, it has lost that."""

    known: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatServices:
    """One bundle for the platform of a `name`, as people call it.

    `company` returns who is in a thread, None if nobody knows, `hear` notes that somebody has spoken there, and `owns`
    returns whether what is remembered of a thread began with its first message. `purge` forgets a workspace that the
    bot was thrown out of. `admission` knows who may ask, and what each may read. `channel_cursor` says from when on
    something may have been missed, and `waits` how long people wait. `reads_all` says whether the bot may read messages
    that do not mention it, and it `judges` where a model says which of them are questions to it. After so many seconds
    of *silence* of the store, whoever asked is told. What was asked where no platform tells of it again is in
    `unanswered`, by its first id, what tells of lately `deleted` questions, and what tells that `retried` ones wait.
    """

    name: str
    inbox: Inbox
    accepting: Accepting
    dedup: Dedup
    communities: CommunityStore
    policies: PolicyStore
    votes: VoteStore
    channel_cursor: ChannelCursor
    moderation: Moderation
    self_help: SelfHelp
    admission: Admission
    company: Callable[[ThreadRef], Awaitable[Company | None]]
    hear: Callable[[ThreadRef, str, datetime], Awaitable[object]]
    owns: Callable[[ThreadRef], Awaitable[bool]]
    purge: Callable[[WorkspaceRef], Awaitable[object]]
    waits: Waits | None = None
    silence: float = 15.0
    reads_all: bool = True
    judges: bool = False
    terms: Terms = Terms()
    practices: Practices = Practices()
    now: Callable[[], datetime] = utc_now
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    observer: Observer = unobserved
    unanswered: dict[MessageRef, Unanswered] = field(default_factory=dict[MessageRef, "Unanswered"])
    deleted: WorkByMessage = field(default_factory=WorkByMessage)
    retried: dict[MessageRef, Callable[[str], Awaitable[object]]] = field(default_factory=dict[MessageRef, Any])
    store_mark: StoreMark = field(default_factory=StoreMark)

    async def know_store(self) -> None:
        """Note which store is read before anything is: what it is told now, one that is emptied meanwhile lacks.

        Raises `StoreUnavailable`.
        """
        if not self.store_mark.known:
            await self.self_help.forgetting.learn()
            self.store_mark.known = (await self.inbox.kept_for()).mark

    async def is_new(self, key: str, value: str, *, person: str = "") -> bool:
        """Give a key a value, and return whether it had another; True if nobody knows soon: better twice than never.

        A *person* whom it is about is named by a pseudonym.
        """
        try:
            async with asyncio.timeout(1.0):
                return await self.dedup.changed(key, value, person=person)
        except (StoreUnavailable, TimeoutError):
            return True


Joined: TypeAlias = Sequence[tuple[WorkspaceRef, str]]
"""Communities that the bot is in, each with its name there; it begins with the one that it joined first."""


async def settle_communities(services: ChatServices, platform: str, joined: Joined, *, is_own: bool = False) -> None:
    """Decide which of those *joined* may use the bot, if nobody has, and report what the operator should know.

    That is who may and who may not, where there are several, and what each sees.

    Where it *is_own*, the operator has set a token for it. Raises `StoreUnavailable`.
    """
    known = await services.communities.settle(platform, [each for each, _ in joined], is_own=is_own)
    allowed = {str(each): name for each, name in joined if known.admits(each)}
    refused = {str(each): name for each, name in joined if not known.admits(each)}
    if refused or len(allowed) > 1:
        services.observer(CommunitiesFound(services.name, allowed, refused))
    seen = await services.admission.visibility.seen([each for each, _ in joined if known.admits(each)], known)
    if seen:
        services.observer(CommunitiesSee(services.name, seen))


async def tell_wait(
    waits: Waits, question: Question, at: ThreadRef, poster: Callable[[], Poster], since: datetime | None = None
) -> None:
    """Post that a question waits: at once how long, if many do, and else once nobody has been at it for long.

    *at* is where, and *since* when, if it could not be put at once. Where many wait, a channel is told how long once in
    a while, and whoever asks there after that hears later, of their own turn. It is noted before and after it is posted
    as part of what is delivered to the question: whoever answers removes it, also if the process that posted it died,
    and if somebody has begun by then, it goes at once; where somebody was at it before who may live and does not know
    of it, it goes in the end. Raises `PostingFailed` or `StoreUnavailable`.
    """
    words, awaited = await _estimated(waits), None
    if words and (awaited := await _awaited(waits, question)) and question.visibility == "thread":
        period = str(int(waits.now().timestamp() // QUIET))
        words = words if await waits.dedup.changed(f"busy:{at.home}:{at.channel}", period) else ""
    if not words:
        waited = (waits.now() - since).total_seconds() if since else 0.0
        await waits.sleep(max(waits.silence - waited, 0.0))
        awaited = await long_awaited(waits, question.message, question)
    if awaited:
        await _announce(waits, question, words or AWAITED[awaited], at, poster())
    if awaited is Awaited.ATTEMPT:
        while await _stage(waits, question.message) not in (Stage.OVER, Stage.UNKNOWN):
            await waits.sleep(waits.silence)
        await waits.retract(question.message)


async def long_awaited(waits: Waits, message: MessageRef, question: Question | None = None) -> Awaited | None:
    """Return what a question waits for that has done so for long, once nobody is at it; None if nobody will be."""
    while (stage := await _stage(waits, message)) in (Stage.RUNNING, Stage.RELEASED):
        await waits.sleep(waits.silence / 5)
    if stage not in (Stage.WAITING, Stage.LEFT):
        return None
    first = question or await waits.room.running(message.thread)
    awaited = await _awaited(waits, first) if first and first.message == message else Awaited.TURN
    return Awaited.ATTEMPT if (awaited, stage) == (Awaited.TURN, Stage.LEFT) else awaited


async def _stage(waits: Waits, message: MessageRef) -> Stage:
    return (await waits.room.stages([message]))[0]


async def _estimated(waits: Waits) -> str:
    """Return in words how long it takes; empty unless many wait."""
    if waits.estimate.sentence(await waits.room.waiting(), 0) is None:
        return ""  # all that there is need not be counted
    backlog = await waits.room.backlog()
    return waits.estimate.sentence(backlog.waiting, backlog.running) or ""


def keep(kept: WorkByMessage, message: MessageRef, work: Callable[[], Awaitable[object]]) -> None:
    """Keep what may have to be done about a message, and of many the newest."""
    while len(kept) >= MOST_KEPT:
        del kept[next(iter(kept))]
    kept[message] = work


async def _awaited(waits: Waits, question: Question) -> Awaited | None:
    """Return what a question waits for; None where it would not be answered, or nobody knows whether it would.

    While the index does not say what may be read, its turn comes first, and then it is told that.
    """
    try:
        async with asyncio.timeout(LONGEST_LOOK):
            return Awaited.TURN if await waits.admits(question) else None
    except PeopleUnavailable:
        return Awaited.READERS
    except (RetrievalUnavailable, TimeoutError):
        return Awaited.TURN
    except Unavailable:
        return None


async def _announce(waits: Waits, question: Question, words: str, at: ThreadRef, poster: Poster) -> None:
    message, mark = question.message, nonce(question.message, NOTICE, question.revision)
    notice = WaitNotice(thread=at, nonce=mark)

    async def say() -> Posted:
        if not await waits.room.announce(message, notice):
            raise Gone("somebody has begun to answer")
        return await poster.post(Part(words), mark)

    posted = await QUICK.call(say)
    keep(waits.said, message, partial(QUICK.call, partial(poster.delete, posted.id)))
    name = posted.id if question.visibility == "thread" else message.id
    with suppress(StoreUnavailable):
        if await waits.room.announce(message, notice.model_copy(update={"id": name})):
            return
    await waits.retract(message)
