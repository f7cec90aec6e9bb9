"""Whether a question is answered, and from what: where operator and moderators want it, and not too often."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from secrets import token_hex

from core.community.visibility import UNDECIDED, Visibility, Visible
from core.errors import ShutOut, StoreUnavailable, Unavailable
from core.messages import BUSY, CLOSED, NO_MEMBER, NOT_ALLOWED, PAUSED, STRANGERS_READ, SWITCHED_OFF, limit_reached
from core.model import (
    NOTHING_SPENT,
    Asker,
    Budget,
    BudgetAlert,
    BudgetUse,
    Claim,
    Communities,
    Cost,
    Holder,
    Policy,
    Question,
    Reached,
    Reservation,
    Spending,
    Telling,
    WorkspaceRef,
    within,
)
from core.ports import Dedup, PolicyStore, Quota

REMINDER = timedelta(minutes=10)  # after which somebody is told the same again
ONE_QUESTION = Cost(questions=1)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a question is not answered, of what `kind`, and how whoever asked is told: in words at most once in a while.

    `alerts` are what moderators should hear besides, of the community that would be `charged` if another than the one
    where it was asked.
    """

    kind: str
    sentence: str
    telling: Telling = Telling.WORDS
    alerts: tuple[BudgetAlert, ...] = ()
    charged: WorkspaceRef | None = None


@dataclass(frozen=True, slots=True)
class Admitted:
    """A question that is answered from these `sources`, with what is set aside for it, which has to be settled."""

    reservation: Reservation
    sources: tuple[str, ...]


@dataclass
class Admission:
    """Decides who may ask now, and is answered from what. A policy that cannot be read refuses everybody.

    Nobody is let in while the store cannot say what moderators want and what was spent: the question is tried again.
    Only in communities that are allowed is anything answered; while nobody knows which are, the question is tried
    again. Those who read the answer are answered from what their *visibility* says, and members of nothing are not
    answered at all where nothing is open to everybody; where nobody can say who reads, the question fails and is tried
    again. The *budgets* are the operator's, by the calendar of a *zone*. What is asked in direct messages counts in
    those of the community whose documents are read, as its moderators have lowered them.
    """

    visibility: Visibility
    policies: PolicyStore
    quota: Quota
    dedup: Dedup
    _: KW_ONLY
    now: Callable[[], datetime]
    budgets: Sequence[Budget] = ()
    zone: tzinfo = UTC
    named: Callable[[], str] = partial(token_hex, 8)

    async def admit(self, claim: Claim, most: Cost = ONE_QUESTION) -> Admitted | Refusal:
        """Set aside the *most* that an answer may cost, or return why there is none. Raises `Unavailable` or `ShutOut`.

        It is `RetrievalUnavailable` where the index cannot say what may be read.
        """
        question = claim.question
        known = await self.visibility.communities.load()
        if (stranger := _not_allowed(question, known)) is not None:
            wait = self.visibility.communities.wait  # the one telling is for somebody who asks
            is_told = not claim.question.is_unasked and (await wait(stranger, question.message) or _is_awaited(claim))
            return Refusal("waiting", NOT_ALLOWED, Telling.WORDS if is_told else Telling.NOTHING)
        policy = await self.policies.load(question.message.thread.home)
        if objection := _objection(question, policy):
            return await self._told(claim, *objection)
        visible = await self.visibility.of(question.asker, known, claim.waiting)
        if visible.is_closed:
            return await self._told(claim, *_closed(question, visible))
        reservation = await self._reservation(question, policy, most, visible.charged)
        reservation = replace(reservation, patience=1) if claim.question.is_unasked else reservation
        try:
            reached = await self.quota.reserve(reservation)
        except BaseException:  # it may be set aside all the same
            with suppress(StoreUnavailable):
                await self.quota.settle(reservation, NOTHING_SPENT)
            raise
        if reached:
            return await self._turned_away(claim, reached, reservation)
        return Admitted(reservation, visible.sources)

    async def admits(self, question: Question) -> bool:
        """Return whether a question would be answered now, of which nobody is told. Raises `Unavailable`."""
        known = await self.visibility.communities.load()
        policy = await self.policies.load(question.message.thread.home)
        if _not_allowed(question, known) is not None or _objection(question, policy):
            return False
        visible = await self.visibility.of(question.asker, known)
        if visible.is_closed:
            return False
        reservation = await self._reservation(question, policy, ONE_QUESTION, visible.charged)
        return await self.quota.would_reach(reservation) is None

    async def settle(self, reservation: Reservation, spent: Cost, *, is_heard: bool = True) -> Sequence[BudgetAlert]:
        """Count what an answer has cost; return what moderators should hear. Raises `StoreUnavailable`.

        Where nobody can tell them, that is kept for the next time.
        """
        return await self.quota.settle(reservation if is_heard else replace(reservation, budgets=()), spent)

    async def count(self, claim: Claim, *, is_answered: bool) -> tuple[Reservation, Sequence[BudgetAlert]] | None:
        """Count a question that was answered by a worker that died; return for what, and what moderators hear there.

        What it had set aside is given free. None where that is all. Raises `Unavailable` or `ShutOut`.
        """
        asker = claim.question.asker
        charged = None if asker.home.communities else (await self.visibility.of(asker)).charged
        policy = await self.policies.load(asker.home)
        reservation = await self._reservation(claim.question, policy, ONE_QUESTION, charged)
        if not is_answered:
            return await self.quota.give_up(reservation)
        if await self.quota.reserve(reservation) is not None:
            return None
        return reservation, await self.quota.settle(reservation, ONE_QUESTION)

    async def spending(self, home: WorkspaceRef, *, person_id: str = "") -> Spending:
        """Return what a community has spent, and a person in it if one is named. Raises `StoreUnavailable`.

        For somebody outside of all communities, it is the one that they are charged to.
        """
        if person_id and not home.communities:
            with suppress(Unavailable, ShutOut):
                home = (await self.visibility.of(Asker(home=home, person_id=person_id, is_alone=True))).charged or home
        at, policy = self.now().astimezone(self.zone), await self.policies.load(home)
        budgets, spent = within(self.budgets, policy.budgets), await self.quota.spent(home, at, person_id=person_id)
        uses = [
            BudgetUse(each, spent[each.holder, each.period].of(each.measure), each.period.around(at)[1])
            for each in budgets
            if (each.holder, each.period) in spent
        ]
        of_community = {period: cost for (holder, period), cost in spent.items() if holder is Holder.COMMUNITY}
        return Spending(of_community, budgets, tuple(uses))

    async def _reservation(
        self, question: Question, policy: Policy, most: Cost, charged: WorkspaceRef | None
    ) -> Reservation:
        policy = policy if charged is None else await self.policies.load(charged)
        budgets = within(self.budgets, policy.budgets)
        at = self.now().astimezone(self.zone)
        return Reservation(question=question, run=self.named(), most=most, budgets=budgets, at=at, charged=charged)

    async def _turned_away(self, claim: Claim, reached: Reached, reservation: Reservation) -> Refusal:
        """Tell somebody once until the limit lifts, then by a few marks, and always whoever waits for words."""
        telling, sentence = Telling.WORDS, limit_reached(reached, reservation.at)
        if claim.question.is_unasked:
            telling = Telling.NOTHING
        else:
            with suppress(StoreUnavailable):
                telling = await self.quota.turn_away(claim.question, reached, reservation.at)
            telling = Telling.WORDS if _is_awaited(claim) else telling
        return Refusal("limit", sentence, telling, reached.alerts, reservation.charged)

    async def _told(self, claim: Claim, kind: str, sentence: str) -> Refusal:
        """Tell somebody once in a while, and always whoever waits for words.

        A worker that died may have noted that it told them, and not have done it. Nobody is told who did not ask.
        """
        if claim.question.is_unasked:
            return Refusal(kind, sentence, Telling.NOTHING)
        person = f"{claim.message.thread.home}:{claim.question.author.id}"
        period = str(int(self.now().timestamp() // REMINDER.total_seconds()))
        is_new = True  # without the notes, somebody is told once more
        with suppress(StoreUnavailable):
            is_new = await self.dedup.changed(f"refused:{kind}", period, person=person)
        is_told = is_new or claim.is_redelivered or _is_awaited(claim)
        return Refusal(kind, sentence, Telling.WORDS if is_told else Telling.NOTHING)


def _not_allowed(question: Question, known: Communities) -> WorkspaceRef | None:
    """Return the community in which somebody asks, if it is not allowed; direct messages are in none.

    Raises `Unavailable` where it is not decided yet.
    """
    home = question.message.thread.home
    if known.admits(home):
        return None
    if not known.is_decided(home.platform):
        raise Unavailable(UNDECIDED)
    return home.communities[0]


def _objection(question: Question, policy: Policy) -> tuple[str, str] | None:
    """Return why moderators do not want an answer, in a word for the notes and in a sentence; None if they do."""
    channel = question.message.thread.channel
    if policy.fault is not None:
        return "closed", CLOSED
    if policy.paused_by is not None:
        return "paused", PAUSED
    if channel in policy.silent_channels:
        return f"silent:{channel}", SWITCHED_OFF
    return None


def _closed(question: Question, visible: Visible) -> tuple[str, str]:
    """Return in the same way that whoever reads the answer is a member of nothing."""
    if visible.has_strangers:
        return f"strangers:{question.message.thread.channel}", STRANGERS_READ
    return "no member", NO_MEMBER


def _is_awaited(claim: Claim) -> bool:
    """Return whether somebody used a command, or was told to wait, and so waits for words."""
    has_interaction = claim.address is not None and claim.address.interaction is not None
    return has_interaction or claim.delivery.notice is not None


USUAL_ANSWER = 6.0  # seconds; a guess
ROUND = 10  # seconds: nobody can say it more exactly


@dataclass(frozen=True, slots=True)
class WaitEstimate:
    """Knows how long the last of those who wait has to, where each worker has some *concurrency*."""

    concurrency: int

    def sentence(self, waiting: int, running: int) -> str | None:
        """Return when the last of those who wait will be answered; None if that will be soon.

        Nobody knows how many several workers can answer, but when many wait, as many run as there are.
        """
        at_once = max(self.concurrency, running)
        if waiting <= 2 * at_once:
            return None
        seconds = max(ROUND, math.ceil(waiting * USUAL_ANSWER / at_once / ROUND) * ROUND)
        return f"{BUSY}; your answer comes in about {seconds} seconds."
