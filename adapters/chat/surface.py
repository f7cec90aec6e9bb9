"""A chat platform as a surface: every answer is delivered, changed and taken back here, wherever it appears."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from adapters.chat.delivery_log import DeliveryLog, LeaseGuard
from adapters.chat.live_message import LiveMessage, Pace, PriorAttempt
from adapters.chat.platform import Barred, ChatPlatform, Destination, ExpiringSet, Posted, QuestionGone, nonce, utc_now
from adapters.retry import QUICK, LoadPacer
from core.errors import Gone, PostingFailed, Rejected
from core.events import Observer, PlaceRefused, unobserved
from core.model import Claim, Delivery, MessageRef, Progress, Reaction, WaitNotice, Withdrawal
from core.ports import Deliveries, Surface

UPDATED = "Updated after the question was edited."
LATE = "Sorry for the wait."
LONG_WAIT = timedelta(minutes=5)
PACE = Pace()


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
        places = _places(claim)
        is_first = claim.message.id == claim.message.thread.thread  # such a question stands in the channel itself
        if not places or self._shut.add(places[0] if is_first else places[1]):
            self._observer(PlaceRefused(claim.message))

    async def keeps_out(self, claim: Claim, surface: Surface) -> bool:
        """Return whether an answer to the claim would be refused, and then mark the question."""
        is_shut = any(place in self._shut for place in _places(claim))
        if is_shut:
            await surface.react(claim.message, Reaction.WARNING)
        return is_shut


def _places(claim: Claim) -> Sequence[str]:
    """Return the channel and the thread where the bot needs a right to answer; none for a command."""
    if claim.address is not None and claim.address.interaction is not None:
        return ()
    thread = claim.message.thread
    return str(thread.model_copy(update={"thread": thread.channel})), str(thread)


class PlatformSurface:
    """Delivers answers by a platform's own functions; whoever listens there need not be in the same process."""

    def __init__(
        self,
        platform: ChatPlatform,
        *,
        deliveries: Deliveries | None = None,
        pace: Pace = PACE,
        now: Callable[[], datetime] = utc_now,
        observer: Observer = unobserved,
    ) -> None:
        """What is posted is noted in *deliveries* before and after; who has lost a claim does nothing more about it.

        The *observer* hears of questions whose answer may not be posted, once in some minutes for each place.
        """
        self._platform = platform
        self._deliveries = deliveries
        self._pace = pace
        self._pacer = LoadPacer(pace.for_each, pace.longest)
        self._now = now
        self._breaker = PlaceBreaker(observer, now)
        self._observer = observer

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Show the answer while it comes, and end with the whole of it; where nothing may be said, mark the question.

        An answer for one person only whom it cannot reach any more is not shown. Raises `PostingFailed` if the
        platform does not do its work, or if another worker has the claim.
        """
        guard = LeaseGuard(claim, self._deliveries)
        with guard.applies():
            if await self._breaker.keeps_out(claim, self):
                return claim.delivery
            try:
                destination = await self._platform.destination(claim, remark(claim, self._now()))
            except Rejected:
                self._observer(PlaceRefused(claim.message))
                return Delivery()
            if destination is None:
                return Delivery()
            retract = partial(self._retract, claim.message)
            async with (
                destination.sign() as showing,
                DeliveryLog(
                    guard, destination, now=self._now, retract=retract, showing=showing, observer=self._observer
                ) as log,
            ):
                shown = await self._show(claim, progress, destination, log)
                return Delivery(messages=destination.named([each.id for each in shown]))

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take back what was posted, unless others have gone on from it, and all that speaks of work on it."""
        platform, notice = self._platform, withdrawal.delivery.notice
        with suppress(Rejected), LeaseGuard(withdrawal, self._deliveries).applies():
            await platform.end_sign(withdrawal)
            if notice is not None:
                with suppress(Gone, Rejected):
                    await self._retract(withdrawal.message, notice)
            if await platform.has_replies(withdrawal):
                return
            for message in [*withdrawal.delivery.standing, *await platform.unknown(withdrawal)]:
                with suppress(Gone, Rejected):
                    await platform.delete(message)
            await platform.untitle(withdrawal.message)

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message; one that is gone, or may not be marked, is left as it is."""
        with suppress(PostingFailed):
            await QUICK.call(partial(self._platform.react, to, reaction))

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Take a mark of ours away, if it is there; nobody waits for long until the platform has time for it."""
        with suppress(PostingFailed):
            await QUICK.call(partial(self._platform.unreact, to, reaction))

    async def _show(
        self, claim: Claim, progress: AsyncIterator[Progress], destination: Destination, log: DeliveryLog
    ) -> Sequence[Posted]:
        """Draw the answer, and return its messages, or what is left of it where the bot may not go on."""
        nonces = partial(nonce, claim.message, claim.question.revision)
        prior = PriorAttempt(
            destination.posted,
            leaving=[Posted(message.id) for message in claim.delivery.leaving],
            has_doubt=claim.delivery.trying is not None and claim.question.visibility == "thread",
            is_contested=claim.is_redelivered,
        )
        async with LiveMessage(log, nonces, prior=prior, pace=self._pace, pacer=self._pacer) as live:
            try:
                answer = await live.draw(progress, destination.renderer, claim.question, grows=destination.grows)
                shown = live.messages
            except Rejected as refusal:
                answer, shown = None, [*live.leaving, *live.messages]
                await self._refused(claim, refusal)
        await destination.settled(answer, shown)
        return shown

    async def _refused(self, claim: Claim, refusal: Rejected) -> None:
        """Mark the question, unless it is gone; a place that takes no posts at all is remembered."""
        if isinstance(refusal, QuestionGone):
            return
        if isinstance(refusal, Barred):
            self._breaker.trip(claim)
        else:
            self._observer(PlaceRefused(claim.message))
        await self.react(claim.message, Reaction.WARNING)

    async def _retract(self, message: MessageRef, notice: WaitNotice) -> None:
        """Take away what was said below a question while it waited. Raises `PostingFailed`."""
        if found := notice.id or await self._platform.find_notice(message, notice):
            await QUICK.call(partial(self._platform.delete, MessageRef(thread=notice.thread, id=found)))


def remark(claim: Claim, now: datetime) -> str:
    """Return what has to be said of the way that an answer came about; empty if there is nothing."""
    if claim.is_update:
        return UPDATED
    waited = now - claim.question.asked_at
    return LATE if waited > LONG_WAIT and not claim.delivery.messages else ""
