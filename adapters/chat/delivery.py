"""Delivers answers by the functions of a platform, notes what is posted, and takes it back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256

from adapters.chat.lease import LOST, is_held, while_held
from adapters.chat.live_message import LiveMessage, Pace
from adapters.chat.platform import (
    NONCE_LENGTH,
    REFUSAL,
    Barred,
    ChatPlatform,
    Destination,
    Part,
    Posted,
    QuestionGone,
    nonce,
    utc_now,
)
from adapters.chat.removing import Remover
from adapters.chat.services import ExpiringSet
from adapters.retry import NOTE, QUICK, Gate, LoadPacer
from core.errors import Gone, LeaseLost, PostingFailed, Rejected, StoreUnavailable, Unreachable
from core.events import Observer, Passed, PlaceRefused, Step, unobserved
from core.messages import LATE, UPDATED
from core.model import (
    Answer,
    Claim,
    Delivery,
    MessageRef,
    Progress,
    Reaction,
    Task,
    ThreadRef,
    WaitNotice,
    Withdrawal,
    WorkspaceRef,
)
from core.ports import Deliveries

LONG_WAIT = timedelta(minutes=5)
LONGEST_RETRACTING = 5.0  # seconds; the thread is held as long
LONGEST_NOTING = 1.0  # seconds, for which the last words of an answer may wait while the store is slow


class PlaceBreaker:
    """Channels and threads that refused a post not long ago; a channel that is shut shuts its threads.

    The *observer* hears of the first claim that a place refuses. Who used a command gets the answer in the command's
    own name, which needs no right in the place: such claims are told each time, and never kept out.
    """

    def __init__(self, observer: Observer, now: Callable[[], datetime]) -> None:
        self._observer = observer
        self._shut = ExpiringSet(now)

    def trip(self, claim: Claim) -> None:
        """Remember that the place of a question takes no posts."""
        place = claim.message.thread
        if claim.message.id == place.thread:  # such a question stands in the channel itself
            place = place.model_copy(update={"thread": place.channel})
        if (claim.address and claim.address.interaction) or self._shut.add(str(place)):
            self._observer(PlaceRefused(claim.message))

    def keeps_out(self, claim: Claim) -> bool:
        """Return whether an answer to the claim would be refused."""
        here = claim.message.thread
        places = here, here.model_copy(update={"thread": here.channel})
        return not (claim.address and claim.address.interaction) and any(str(each) in self._shut for each in places)


@dataclass
class DeliveryLog:
    """A `Poster` for a task that is held. That something is posted is noted before; which id it has, beside the rest.

    *showing* is called each time before something appears. Nothing is posted that could not be noted before, as nobody
    would find it after a crash: a post waits for its note as long as the task is held. A note that is refused, as
    another worker has the task, is `LeaseLost`. Without *deliveries*, nothing is noted; *delivery* is what is noted.
    What was said below the question while it waited is taken away by *retract* once something of the answer stands.
    """

    task: Task
    delivery: Delivery
    deliveries: Deliveries | None
    destination: Destination
    now: Callable[[], datetime]
    retract: Callable[[WaitNotice], Awaitable[object]]
    showing: Callable[[], object]
    observer: Observer
    _retracting: asyncio.Task[None] | None = field(default=None, init=False)
    _writing: asyncio.Task[None] | None = field(default=None, init=False)
    _is_old: bool = field(default=False, init=False)
    _is_written: bool = field(default=False, init=False)
    _is_lost: bool = field(default=False, init=False)

    async def aclose(self) -> None:
        """Wait for what is under way: what is noted after this has to come after it."""
        try:
            if self._retracting is not None:
                await asyncio.wait({self._retracting}, timeout=LONGEST_RETRACTING)
        finally:
            if self._retracting is not None:
                self._retracting.cancel()
                await asyncio.wait({self._retracting})
            if self._writing is not None:
                await self._writing

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message once it is noted that one is posted; what may have been posted before stays noted as well."""
        self.showing()
        before = self.delivery.trying
        await NOTE.call(partial(self._noted, trying=before or self.now()))
        self.observer(Passed(self.task.message, Step.POSTING))
        try:
            posted = await self.destination.poster.post(part, nonce, obsolete)
        except Unreachable:
            raise  # it may be there
        except PostingFailed:
            self.delivery = self.delivery.model_copy(update={"trying": before})
            raise
        self.observer(Passed(self.task.message, Step.POSTED))
        self._note(
            trying=None, messages=_with(self.delivery.messages, posted.id, posted.place or self.destination.place)
        )
        self.begin_retracting()
        return posted

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what a message shows, and have it noted if it is not."""
        self.showing()
        messages = _with(self.delivery.messages, message_id, self.destination.place)
        if messages != self.delivery.messages:
            self._note(messages=messages)
        self.observer(Passed(self.task.message, Step.EDITING))
        await self.destination.poster.edit(message_id, part, obsolete)
        self.observer(Passed(self.task.message, Step.EDITED))
        self.begin_retracting()

    async def was_deleted(self, message_id: str) -> bool:
        """Return whether the inbox was told that a message was deleted; while nobody can say, as if it was."""
        names = [name for each in self.delivery.messages if each.id == message_id for name in each.names]
        with suppress(StoreUnavailable):
            return self.deliveries is None or await self.deliveries.has_gone(names)
        return True

    async def keep(self, answer: Answer) -> None:
        """Note an answer that is about to be shown, as nobody else could; one without footnotes is no great loss."""
        if answer.citations:
            await asyncio.wait({self._note(answer=answer)}, timeout=LONGEST_NOTING)

    async def delete(self, message_id: str) -> None:
        """Remove a message once it is noted that we do; the next worker would take it for a reader's wish otherwise."""
        if all(one.id != message_id for one in self.delivery.leaving):
            known = next((one.thread for one in self.delivery.messages if one.id == message_id), self.destination.place)
            messages = tuple(one for one in self.delivery.messages if one.id != message_id)
            leaving = _with(self.delivery.leaving, message_id, known)
            await NOTE.call(partial(self._noted, messages=messages, leaving=leaving))
        await self.destination.poster.delete(message_id)

    def begin_retracting(self) -> None:
        """Begin to remove what was said while the question waited; if the platform refuses, that is not tried again."""
        if (notice := self.delivery.notice) is None or self._retracting is not None:
            return

        async def take_away() -> None:
            with suppress(PostingFailed):
                await self.retract(notice)
            self._note(notice=None)

        self._retracting = asyncio.create_task(take_away())

    async def _noted(self, **changes: object) -> None:
        """Wait until changes are written. Raises `LeaseLost` if the task is not held, or `StoreUnavailable`."""
        await asyncio.shield(self._note(**changes))
        if self._is_lost or (not self._is_written and not await is_held()):
            raise LeaseLost(LOST)
        if not self._is_written:
            raise StoreUnavailable("The note could not be written.")

    def _note(self, **changes: object) -> asyncio.Task[None]:
        """Have changes written, after what is being written; return the task that does it."""
        self.delivery = self.delivery.model_copy(update=changes)
        self._is_old = True
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        return self._writing

    async def _write(self) -> None:
        while self._is_old and not self._is_lost:
            self._is_old = self._is_written = False
            delivery = self.delivery
            with suppress(StoreUnavailable):
                self._is_written = self.deliveries is None or await self.deliveries.record(self.task, delivery)
                self._is_lost = not self._is_written
            if self._is_written and delivery.trying is None:
                self.observer(Passed(self.task.message, Step.NOTED))


@dataclass
class PlatformSurface:
    """Delivers answers by a platform's own functions; whoever listens there need not be in the same process.

    What is posted is noted in *deliveries* before and after; who has lost a claim does nothing more about it. The
    *observer* hears of questions whose answer may not be posted, once in some minutes for each place. The *remover*
    takes away refusals that others see too.
    """

    platform: ChatPlatform
    _: KW_ONLY
    deliveries: Deliveries | None = None
    pace: Pace = Pace()
    now: Callable[[], datetime] = utc_now
    observer: Observer = unobserved
    gate: Gate = field(default_factory=Gate)
    remover: Remover | None = None

    def __post_init__(self) -> None:
        self._pacer = LoadPacer(self.pace.for_each, self.pace.longest)
        self._breaker = PlaceBreaker(self.observer, self.now)

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Show the answer while it comes, and end with the whole of it; where nothing may be said, mark the question.

        An answer for one person only whom it cannot reach any more is not shown. Raises `ShutOut` while the
        platform lets the bot do nothing, or another `PostingFailed` if it does not do its work or the claim is lost.
        """
        self.gate.check(is_sent=False)  # before a model is asked for what could be shown to nobody
        with while_held(claim, self.deliveries):
            if self._breaker.keeps_out(claim):
                return claim.delivery.model_copy(update={"is_marked": await self._warn(claim)})
            is_late = self.now() - claim.question.asked_at > LONG_WAIT and not claim.delivery.messages
            try:
                remark = UPDATED if claim.is_update else LATE if is_late else ""
                destination = await self.platform.destination(claim, remark)
            except Rejected as refusal:
                if not isinstance(refusal, QuestionGone):
                    self.observer(PlaceRefused(claim.message))
                return Delivery()
            if destination is None:
                return Delivery()
            refused = asyncio.get_running_loop().create_future()
            async with destination.sign(lambda failure: refused.done() or refused.set_result(failure)) as showing:
                retract = partial(self._retract, claim)
                log = DeliveryLog(
                    claim, claim.delivery, self.deliveries, destination, self.now, retract, showing, self.observer
                )
                async with aclosing(log):
                    delivery = await self._show(claim, progress, destination, log, refused)
                    log.begin_retracting()
            return delivery

    async def refuse(self, claim: Claim, sentence: str) -> Delivery:
        """Say why a question is not answered, to the asker alone where the platform can, and open no thread for it.

        What others see too is removed after a minute. Raises `ShutOut`, or another `PostingFailed` that may pass.
        """
        self.gate.check(is_sent=False)
        mark = nonce(claim.message, REFUSAL, claim.question.revision)
        refusing = partial(self.platform.refuse, claim, Part(sentence), mark)
        with while_held(claim, self.deliveries):
            await self._clear(claim)
            if not claim.is_update and await self._remove(claim, claim.delivery.standing):  # one to earlier words stays
                await self.platform.untitle(claim.message)
            if not self._breaker.keeps_out(claim):
                try:
                    said = await QUICK.call(refusing)
                    if said is not None and self.remover is not None:
                        await self.remover.later(said)
                except Gone:
                    pass  # nobody asks any more, or a command was told before
                except Barred:
                    self._breaker.trip(claim)
                except Rejected:
                    self.observer(PlaceRefused(claim.message))
        return claim.delivery.model_copy(update={"notice": None, "is_marked": False}) if claim.is_update else Delivery()

    async def standing(self, claim: Claim) -> Delivery | None:
        """Return an answer that was whole, although the store may have lost what it knew of it."""
        if not claim.is_redelivered:
            return None
        with suppress(PostingFailed):
            found = await self.platform.find_answer(claim)  # once: who has to wait for it would rather be answered
            if found is not None and found.is_finished and found.is_current and not found.is_failure:
                await self.platform.end_sign(claim)
                return Delivery(messages=found.messages)
        return None

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take back what was posted, unless others have gone on from it, and all that speaks of work on it."""
        with suppress(Rejected), while_held(withdrawal, self.deliveries):
            await self._clear(withdrawal)
            if not await self.platform.has_replies(withdrawal):
                await self._remove(withdrawal, withdrawal.delivery.standing)
                await self.platform.untitle(withdrawal.message)

    async def _clear(self, task: Task) -> None:
        """Take away what tells of work on a question."""
        if task.is_redelivered:
            with suppress(Gone, Rejected):
                await self.platform.end_sign(task)
        with suppress(Gone, Rejected):
            await self._retract(task, task.delivery.notice)

    async def _remove(self, task: Task, known: Sequence[MessageRef] = ()) -> bool:
        """Remove *known* messages, and others that were posted unheard; return whether there was anything."""
        may_be_more = task.delivery.trying is not None or task.is_redelivered
        found = [*known, *(await self.platform.unknown(task) if may_be_more else ())]
        for message in found:
            with suppress(Gone, Rejected):
                await self.platform.delete(message)
        return bool(found)

    async def react(self, claim: Claim, reaction: Reaction) -> None:
        """Mark a question; one that is gone, may not be marked or is not ours any more is left as it is."""
        with suppress(PostingFailed, StoreUnavailable), while_held(claim, self.deliveries):
            await QUICK.call(partial(self.platform.react, claim.message, reaction))

    async def _warn(self, claim: Claim) -> bool:
        """Mark a question whose answer cannot be posted, and return True, unless nobody has asked it."""
        if not claim.question.is_unasked:
            await self.react(claim, Reaction.WARNING)
        return not claim.question.is_unasked

    async def unreact(self, claim: Claim, reaction: Reaction) -> None:
        """Take a mark of ours away, if it is there; nobody waits for long until the platform has time for it."""
        with suppress(PostingFailed, StoreUnavailable), while_held(claim, self.deliveries):
            await QUICK.call(partial(self.platform.unreact, claim.message, reaction))

    async def alert(self, home: WorkspaceRef, sentence: str) -> None:
        """Tell moderators something, for which nobody's answer waits long; where that cannot be, the status says it."""
        mark = sha256(f"{home} {sentence}".encode()).hexdigest()[:NONCE_LENGTH]
        with suppress(PostingFailed, StoreUnavailable):
            await QUICK.call(partial(self.platform.alert, home, Part(sentence), mark))

    async def _show(
        self,
        claim: Claim,
        progress: AsyncIterator[Progress],
        destination: Destination,
        log: DeliveryLog,
        refused: asyncio.Future[PostingFailed],
    ) -> Delivery:
        """Draw the answer, and return its messages, or what is left of it where the bot may not go on."""
        place, is_marked = destination.place, False
        live = LiveMessage(
            log,
            partial(nonce, claim.message),
            messages=list(destination.posted),
            leaving=[Posted(message.id, place=message.thread) for message in claim.delivery.leaving],
            is_unsure=claim.delivery.trying is not None and claim.question.visibility == "thread",
            is_all=lambda: destination.is_all(log.delivery),
            is_contested=claim.is_redelivered,
            written=log.keep,
            was_deleted=log.was_deleted,
            refused=refused,
            pace=self.pace,
            pacer=self._pacer,
            silent_for=0.0 if claim.delivery.is_seen else (self.now() - claim.question.asked_at).total_seconds(),
        )
        async with live:
            try:
                answer = await live.draw(progress, destination.renderer, claim.question, grows=destination.grows)
                shown = live.messages
            except Rejected as refusal:
                answer, shown = None, [*live.leaving, *live.messages]
                if isinstance(refusal, Barred):
                    self._breaker.trip(claim)
                elif not isinstance(refusal, QuestionGone):
                    self.observer(PlaceRefused(claim.message))
                is_marked = not isinstance(refusal, QuestionGone) and await self._warn(claim)
        messages = tuple(MessageRef(thread=each.place or place, id=each.id) for each in shown) if place else ()
        with suppress(PostingFailed):  # a worker before may have left something; where the bot may not read, it stays
            if claim.is_redelivered and place is not None:
                await self._remove(replace(claim, delivery=Delivery(messages=messages)))
        if destination.settled is not None:
            await destination.settled(answer, shown)
        return Delivery(messages=messages, is_marked=is_marked)

    async def _retract(self, task: Task, notice: WaitNotice | None) -> None:
        """Take away what was said while a question waited, unless an answer replaces it. Raises `PostingFailed`."""
        if notice is None or (notice.id == task.message.id and isinstance(task, Claim)):
            return
        if found := notice.id or await self.platform.find_notice(task.message, notice):
            await QUICK.call(partial(self.platform.delete, MessageRef(thread=notice.thread, id=found)))


def _with(messages: tuple[MessageRef, ...], message_id: str, place: ThreadRef | None) -> tuple[MessageRef, ...]:
    """Return messages with one more, unless it is one of them, or nobody can name those of the place."""
    if place is None or any(one.id == message_id for one in messages):
        return messages
    return (*messages, MessageRef(thread=place, id=message_id))
