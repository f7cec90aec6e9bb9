"""What holds of budgets whatever happens: workers die, others take over, and some say late what an answer has cost."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random

import pytest

from core.model import Budget, Cost, Holder, Measure, Period, Reservation
from tests.contracts.test_quota import HOME, Gate, by, gate_fixture
from tests.portion import examples

__all__ = ["gate_fixture"]

STEPS = 60
HELD = timedelta(minutes=15)
PEOPLE = ("ada", "bob", "eve")
BUDGETS = (
    Budget(holder=Holder.COMMUNITY, measure=Measure.TOKENS, most=3_000),
    Budget(holder=Holder.COMMUNITY, most=25),
    Budget(holder=Holder.CHANNEL, measure=Measure.TOKENS, most=2_500),
    Budget(holder=Holder.PERSON, most=9),
    Budget(holder=Holder.PERSON, measure=Measure.TOKENS, most=1_200),
)


@dataclass
class Hold:
    """What is set aside for a question until then, and the run for which."""

    run: Reservation
    most: Cost
    until: datetime


@dataclass
class History:
    """What has happened, as somebody sees it who sees everything; *gate* is what only hears of it."""

    gate: Gate
    chance: Random
    holds: dict[int, Hold] = field(default_factory=dict[int, Hold])
    open: list[tuple[int, Reservation]] = field(default_factory=list[tuple[int, Reservation]])
    counted: set[int] = field(default_factory=set[int])
    spent: dict[tuple[str, Measure], int] = field(default_factory=dict[tuple[str, Measure], int])
    fruitless: dict[str, int] = field(default_factory=dict[str, int])
    undecided: dict[int, Reservation] = field(default_factory=dict[int, Reservation])
    assumed: dict[str, int] = field(default_factory=dict[str, int])
    asked: int = 0

    @property
    def running(self) -> Collection[Reservation]:
        """Give the runs that may still spend something, as far as anybody knows."""
        return {
            run.run: run for run in (*(run for _, run in self.open), *(hold.run for hold in self.holds.values()))
        }.values()

    async def begins(self, number: int) -> None:
        """Let a worker begin with a question, or go on with one that another worker had."""
        most = Cost(questions=1, tokens=self.chance.choice((100, 400, 900)))
        run = self.gate.run(by(_person(number), number), *BUDGETS, most=most)
        run = replace(run, patience=1 + number % 2)
        for name in [name for name, hold in self.holds.items() if hold.until <= self.gate.at]:
            self.assume(name, self.holds.pop(name))
        wanted = most.model_copy(update={"questions": int(number not in self.counted)})
        is_held = number in self.holds
        run = replace(run, most=self.holds[number].most) if is_held else run  # which is what it may spend
        fits = is_held or all(self.fits(number, budget, wanted, run.patience) for budget in BUDGETS)

        assert (await self.gate.quota.reserve(run) is None) == fits
        if is_held:
            self.assume(number, self.holds[number])
        if fits:
            self.open.append((number, run))
            self.holds[number] = Hold(run, self.holds[number].most if is_held else wanted, self.gate.at + HELD)
            if not is_held:
                self.add_fruitless(number, 1)
            if not is_held or number in self.undecided:
                self.undecided[number] = run

    def add_fruitless(self, number: int, more: int) -> None:
        """Count a run that has led to no question yet, or no longer."""
        for holder in (Holder.COMMUNITY, Holder.CHANNEL, Holder.PERSON):
            name = _name(holder, _person(number))
            self.fruitless[name] = self.fruitless.get(name, 0) + more

    def assume(self, number: int, hold: Hold) -> None:
        """Count a run that is gone at what was set aside for it, until it says what it has cost."""
        self.assumed[hold.run.run] = hold.most.tokens
        self.spend(number, tokens=hold.most.tokens)

    def spend(self, number: int, *, tokens: int, questions: int = 0) -> None:
        """Count what was spent."""
        for holder in (Holder.COMMUNITY, Holder.CHANNEL, Holder.PERSON):
            for measure, more in ((Measure.QUESTIONS, questions), (Measure.TOKENS, tokens)):
                name = _name(holder, _person(number))
                self.spent[name, measure] = self.spent.get((name, measure), 0) + more

    def fits(self, number: int, budget: Budget, wanted: Cost, patience: int) -> bool:
        """Say whether a budget has room: for all that is set aside, or for one alone as long as anything is left."""
        more, name = wanted.of(budget.measure), _name(budget.holder, _person(number))
        spent = self.spent.get((name, budget.measure), 0)
        if budget.measure is Measure.QUESTIONS and self.fruitless.get(name, 0) >= patience * budget.most:
            return False
        others = [hold.most.of(budget.measure) for other, hold in self.holds.items() if _counts(budget, number, other)]
        return not more or (spent < budget.most and (not sum(others) or spent + sum(others) + more <= budget.most))

    async def settles(self) -> None:
        """Let one of those that began say what its answer has cost, however late; it may say so twice."""
        number, run = self.open.pop(self.chance.randrange(len(self.open)))
        cost = Cost(questions=self.chance.randint(0, 1), tokens=self.chance.randint(0, run.most.tokens))
        for _ in range(self.chance.randint(1, 2)):
            await self.gate.quota.settle(run, cost)
        if self.undecided.get(number) is run:
            del self.undecided[number]
            self.add_fruitless(number, -int(cost.questions > 0 or cost == Cost()))
        questions = cost.questions if number not in self.counted else 0
        self.counted |= {number} if questions else set()
        self.spend(number, tokens=cost.tokens - self.assumed.pop(run.run, 0), questions=questions)
        if number in self.holds and self.holds[number].run is run:
            del self.holds[number]

    async def goes_on(self) -> None:
        """Let one thing happen."""
        match self.chance.choice(("asks", "asks", "goes on", "taken over", "settles", "settles", "dies", "passes")):
            case "goes on" if self.asked:
                await self.begins(self.chance.randrange(self.asked))
            case "taken over" if self.holds:
                await self.begins(self.chance.choice([*self.holds]))
            case "settles" if self.open:
                await self.settles()
            case "dies" if self.open:
                self.open.pop(self.chance.randrange(len(self.open)))
            case "passes":
                await self.gate.after(self.chance.choice((60, 240, 960)))
            case _:
                self.asked += 1
                await self.begins(self.asked - 1)


def _person(number: int) -> str:
    return PEOPLE[number % len(PEOPLE)]


def _name(holder: Holder, person: str) -> str:
    return person if holder is Holder.PERSON else holder


def _counts(budget: Budget, number: int, other: int) -> bool:
    """Say whether what is set aside for another question counts for the budget of this one."""
    return budget.holder is not Holder.PERSON or _person(other) == _person(number)


@pytest.mark.promise("bounded-asking")
@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("seed", range(examples(40)))
async def test_a_budget_is_never_exceeded_by_more_than_what_runs_at_the_moment(gate: Gate, seed: int) -> None:
    """Whoever dies, comes late or says it twice: what fits is let in and nothing else, and all that was said counts."""
    history = History(gate, Random(seed))
    running = {budget: 0.0 for budget in BUDGETS if budget.holder is not Holder.PERSON}
    for _ in range(STEPS):
        for budget in running:
            spent = history.spent.get((budget.holder, budget.measure), 0)
            if spent < budget.most:  # from then on, nothing new is let in
                running[budget] = sum(run.most.of(budget.measure) for run in history.running)
        before = len(history.open)
        await history.goes_on()
        for budget, most in running.items():
            begun = history.open[-1][1].most.of(budget.measure) if len(history.open) > before else 0.0
            running[budget] = most + begun
            assert history.spent.get((budget.holder, budget.measure), 0) <= budget.most + running[budget]

    for person in PEOPLE:
        found = await gate.quota.spent(HOME, gate.at, person_id=person, channel="c")
        for holder in (Holder.COMMUNITY, Holder.CHANNEL, Holder.PERSON):
            name, cost = _name(holder, person), found[holder, Period.DAY]
            known = [history.spent.get((name, measure), 0) for measure in (Measure.QUESTIONS, Measure.TOKENS)]
            assert [cost.questions, cost.tokens] == known
