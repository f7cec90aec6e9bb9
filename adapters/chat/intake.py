"""Takes in what people write: decides whether it is for the bot, and puts it into the inbox.

Nothing is answered here. A platform reads its own events and says what only it can know of where they happened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from adapters.chat.background import LATEST, BackgroundTasks, DeferredWrites, KeyedLocks, forget_deleted, remember
from adapters.chat.company import Gathering
from adapters.chat.platform import NOTICE, REMARK, FoundAnswer, Part, Poster, nonce
from adapters.chat.services import keep, tell_wait
from adapters.retry import DEFERRED, NOT_NOW, PATIENT, QUICK
from core.community.routing import UNSPOKEN, Action, Decision, Reason, Standing, route, signal
from core.errors import Gone, InvalidInput, Rejected, StoreUnavailable
from core.events import AnswerAssumed, State, StateChanged
from core.messages import NOT_TAKEN, WARNING
from core.model import (
    Asked,
    Deleted,
    Delivery,
    Edited,
    Inbound,
    InboundKind,
    Message,
    MessageRef,
    Setting,
    Signal,
    ThreadRef,
    WaitNotice,
)
from core.worker import UPDATE_WINDOW

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices

LONGEST_COMMAND = 40  # characters; no word that stands for a command is nearly as long


@dataclass(frozen=True, slots=True)
class Rights:
    """What the bot may do in a channel; `missing` are permissions that it needs and lacks, in the platform's words."""

    answers: bool = True
    opens_threads: bool = True
    reacts: bool = True
    missing: tuple[str, ...] = ()


class Channel(Protocol):
    """Where an event happened: what only the platform can look up or do there."""

    async def context(self, inbound: Inbound, *, recalls: bool) -> tuple[Inbound, tuple[Message, ...]]:
        """Return a message with what it quotes and all files, and what was said before it if it *recalls* that.

        No message is in both, each comes oldest first, and what cannot be read is left out.
        """
        ...

    def below(self, message: MessageRef) -> Poster:
        """Return what replies to a message."""
        ...

    async def find_answer(self, inbound: Inbound, *, opens_threads: bool) -> FoundAnswer | None:
        """Return what the bot has answered to a message, in a thread on it where it *opens threads*.

        None where nobody can know. Raises `PostingFailed`, and of these `Gone` where the message was deleted meanwhile.
        """
        ...

    async def remove_rest(self, message: MessageRef) -> None:
        """Remove what stands of an unfinished answer to a deleted message. Raises `PostingFailed`."""
        ...

    async def warn(self, message: MessageRef) -> None:
        """Mark a message as one that something went wrong with. Raises `PostingFailed`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatEvent:
    """An event as its platform has read it.

    `me` is the bot's id, and `at` where a reply stands. `owns_thread` says that the bot began the thread; it owns
    it too if `opening`, the first message there, was a question; where moderators want questions answered unasked, as
    they may want one that `is_new_post`, only if it was answered, and in a forum (`in_forum`) nowhere else. An event
    that `comes_again` unless it is acknowledged is worth a word only the first and the last time, and an edit that
    `has_come` before may have been answered. One that `is_late` was not heard when it happened, so nothing is said
    beside an answer; and of several events that tell the same, one `speaks`. `alert` tells moderators what the bot
    lacks, and `complete` looks up what the platform has left out.
    """

    inbound: Inbound
    channel: Channel
    at: ThreadRef
    me: str
    rights: Rights = Rights()
    reads_all: bool = True
    owns_thread: bool = False
    opening: MessageRef | None = None
    in_forum: bool = False
    is_new_post: bool = False
    comes_again: bool = False
    has_come: bool = False
    is_late: bool = False
    speaks: bool = True
    alert: Callable[[], Awaitable[object]] | None = None
    complete: Callable[[Inbound], Awaitable[Inbound]] | None = None


TextCommand: TypeAlias = Callable[[Inbound], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class RoutedEvent:
    """An event that is for the bot, and what is to be done about it."""

    event: ChatEvent
    standing: Standing
    decision: Decision
    since: datetime  # it was read
    age: timedelta | None  # for how long it had been said by then
    is_young: bool  # somebody may still wait for an answer
    standing_answer: Delivery | None = None  # what is there of one, where the store may have lost that

    def asked(self, found: Signal, now: datetime) -> Signal:
        """Return a signal; a question with what stands there of its answer, or with its age where nobody has looked."""
        age = self.age + (now - self.since) if self.age is not None else None  # it may have waited for the store
        known = {"delivery": self.standing_answer, "age": None if self.standing_answer else age}
        return found.model_copy(update=known) if isinstance(found, Asked) else found


class Intake:
    """Takes events in, those of a thread in the order in which they came.

    *text_command* does what a message says that is no more than a command, where a platform has none in threads; it
    returns False for what is none.
    """

    def __init__(
        self, services: ChatServices, background: BackgroundTasks, text_command: TextCommand | None = None
    ) -> None:
        self._services = services
        self._background = background
        self._text_command = text_command
        self._deferred = DeferredWrites(background, observer=services.observer)
        self._lines = KeyedLocks()
        self._gathering = Gathering(services)

    async def take(self, line: str, read: Callable[[], Awaitable[ChatEvent | None]]) -> None:
        """Read an event once its turn on the *line* has come, and put what it means for the bot into the inbox.

        Only what seems to be for the bot is looked up further. Raises `StoreUnavailable` where an event that comes
        again could not be dealt with.
        """
        async with self._lines.setdefault(line, asyncio.Lock()):  # taken in the order in which it was asked for
            event = await read()
            if event is None:
                return
            inbound, since = event.inbound, self._services.now()
            age = since - inbound.at if inbound.at is not None else None
            is_young = age is not None and age < LATEST
            standing = await self._standing(event, is_young=is_young)
            decision = route(inbound, standing)
            is_for_us = decision.action is not Action.LEAVE and inbound.kind is not InboundKind.DELETED
            if is_for_us and event.complete is not None:
                inbound = await event.complete(inbound)
                decision = route(inbound, standing)
            if decision.action is Action.LEAVE:
                await self._gathering.leave(inbound, decision, partial(self._reply, event))
                return
            event = replace(event, inbound=inbound, speaks=event.speaks and decision.reason not in UNSPOKEN)
            routed = RoutedEvent(event, standing, decision, since, age, is_young)
            if event.is_late and not await self._is_kept(routed):
                if (found := await self._resumed(routed)) is None:
                    return
                routed = found
            is_told = decision.reason in (Reason.MENTIONED, Reason.DIRECT) and 0 < len(inbound.text) <= LONGEST_COMMAND
            if inbound.kind is not InboundKind.WRITTEN:
                await self._take_change(routed)
            elif not (is_told and self._text_command and await self._text_command(inbound)):
                await self._take_question(routed)

    async def take_last(self, line: str, read: Callable[[], Awaitable[ChatEvent | None]]) -> None:
        """Take in an event that comes no more: what cannot be looked up now is left to the background."""
        take = partial(self.take, line, read)
        try:
            await take()
        except NOT_NOW:
            self._background.begin(partial(replace(PATIENT, sleep=self._services.sleep).call, take))

    async def later(self, write: Callable[[], Awaitable[object]]) -> None:
        """Write what no platform tells again, as soon as the store is there."""
        await self._deferred.do(write)

    async def _resumed(self, routed: RoutedEvent) -> RoutedEvent | None:
        """Return an event with what stands there of an answer that a store which was emptied does not know of.

        None if that is whole, unless the event is an edit that was never heard before; where nobody can know, it counts
        as that, which is told once. Raises `PostingFailed` if the platform cannot be asked now.
        """
        event, inbound, found = routed.event, routed.event.inbound, None
        with suppress(Gone, Rejected):
            found = await event.channel.find_answer(inbound, opens_threads=event.rights.opens_threads)
        if found is None:
            if await self._services.is_new(f"assumed:{inbound.message}", str(inbound.revision)):
                self._services.observer(AnswerAssumed(inbound.message))  # Slack tells of a mention twice
            return None
        may_know = found.is_current and (event.is_late or event.has_come)
        if found.is_finished and (may_know or inbound.kind is InboundKind.WRITTEN):
            if found.is_failure:  # whoever said that may not have come to the mark
                self._warn(event, is_due=routed.decision.reason not in UNSPOKEN)
            return None
        notice = WaitNotice(thread=event.at, nonce=nonce(inbound.message, NOTICE, inbound.revision))  # if there is one
        goes_on = inbound.at if found.messages and not found.is_finished else None  # whoever writes it may live
        return replace(routed, standing_answer=Delivery(messages=found.messages, notice=notice, trying=goes_on))

    async def _is_kept(self, routed: RoutedEvent) -> bool:
        """Return whether the store knows a message, or would if it had been asked. Raises `StoreUnavailable`."""
        is_kept = routed.age is None or (await self._services.inbox.kept_for()).age >= routed.age
        return is_kept or await self._services.inbox.knows(routed.event.inbound.message)

    async def _standing(self, event: ChatEvent, *, is_young: bool) -> Standing:
        """Return what the bot knows and may do here; stores are asked only where that matters."""
        inbound, services = event.inbound, self._services
        opens_threads = event.rights.opens_threads
        standing = Standing(event.me, reads_all=event.reads_all, opens_threads=opens_threads, judges=services.judges)
        if inbound.kind is InboundKind.DELETED:
            return standing
        if inbound.setting is Setting.THREAD and await self._owns(event):
            standing = replace(standing, threads_we_own={inbound.message.thread.thread})
            if event.speaks:
                await self._gathering.hear(inbound)
        decision = route(inbound, standing)
        if decision.reason is Reason.FOLLOW_UP or (standing.threads_we_own and decision.reason is Reason.MENTIONED):
            standing = replace(standing, company=await self._gathering.company(inbound, is_late=event.is_late))
        elif decision.reason is Reason.NOT_ADDRESSED and event.is_new_post:
            wanted = replace(standing, answers_unasked=True)
            if route(inbound, wanted).reason is Reason.UNASKED and await self._answers_posts(event):
                standing = wanted
        if inbound.kind is InboundKind.EDITED and route(inbound, standing).action is Action.LEAVE:
            may_be = event.reads_all and is_young
            standing = replace(standing, is_asked=may_be and await _known(event, services.inbox.knows(inbound.message)))
        return standing

    async def _owns(self, event: ChatEvent) -> bool:
        """Return whether the thread began with words of the bot's, a question for it, or one that it answered."""
        if event.owns_thread or event.opening is None:
            return event.owns_thread
        is_known = event.in_forum or await _known(event, self._services.inbox.knows(event.opening))
        is_unasked = is_known and await self._answers_posts(event)
        if event.in_forum and not is_unasked:
            return False
        return (is_known and not is_unasked) or await _known(event, self._services.owns(event.inbound.message.thread))

    async def _answers_posts(self, event: ChatEvent) -> bool:
        """Return whether questions are answered here unasked, and were when one was said that is read late."""
        with suppress(StoreUnavailable):
            place, at = event.inbound.message.thread, event.inbound.at if event.is_late else None
            return event.reads_all and await self._services.moderation.answers_unasked(place, at)
        return False

    async def _take_question(self, routed: RoutedEvent) -> None:
        """Put a question where it may be answered; who asks is told why it is not, once nothing else can be done."""
        event, inbox = routed.event, self._services.inbox
        if event.alert is not None and not event.is_late:
            self._background.begin(event.alert)
        if not event.rights.answers:
            self._warn(event)
            return
        looks_around = routed.decision.reads_thread or event.inbound.carries
        if looks_around and await _known(event, inbox.knows(event.inbound.message)):
            return  # another event has told the same before, and threads and files may not be read often
        signals, end = await self._signals(routed), asyncio.get_running_loop().time() + self._services.silence
        try:
            await self.put(signals, routed)
        except StoreUnavailable:
            self._background.begin(partial(self._put_late, routed, signals, end))
            if event.comes_again:
                raise

    async def _put_late(self, routed: RoutedEvent, signals: Sequence[Signal], end: float) -> None:
        """Go on with what may have been put although no answer came, so that nobody is told wrongly that it was not."""
        trying = replace(DEFERRED, budget=10.0, sleep=self._services.sleep)
        if routed.event.comes_again and routed.event.has_come:
            return  # this has begun when it came first
        try:
            async with asyncio.timeout_at(end):  # each try may take long
                await trying.call(partial(self.put, signals, routed))
        except (*NOT_NOW, TimeoutError):
            self._warn(routed.event)
            self._reply(routed.event, f"{WARNING} {NOT_TAKEN}")

    async def _take_change(self, routed: RoutedEvent) -> None:
        """Put what somebody did to a question; what does not come again is kept until the store is back."""
        signals = await self._signals(routed)
        if routed.event.comes_again:
            await self.put(signals, routed)
        elif signals:
            await self._deferred.do(partial(self.put, signals, routed))

    async def put(self, signals: Sequence[Signal], routed: RoutedEvent | None = None) -> None:
        """Hand in the signals of an event.

        Of a deleted message that is no known question, an answer is forgotten and a notice goes; one that a store may
        have lost is looked for. Raises `StoreUnavailable`, and `PostingFailed` where that cannot be looked for now.
        """
        news, now, is_late = list[Signal](), self._services.now(), routed is not None and routed.event.is_late
        found = [routed.asked(each, now) for each in signals] if routed is not None else signals
        heed = self._services.self_help.forgetting.heed  # a store that has lost it may have lost that as well
        for each in filter(None, map(heed, found) if is_late else found):
            taken = await self._services.inbox.put(each)
            if taken is None and routed is not None:
                if (looked := await self._resumed(routed)) is None:
                    break
                taken = await self._services.inbox.put(looked.asked(each, now))
            if isinstance(each, Deleted) and taken:
                keep(self._services.deleted, each.message, partial(self.put, (each,), routed))
            elif isinstance(each, Deleted):
                rest = routed and partial(routed.event.channel.remove_rest, each.message)
                await forget_deleted(self._services, self._background, each.message, rest)
            news += [each] if taken else []
        if routed is not None:
            self._look_after(routed, signals, news)

    def _look_after(self, routed: RoutedEvent, signals: Sequence[Signal], news: Sequence[Signal]) -> None:
        """Remember what is asked in private, and begin to tell below what waits that it does."""
        event, waits = routed.event, self._services.waits
        if news and event.inbound.setting is Setting.DIRECT:
            remember(self._services, *signals)  # Discord lists none of these
        for found in (signals if event.is_late else news)[-1:]:  # whoever was to tell of what is late may have stopped
            if waits is None or not isinstance(found, Asked | Edited) or found.question.is_unasked:
                continue
            if isinstance(found, Asked) or self._services.now() - found.question.asked_at < UPDATE_WINDOW:
                below = partial(event.channel.below, found.message)
                since = (event.is_late and event.inbound.at) or routed.since
                self._background.begin(partial(tell_wait, waits, found.question, event.at, below, since))

    async def _signals(self, routed: RoutedEvent) -> Sequence[Signal]:
        """Return the signals, with what a question refers to; who asks nothing is told so, and an old answer stays.

        An edit may be the first that is said to the bot, with a mention that was forgotten, so it is asked as well: an
        inbox that knows the question takes the edit alone.
        """
        event, decision, inbound = routed.event, routed.decision, routed.event.inbound
        if decision.action is Action.WITHDRAW:
            return (Deleted(message=inbound.message),)
        inbound, before = await event.channel.context(inbound, recalls=decision.reads_thread)
        meaning = partial(signal, before=before, terms=self._services.terms)
        try:
            found = meaning(inbound, decision)
        except InvalidInput as refused:
            self._services.observer(StateChanged(inbound.message, State.ERROR, "validation"))
            if routed.is_young or inbound.kind is InboundKind.WRITTEN:
                self._reply(event, str(refused))
            return ()
        if not isinstance(found, Edited) or not routed.is_young or not event.rights.answers:
            return (found,) if found else ()
        written = inbound.model_copy(update={"kind": InboundKind.WRITTEN})
        asked = meaning(written, route(written, routed.standing))
        return (asked, found) if asked else (found,)

    def _warn(self, event: ChatEvent, *, is_due: bool = False) -> None:
        """Mark a message, if that *is due* anyway or it has just come, and no other event tells of it."""
        if event.rights.reacts and (is_due or (event.speaks and not event.is_late)):
            self._background.begin(partial(QUICK.call, partial(event.channel.warn, event.inbound.message)))

    def _reply(self, event: ChatEvent, sentence: str) -> None:
        """Reply, unless the same event has been replied to before."""
        inbound = event.inbound

        async def reply_once() -> None:
            if await self._services.is_new(f"replied:{inbound.message}", str(inbound.revision)):
                mark = nonce(inbound.message, REMARK, inbound.revision)
                await QUICK.call(partial(event.channel.below(inbound.message).post, Part(sentence), mark))

        if event.speaks and not event.is_late:
            self._background.begin(reply_once)


async def _known(event: ChatEvent, known: Awaitable[bool]) -> bool:
    """Return whether something is known; while nobody can say, as if it was not, of an event that comes no more."""
    try:
        return await known
    except StoreUnavailable:
        if event.comes_again:
            raise
        return False
