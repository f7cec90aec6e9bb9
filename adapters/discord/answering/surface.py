"""Discord as a surface: answers appear in a thread on the question, in place, or as the response to a command."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.drafts import Draft, Pace
from adapters.chat.drawing import Renderer, draw, legacy_of, remark
from adapters.chat.held import Held
from adapters.chat.noted import Noted
from adapters.chat.place_breaker import PlaceBreaker
from adapters.chat.posting import Posted, nonce
from adapters.discord.answering.indicator import Indicator
from adapters.discord.answering.spots import Spot, Spots, is_first
from adapters.discord.answering.tagging import Tagging
from adapters.discord.answering.unhurried import Unhurried, until_answered
from adapters.discord.answering.withdrawing import has_replies, retract, unknown_of, untitle
from adapters.discord.client.poster import NO_PLACE, Barred, ChannelPoster, translated
from adapters.discord.client.throttle import Leisure
from adapters.discord.dialect import MENTION_AGAIN, MENTION_TO_CONTINUE, DiscordRenderer, quoted
from adapters.retry import QUICK
from core.errors import Gone, PostingFailed, Rejected
from core.events import Observer, PlaceRefused, unobserved
from core.messages import WARNING
from core.model import Answer, Claim, Delivery, MessageRef, Progress, Reaction, Status, Withdrawal
from core.ports import Deliveries, PolicyStore

if TYPE_CHECKING:
    from discord import AutoShardedClient, PartialMessage

EMOJI = {Reaction.WARNING: WARNING}
NO_MESSAGES_THERE = frozenset({50008, 50024})  # a forum holds threads only
WORTH_A_THREAD = frozenset({Status.ANSWERED, Status.NO_CONTEXT})


def utc_now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


class DiscordSurface:
    """Draws answers by REST; it needs a client that is logged in, and none that is connected to the gateway."""

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        client: AutoShardedClient,
        *,
        reads_all: bool = False,
        pace: Pace | None = None,
        now: Callable[[], datetime] = utc_now,
        deliveries: Deliveries | None = None,
        policies: PolicyStore | None = None,
        observer: Observer = unobserved,
    ) -> None:
        """With *reads_all* off, the first answer in a thread says how to go on.

        What is posted is noted in *deliveries* before and after; who has lost a claim does nothing more about it.
        The *observer* hears of questions whose answer may not be posted, once in some minutes for each place. The
        *policies* say in which forums all posts are answered.
        """
        self._client = client
        self._reads_all = reads_all
        self._pace = pace or Pace()
        self._pacer = self._pace.pacer()
        self._now = now
        self._deliveries = deliveries
        self._breaker = PlaceBreaker(observer, now)
        self._observer = observer
        self._spots = Spots(client, now=now, observer=observer)
        self._tagging = Tagging(client, policies, now)

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Show the answer while it comes, and end with the whole of it; where nothing may be said, mark the question.

        An answer for one person only whom it cannot reach any more is not shown. Raises `PostingFailed` if Discord
        does not do its work, or if another worker has the claim.
        """
        held = Held(claim, self._deliveries, self._observer)
        with held.applies():
            return await self._reply(claim, progress, held)

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take back what was posted, unless somebody has said something below it."""
        with Held(withdrawal, self._deliveries, self._observer).applies():
            if withdrawal.delivery.notice is not None:
                with suppress(Gone, Rejected):
                    await retract(self._spots, withdrawal.message, withdrawal.delivery.notice)
            if await has_replies(withdrawal, self._spots):
                return
            for message in [*withdrawal.delivery.standing, *await unknown_of(withdrawal, self._spots)]:
                with suppress(Gone, Rejected):
                    await ChannelPoster(self._spots.channel(message.thread.thread)).delete(message.id)
            await untitle(withdrawal, self._client)

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message; one that is gone, or may not be marked, is left as it is."""
        await self._mark(to, lambda message: message.add_reaction(EMOJI[reaction]))

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Take a mark of ours away, if it is there."""
        me = self._client.user
        if me is not None:
            await self._mark(to, lambda message: message.remove_reaction(EMOJI[reaction], me))

    async def _mark(self, to: MessageRef, change: Callable[[PartialMessage], Awaitable[None]]) -> None:
        for place in _places_of(to):
            message = self._spots.channel(place).get_partial_message(int(to.id))
            try:
                await QUICK.call(lambda: translated(change(message), gone=NO_PLACE | NO_MESSAGES_THERE))  # noqa: B023 - it is called here and now
            except Gone:
                continue
            except PostingFailed:
                return
            return

    async def _reply(self, claim: Claim, progress: AsyncIterator[Progress], held: Held) -> Delivery:
        if await self._breaker.keeps_out(claim, self):
            return claim.delivery
        spot = await self._spots.find(claim)
        if spot is None:
            return Delivery()
        waiting, leisure = None if spot.shows_waiting else spot.channel, Leisure()

        def named(ids: Sequence[str]) -> Delivery:
            return spot.delivery(claim, tuple(Posted(name) for name in ids))

        async with Indicator(self._client, waiting) as indicator:
            poster = Unhurried(spot.poster, leisure)
            said = partial(retract, self._spots, claim.message)
            async with Noted(poster, held, named=named, now=self._now, showing=indicator.stop, retract=said) as noted:
                return spot.delivery(claim, await self._drawn(claim, until_answered(progress, leisure), spot, noted))

    async def _drawn(
        self, claim: Claim, progress: AsyncIterator[Progress], spot: Spot, noted: Noted
    ) -> tuple[Posted, ...]:
        """Draw the answer, and give its messages, or what is left of it where the bot may not go on."""
        nonces = partial(nonce, claim.message, claim.question.revision)
        legacy = legacy_of(claim, spot.posted)
        async with Draft(noted, nonces, legacy=legacy, pace=self._pace, pacer=self._pacer) as draft:
            try:
                answer = await draw(progress, draft, self._renderer(claim, spot), claim.question)
            except Rejected as refusal:
                if isinstance(refusal, Barred):
                    self._breaker.trip(claim)
                else:
                    self._observer(PlaceRefused(claim.message))
                await self.react(claim.message, Reaction.WARNING)
                return draft.standing
        if draft.messages and spot.is_response:
            await self._invite(claim, answer)
        if draft.messages and answer.status is Status.ANSWERED:
            await self._tagging.tag(claim)
        return draft.messages

    def _renderer(self, claim: Claim, spot: Spot) -> Renderer:
        """Return how messages look: those who did not see the question asked are shown it above the answer."""
        is_public = claim.question.visibility == "thread"
        head = quoted(claim.question.text) if spot.is_response and is_public else ""
        hint = ""
        if not self._reads_all and is_public and is_first(claim.message):
            hint = MENTION_AGAIN if spot.is_response else MENTION_TO_CONTINUE
        return DiscordRenderer(head=head, hint=hint, remark=remark(claim, self._now()))

    async def _invite(self, claim: Claim, answer: Answer) -> None:
        """Open a thread on the response, if there is to be one, for whoever wants to go on; it need not be allowed."""
        message = claim.address.message if claim.address else None
        if message is not None and answer.status in WORTH_A_THREAD:
            with suppress(PostingFailed):
                await self._spots.open_thread(message, claim.question.text)


def _places_of(message: MessageRef) -> Sequence[str]:
    """Return the channels that a message may stand in.

    The one that a thread bears the id of stands above it, except in a forum, where it is the first inside.
    """
    thread = message.thread
    return tuple(dict.fromkeys([thread.channel, thread.thread] if is_first(message) else [thread.thread]))
