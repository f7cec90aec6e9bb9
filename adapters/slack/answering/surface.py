"""Slack as a surface: answers appear in a thread on the question, or for one person only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from adapters.chat.drafts import Draft, Pace
from adapters.chat.drawing import Renderer, draw, legacy_of, remark
from adapters.chat.held import Held
from adapters.chat.noted import Noted
from adapters.chat.place_breaker import PlaceBreaker
from adapters.chat.posting import Posted, Poster, nonce
from adapters.retry import QUICK
from adapters.slack.answering.clearing import clear
from adapters.slack.answering.indicator import Indicator, Ways, take_away, title_of
from adapters.slack.answering.response_poster import few, only_answers
from adapters.slack.answering.spots import Spot, Spots
from adapters.slack.answering.unhurried import until_answered
from adapters.slack.answering.withdrawing import has_replies, retract, unknown_of, untitle
from adapters.slack.api import Denied, once, tell
from adapters.slack.client.lost import LostPosts, Place
from adapters.slack.client.poster import Look, ThreadPoster
from adapters.slack.dialect import SlackRenderer
from adapters.slack.people import People
from adapters.slack.workspaces import Workspace, Workspaces
from core.errors import Gone, PostingFailed, Rejected
from core.events import Observer, PlaceRefused, unobserved
from core.model import Claim, Delivery, MessageRef, Progress, Reaction, Withdrawal
from core.ports import Deliveries

EMOJI = {Reaction.WARNING: "warning"}
NO_LOOK = Look(blocks=lambda _: (), below=lambda _: (), text=lambda _: "")
BARRED = frozenset(
    {"channel_not_found", "is_archived", "not_in_channel", "restricted_action", "restricted_action_read_only_channel"}
)
NO_THREAD = "thread_not_found"  # somebody deleted the question, and with it the thread


@dataclass(frozen=True, slots=True)
class SlackPace(Pace):
    """The same with Slack's numbers; it wants messages to be edited more seldom than streams to grow."""

    interval: float = 1.0
    edits_apart: float = 3.0


def utc_now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


class SlackSurface:
    """Draws answers by the Web API; whoever listens to Slack need not be in the same process."""

    def __init__(
        self,
        workspaces: Workspaces,
        *,
        people: People | None = None,
        pace: SlackPace | None = None,
        now: Callable[[], datetime] = utc_now,
        deliveries: Deliveries | None = None,
        observer: Observer = unobserved,
    ) -> None:
        """Note what is posted in *deliveries* before and after; who has lost a claim does nothing more about it.

        The *observer* hears of questions whose answer may not be posted, once in some minutes for each place, and of
        those with a message that may stand there twice.
        """
        self._workspaces = workspaces
        self._pace = pace or SlackPace()
        self._pacer = self._pace.pacer()
        self._now = now
        self._deliveries = deliveries
        self._breaker = PlaceBreaker(observer, now)
        self._observer = observer
        self._ways = Ways()
        self._spots = Spots(people or People(workspaces), observer, self._pace.edits_apart)

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Show the answer while it comes, and end with the whole of it; where nothing may be said, mark the question.

        An answer for one person only whom it cannot reach any more is not shown. Raises `PostingFailed` if Slack does
        not do its work, or if another worker has the claim.
        """
        held = Held(claim, self._deliveries, self._observer)
        with held.applies():
            if await self._breaker.keeps_out(claim, self):
                return claim.delivery
            spot = await self._spot(claim)
            if spot is None:
                return Delivery()
            if spot.place is None:
                return await self._said_privately(claim, progress, spot.poster, held)
            return await self._said(claim, progress, spot, held)

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take back what was posted, unless somebody has said something below it, and any sign of work on it."""
        with suppress(Rejected), Held(withdrawal, self._deliveries, self._observer).applies():
            workspace = await self._workspaces.find(withdrawal.thread.workspace)
            if withdrawal.is_redelivered:
                with suppress(PostingFailed):
                    await take_away(_place(workspace, withdrawal.message), self._ways)
            if withdrawal.delivery.notice is not None:
                with suppress(Gone, Rejected):
                    await retract(workspace, withdrawal.message, withdrawal.delivery.notice)
            if await has_replies(withdrawal, workspace):
                return
            for message in [*withdrawal.delivery.standing, *await unknown_of(withdrawal, workspace)]:
                with suppress(Gone, Rejected):
                    await _poster(workspace, message).delete(message.id)
            await untitle(withdrawal, workspace)

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message; one that is gone, is marked already, or may not be marked, is left as it is."""
        with suppress(PostingFailed):
            workspace = await self._workspaces.find(to.thread.workspace)
            await QUICK.call(lambda: tell(workspace.client, "reactions.add", **_mark(to, reaction)))

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Take a mark of ours away, if it is there; nobody waits for long until Slack has time for it."""
        with suppress(PostingFailed):
            workspace = await self._workspaces.find(to.thread.workspace)
            await QUICK.call(lambda: tell(once(workspace.client), "reactions.remove", **_mark(to, reaction)))

    async def _spot(self, claim: Claim) -> Spot | None:
        """Return where the answer goes, if it can go anywhere."""
        try:
            workspace = await self._workspaces.find(claim.thread.workspace)
        except Rejected:
            self._observer(PlaceRefused(claim.message))
            return None
        if claim.question.visibility == "thread":
            return self._spots.in_thread(claim, workspace)
        interaction = claim.address.at(self._now()).interaction if claim.address else None
        return self._spots.in_response(claim, workspace, interaction.token) if interaction else None

    async def _said_privately(
        self, claim: Claim, progress: AsyncIterator[Progress], poster: Poster, held: Held
    ) -> Delivery:
        """Say it to one person, in messages that nobody can name afterwards."""
        async with Noted(poster, held, named=lambda _: Delivery(), now=self._now) as noted:
            await self._drawn(claim, only_answers(progress), noted)
        return Delivery()

    async def _said(self, claim: Claim, progress: AsyncIterator[Progress], spot: Spot, held: Held) -> Delivery:
        is_first = claim.message.id == claim.thread.thread
        title = title_of(claim.question.text) if is_first else ""
        named = partial(_delivery, claim)
        said = partial(retract, spot.place.workspace, claim.message) if spot.place else None
        async with (
            Indicator(spot.place, self._ways, title=title, inherits=claim.is_redelivered) as indicator,
            Noted(spot.poster, held, named=named, now=self._now, showing=indicator.stop, retract=said) as noted,
        ):
            shown = await self._drawn(claim, until_answered(progress, spot.leisure), noted)
            if claim.is_redelivered and spot.place is not None:
                await clear(claim, spot.place, {message.id for message in shown})
            return named([message.id for message in shown])

    async def _drawn(self, claim: Claim, progress: AsyncIterator[Progress], poster: Poster) -> tuple[Posted, ...]:
        """Draw the answer, and give its messages, or what is left of it where the bot may not go on."""
        nonces = partial(nonce, claim.message, claim.question.revision)
        legacy = legacy_of(claim, [Posted(message.id) for message in claim.delivery.messages])
        async with Draft(poster, nonces, legacy=legacy, pace=self._pace, pacer=self._pacer) as draft:
            try:
                await draw(progress, draft, self._renderer(claim), claim.question)
            except Rejected as refusal:
                await self._give_up(claim, refusal)
                return draft.standing
        return draft.messages

    async def _give_up(self, claim: Claim, refusal: Rejected) -> None:
        """Mark the question, unless it is gone; a place that takes no posts at all is remembered."""
        code = refusal.code if isinstance(refusal, Denied) else ""
        if code != NO_THREAD:
            if code in BARRED:
                self._breaker.trip(claim)
            else:
                self._observer(PlaceRefused(claim.message))
            await self.react(claim.message, Reaction.WARNING)

    def _renderer(self, claim: Claim) -> Renderer:
        """Return how messages look."""
        most = few if claim.question.visibility == "private" else tuple
        return SlackRenderer(remark=remark(claim, self._now()), most=most)


def _delivery(claim: Claim, ids: Sequence[str]) -> Delivery:
    return Delivery(messages=tuple(MessageRef(thread=claim.thread, id=name) for name in ids))


def _mark(to: MessageRef, reaction: Reaction) -> dict[str, str]:
    return {"channel": to.thread.channel, "timestamp": to.id, "name": EMOJI[reaction]}


def _poster(workspace: Workspace, message: MessageRef) -> ThreadPoster:
    """Return what removes a message, which draws none."""
    place = _place(workspace, message)
    return ThreadPoster(place, NO_LOOK, LostPosts(place))


def _place(workspace: Workspace, message: MessageRef) -> Place:
    return Place(workspace, message.thread.channel, message.thread.thread, message.id)
