"""How much may be asked: the budgets of people and places, what a question costs, and how somebody at a limit hears."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import Field

from core.errors import InvalidInput
from core.model.question import Question
from core.model.refs import Value, WorkspaceRef


class Holder(StrEnum):
    """Whom or what a budget is for."""

    PERSON = "person"
    THREAD = "thread"
    CHANNEL = "channel"
    COMMUNITY = "community"


class Measure(StrEnum):
    """What a budget counts; money is in the currency of the prices that are set."""

    QUESTIONS = "questions"
    TOKENS = "tokens"
    MONEY = "money"


class Period(StrEnum):
    """For how long a budget is: a minute slides, and the others are those of the calendar."""

    MINUTE = "minute"
    DAY = "day"
    MONTH = "month"

    def around(self, at: datetime) -> tuple[str, datetime]:
        """Return what the day or the month around a moment is called, and its end, in the time zone of the moment."""
        start = at.replace(hour=0, minute=0, second=0, microsecond=0)
        if self is Period.MONTH:
            start = start.replace(day=1)
            return f"{start:%Y-%m}", (start + timedelta(days=32)).replace(day=1)
        return f"{start:%Y-%m-%d}", start + timedelta(days=1)


FORM = "it looks like: person 100 questions day"


class Budget(Value):
    """So much may be spent by each person, or in each thread, channel or community, in a period."""

    holder: Holder
    measure: Measure = Measure.QUESTIONS
    period: Period = Period.DAY
    most: float = Field(ge=0, le=1e12, allow_inf_nan=False)

    def __str__(self) -> str:
        """Return the words from which it can be read back."""
        return f"{self.holder} {self.most:.15g} {self.measure} {self.period}"

    @property
    def name(self) -> str:
        """What it is a limit of, whatever the limit is."""
        return f"{self.holder} {self.measure} {self.period}"

    @classmethod
    def named(cls, name: str, most: float) -> Budget:
        """Return the budget of a name, with a limit. Raises `InvalidInput`."""
        return cls.parse(" ".join([*name.split()[:1], f"{most:.15g}", *name.split()[1:]]))

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read one that was written, such as `person 100 questions day`. Raises `InvalidInput`."""
        try:
            holder, most, measure, period = text.lower().split()
            return cls(holder=Holder(holder), most=float(most), measure=Measure(measure), period=Period(period))
        except ValueError as error:
            raise InvalidInput(f"{text.strip()!r} is not a budget; {FORM}", field="budget") from error


class Cost(Value):
    """What was asked and paid for; *searches* are those that a service bills, which no budget is for."""

    questions: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    money: float = Field(default=0.0, ge=0)
    searches: int = Field(default=0, ge=0)

    def __add__(self, other: Cost) -> Cost:
        """Sum two."""
        return Cost(
            questions=self.questions + other.questions,
            tokens=self.tokens + other.tokens,
            money=self.money + other.money,
            searches=self.searches + other.searches,
        )

    def of(self, measure: Measure) -> float:
        """Return how much of one measure it is."""
        return {Measure.QUESTIONS: self.questions, Measure.TOKENS: self.tokens, Measure.MONEY: self.money}[measure]


NOTHING_SPENT = Cost()


SOON = timedelta(minutes=1)
"""After which it is worth while to ask again, where others take up what is left of a budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What is set aside for one run of a question: the *most* that it may cost, within all of the *budgets*.

    `run` is a name that no other run has, and `at` the moment in the time zone of the budgets. It is *charged* to the
    community where it was asked unless another is named. A limit of questions lets `patience` times as many runs cost
    something and lead to no question; what people say among themselves takes half of them at most.
    """

    question: Question
    run: str
    most: Cost
    budgets: tuple[Budget, ...]
    at: datetime
    charged: WorkspaceRef | None = None
    patience: int = 2

    @property
    def home(self) -> WorkspaceRef:
        """Whose budgets it counts in."""
        return self.charged or self.question.message.thread.home


@dataclass(frozen=True, slots=True)
class BudgetAlert:
    """A community has used so many percent of a budget, said once for each limit in a period that ends *until* then.

    Or *in vain*: its limit of questions is reached, so many times over, by runs that led to none.
    """

    budget: Budget
    percent: int
    until: datetime
    in_vain: int = 0


@dataclass(frozen=True, slots=True)
class Reached:
    """The budget that leaves no room for a question until a moment; `alerts` are what moderators should hear.

    It *is_passing* where something is left and only set aside for questions that are being answered, and *is_fruitless*
    where a limit of questions is not reached by questions, but by runs that cost something and led to none.
    """

    budget: Budget
    until: datetime
    alerts: tuple[BudgetAlert, ...] = ()
    is_passing: bool = False
    is_fruitless: bool = False

    @property
    def name(self) -> str:
        """What is told once, until it lifts: a limit that was changed since is another."""
        kind = " held" if self.is_passing else " fruitless" if self.is_fruitless else ""
        return f"{self.budget}{kind}"


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """How much of a budget was spent in the period that goes on *until* then."""

    budget: Budget
    spent: float
    until: datetime

    @property
    def left(self) -> float:
        """What may still be spent."""
        return max(self.budget.most - self.spent, 0.0)


@dataclass(frozen=True, slots=True)
class Spending:
    """What a community has spent, the *budgets* that hold there, and how far those are used that can be told."""

    of_community: Mapping[Period, Cost]
    budgets: tuple[Budget, ...] = ()
    uses: tuple[BudgetUse, ...] = ()


class Telling(StrEnum):
    """How somebody is told that a question is not answered."""

    WORDS = "words"
    MARK = "mark"
    NOTHING = "nothing"


def within(operators: Iterable[Budget], moderators: Iterable[Budget]) -> tuple[Budget, ...]:
    """Return the budgets that hold: moderators may set what the operator has not, and lower what they have."""
    found: dict[str, Budget] = {}
    for each in (*operators, *moderators):
        before = found.get(each.name)
        found[each.name] = each if before is None or each.most < before.most else before
    return tuple(found.values())
