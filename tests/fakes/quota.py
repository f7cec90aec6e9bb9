"""A quota in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from core.errors import StoreUnavailable
from core.model import (
    NOTHING_SPENT,
    SOON,
    Budget,
    BudgetAlert,
    Cost,
    Holder,
    Measure,
    Period,
    Question,
    Reached,
    Reservation,
    Telling,
    WorkspaceRef,
)

HELD = timedelta(minutes=15)
MINUTE = timedelta(minutes=1)
MOST_MARKS = 5
CALENDAR = (Period.DAY, Period.MONTH)


@dataclass
class Held:
    """What is set aside for a question, and what it has cost already."""

    counters: list[Counted] = field(default_factory=list["Counted"])
    most: Cost = NOTHING_SPENT
    until: datetime | None = None
    run: str = ""
    counted: int = 0
    is_open: bool = False
    paid: set[str] = field(default_factory=set[str])
    assumed: dict[str, Cost] = field(default_factory=dict[str, Cost])


@dataclass
class Counted:
    """What one holder has spent in one period, what is set aside, and the runs that led to no question yet."""

    spent: Cost = NOTHING_SPENT
    held: Cost = NOTHING_SPENT
    fruitless: int = 0


@dataclass
class Away:
    """How somebody was told of a limit."""

    first: str
    until: datetime
    marks: dict[str, datetime] = field(default_factory=dict[str, datetime])
    is_over: bool = False


class MemoryQuota:
    """Counts what is asked.

    Set `fails` to make every call raise `StoreUnavailable`, as if the server were gone.
    """

    def __init__(self, *, now: Callable[[], datetime]) -> None:
        self.fails = False
        self._now = now
        self._windows: dict[str, dict[str, datetime]] = defaultdict(dict)
        self._counted: dict[str, Counted] = defaultdict(Counted)
        self._holds: dict[str, Held] = defaultdict(Held)
        self._told: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
        self._away: dict[str, Away] = {}

    async def reserve(self, reservation: Reservation) -> Reached | None:
        """Set aside what a question may cost, within all limits or not at all."""
        return self._reserve(reservation, is_meant=True)

    async def would_reach(self, reservation: Reservation) -> Reached | None:
        """Look only."""
        return self._reserve(reservation, is_meant=False)

    async def settle(self, reservation: Reservation, spent: Cost) -> Sequence[BudgetAlert]:
        """Count what a run has cost."""
        self._check()
        hold = self._holds.get(_asked(reservation.question))
        if hold is None or reservation.run in hold.paid:
            return []
        if hold.is_open and hold.run == reservation.run:
            hold.is_open = False
            for counted in hold.counters:
                counted.fruitless -= int(spent.questions > 0 or spent == NOTHING_SPENT)
        spent = spent.model_copy(update={"questions": min(spent.questions, 1 - hold.counted)})
        hold.counted += spent.questions
        hold.paid.add(reservation.run)
        assumed = hold.assumed.get(reservation.run, NOTHING_SPENT)
        if hold.run == reservation.run:
            self._release(hold)
        for counted in hold.counters:
            counted.spent = _difference(_sum(counted.spent, spent), assumed)
        return [
            alert
            for budget in reservation.budgets
            if budget.holder is Holder.COMMUNITY and budget.most
            for alert in self._crossed(
                budget,
                reservation,
                100 * self._counters(reservation, budget.period)[0].spent.of(budget.measure) / budget.most,
            )
        ]

    async def give_up(self, reservation: Reservation) -> None:
        """Give free what is set aside."""
        self._check()
        hold = self._holds[_asked(reservation.question)]
        if hold.until is not None:
            _assume(hold)
            self._release(hold)

    async def turn_away(self, question: Question, reached: Reached, at: datetime) -> Telling:
        """Say how somebody is told."""
        self._check()
        asked, now = _asked(question), self._now()
        place = question.message.thread
        where = {Holder.THREAD: str(place), Holder.CHANNEL: place.channel}.get(reached.budget.holder, "")
        who = f"{place.home} {question.author.id} {where} {reached.name}"
        away = self._away.get(who)
        if away is None or away.until <= now:
            away = self._away[who] = Away(asked, now + (reached.until - at))
        if away.first == asked:
            return Telling.WORDS
        away.marks = {one: when for one, when in away.marks.items() if when > now - MINUTE}
        away.is_over = away.is_over or len(away.marks.keys() - {asked}) >= MOST_MARKS
        if away.is_over and asked not in away.marks:
            return Telling.NOTHING
        away.marks[asked] = now
        return Telling.MARK

    async def spent(
        self, home: WorkspaceRef, at: datetime, *, person_id: str = "", channel: str = ""
    ) -> Mapping[tuple[Holder, Period], Cost]:
        """Say what was spent."""
        self._check()
        named = {Holder.COMMUNITY: "", Holder.PERSON: person_id, Holder.CHANNEL: channel}
        return {
            (holder, period): self._counted[f"{home} {period.around(at)[0]} {holder} {name}"].spent
            for period in CALENDAR
            for holder, name in named.items()
            if name or holder is Holder.COMMUNITY
        }

    def _reserve(self, reservation: Reservation, *, is_meant: bool) -> Reached | None:
        self._check()
        asked, now = _asked(reservation.question), self._now()
        message = asked.rpartition(" ")[0]
        for name, each in self._holds.items():
            is_other = is_meant and name != asked and name.rpartition(" ")[0] == message
            if each.until is not None and (is_other or each.until <= now):
                _assume(each)
                self._release(each)
        hold = self._holds[asked]
        if hold.until is not None:
            if is_meant:
                if hold.run != reservation.run:
                    _assume(hold)
                hold.run, hold.until = reservation.run, now + HELD
            return None
        most = reservation.most
        most = most.model_copy(update={"questions": max(most.questions - hold.counted, 0)})
        ends = [*self._full(reservation, asked), *self._spent_up(reservation, most)]
        if ends:
            alerts = self._news(reservation, ends) if is_meant else ()
            return replace(max(ends, key=lambda end: end.until), alerts=tuple(alerts))
        if is_meant:
            self._set_aside(reservation, hold, most)
        return None

    def _news(self, reservation: Reservation, ends: Sequence[Reached]) -> Iterator[BudgetAlert]:
        for each in ends:
            if each.budget.holder is Holder.COMMUNITY and not each.is_passing:
                yield from self._crossed(each.budget, reservation, 100.0, reservation.patience * each.is_fruitless)

    def _set_aside(self, reservation: Reservation, hold: Held, most: Cost) -> None:
        asked = _asked(reservation.question)
        windows = [window for window, _ in self._windows_of(reservation)]
        if all(asked not in window for window in windows):
            for window in windows:
                window[asked] = self._now()
        hold.counters = [each for period in CALENDAR for each in self._counters(reservation, period)]
        hold.most, hold.run, hold.until = most, reservation.run, self._now() + HELD
        hold.is_open = True
        for counted in hold.counters:
            counted.held = _sum(counted.held, most)
            counted.fruitless += 1

    def _full(self, reservation: Reservation, asked: str) -> Sequence[Reached]:
        ends = list[Reached]()
        for window, budget in self._windows_of(reservation):
            for one, at in list(window.items()):
                if at <= self._now() - MINUTE:
                    del window[one]
            if len(window) >= budget.most:
                oldest = sorted(window.values())[-int(budget.most)]
                ends.append(Reached(budget, reservation.at + (oldest + MINUTE - self._now())))
        return [] if any(asked in window for window, _ in self._windows_of(reservation)) else ends

    def _spent_up(self, reservation: Reservation, most: Cost) -> Sequence[Reached]:
        ends = list[Reached]()
        for budget in reservation.budgets:
            if budget.period is Period.MINUTE:
                continue
            counted, wanted = self._counter(reservation, budget.holder, budget.period), most.of(budget.measure)
            spent, held = counted.spent.of(budget.measure), counted.held.of(budget.measure)
            patience = reservation.patience * budget.most
            if budget.measure is Measure.QUESTIONS and 0 < patience <= counted.fruitless:
                ends.append(_tired(budget, reservation, is_passing=counted.fruitless - held < patience))
            is_taken = held > 0 and spent + held + wanted > budget.most
            if wanted and spent >= budget.most:
                ends.append(Reached(budget, budget.period.around(reservation.at)[1]))
            elif wanted and is_taken:
                ends.append(Reached(budget, reservation.at + SOON, is_passing=True))
        return ends

    def _crossed(
        self, budget: Budget, reservation: Reservation, share: float, in_vain: int = 0
    ) -> Sequence[BudgetAlert]:
        name = f"{reservation.home} {budget.name} {budget.period.around(reservation.at)[0]} {in_vain > 0}"
        percent = next((each for each in (100, 80) if share >= each), 0)
        news = in_vain or percent
        before, limit = self._told[name]
        if not budget.most or not news or (news <= before and budget.most <= limit):
            return []
        self._told[name] = news, budget.most
        return [BudgetAlert(budget, percent, budget.period.around(reservation.at)[1], in_vain)]

    def _windows_of(self, reservation: Reservation) -> Sequence[tuple[dict[str, datetime], Budget]]:
        question = reservation.question
        named = {Holder.PERSON: f"{reservation.home} {question.author.id}"}
        return [
            (self._windows[f"{each.holder} {named.get(each.holder, str(question.message.thread))}"], each)
            for each in reservation.budgets
            if each.period is Period.MINUTE
        ]

    def _counters(self, reservation: Reservation, period: Period) -> Sequence[Counted]:
        holders = (Holder.COMMUNITY, Holder.CHANNEL, Holder.PERSON)
        return [self._counter(reservation, holder, period) for holder in holders]

    def _counter(self, reservation: Reservation, holder: Holder, period: Period) -> Counted:
        question = reservation.question
        thread = question.message.thread
        name = {Holder.PERSON: question.author.id, Holder.CHANNEL: thread.channel}.get(holder, "")
        return self._counted[f"{reservation.home} {period.around(reservation.at)[0]} {holder} {name}"]

    def _release(self, hold: Held) -> None:
        if hold.until is not None:
            for counted in hold.counters:
                counted.held = _difference(counted.held, hold.most)
        hold.until = None

    def _check(self) -> None:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")


def _assume(hold: Held) -> None:
    """Count a run of which nobody has said what it cost at what was set aside for it."""
    hold.assumed[hold.run] = hold.most.model_copy(update={"questions": 0})
    for counted in hold.counters:
        counted.spent = _sum(counted.spent, hold.assumed[hold.run])


def _asked(question: Question) -> str:
    return f"{question.message} {question.revision}"


def _tired(budget: Budget, reservation: Reservation, *, is_passing: bool) -> Reached:
    until = reservation.at + SOON if is_passing else budget.period.around(reservation.at)[1]
    return Reached(budget, until, is_passing=is_passing, is_fruitless=not is_passing)


def _sum(one: Cost, other: Cost) -> Cost:
    return Cost(
        questions=one.questions + other.questions,
        tokens=one.tokens + other.tokens,
        money=round(one.money + other.money, 6),  # in millionths
        searches=one.searches + other.searches,
    )


def _difference(one: Cost, other: Cost) -> Cost:
    return Cost(
        questions=max(one.questions - other.questions, 0),
        tokens=max(one.tokens - other.tokens, 0),
        money=max(round(one.money - other.money, 6), 0.0),
        searches=one.searches,  # of which nothing is set aside
    )
