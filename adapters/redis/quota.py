"""How much is asked, in Redis: what is set aside for a question before a model is asked, and what it has cost after.

`scripts/quota.lua` says how it is stored. Who asked is there under a pseudonym, and only until a day or month is over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from adapters.redis.connection import ScriptRunner
from core.model import (
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

if TYPE_CHECKING:
    from redis.asyncio import Redis

# The beginning of the keys; what is in braces stays together on one node of a cluster.
QUOTA = "footnote:quota:{{{}}}:"
MEASURES = tuple(Measure)  # in the order of the numbers that are stored
CALENDAR = (Period.DAY, Period.MONTH)
COUNTED = (Holder.COMMUNITY, Holder.CHANNEL, Holder.PERSON)  # in each of them, whether or not there is a limit yet
MINUTE = timedelta(minutes=1)
HELD = timedelta(minutes=15)  # since a question was begun, or taken over: longer than an answer usually may take
ENDED = timedelta(minutes=10)  # in which what an answer has cost is settled, once its time is over
KEPT = timedelta(days=2)  # what a question has cost, and what was spent in a period that is over
MILLISECOND = timedelta(milliseconds=1)
MILLION = 1_000_000  # money is stored in millionths
MOST_MARKS = 5  # in a minute


class RedisQuota:
    """Keeps what is asked; each step is one script, whatever the number of limits.

    *pseudonym* returns the name under which a person is counted. What is set aside for a question outlives the
    *longest* answer.
    """

    def __init__(self, client: Redis, *, pseudonym: Callable[[str], str], longest: timedelta = timedelta(0)) -> None:
        self._pseudonym = pseudonym
        self._held = max(HELD, longest + ENDED) // MILLISECOND
        self._run = ScriptRunner(client, "quota")

    async def reserve(self, reservation: Reservation, *, is_meant: bool = True) -> Reached | None:
        """Set aside what a question may cost, within all limits or not at all; or only look, unless it *is_meant*."""
        budgets, question, at, home = reservation.budgets, reservation.question, reservation.at, reservation.home
        windows = [each for each in budgets if each.period is Period.MINUTE]
        limited = {each.period for each in budgets}
        spans = {each: span for each, span in _spans(at).items() if is_meant or each in limited}
        minute = MINUTE // MILLISECOND
        reached, news = await self._run(
            "reserve",
            QUOTA.format(home),
            asked=_asked(question),
            run=reservation.run,
            most=json.dumps(_numbers(reservation.most)),
            windows=json.dumps([(self._name(home, question, each.holder), each.most, minute) for each in windows]),
            periods=json.dumps([self._period(reservation, period, *span) for period, span in spans.items()]),
            patience=reservation.patience,
            life=self._held,
            kept=KEPT // MILLISECOND,
            is_meant=is_meant,
        )
        named = {name: period for period, (name, _) in spans.items()}
        alerts = tuple(_alert(reservation, named[str(name, "ascii")], *each) for name, *each in news)
        ends = list[Reached]()
        for kind, first, second, third in cast("Sequence[tuple[bytes, int, int, int]]", reached):
            if kind == b"window":
                ends.append(Reached(windows[first - 1], at + timedelta(milliseconds=second), alerts))
                continue
            period, holder = list(spans)[first - 1], COUNTED[second - 1]
            budget, is_passing = _budget(budgets, holder, period, third), kind == b"held"
            until = at + SOON if is_passing else spans[period][1]
            ends.append(Reached(budget, until, alerts, is_passing, is_fruitless=kind == b"fruitless"))
        return max(ends, key=lambda end: end.until, default=None)

    async def would_reach(self, reservation: Reservation) -> Reached | None:
        """Look without setting anything aside."""
        return await self.reserve(reservation, is_meant=False)

    async def settle(self, reservation: Reservation, spent: Cost) -> Sequence[BudgetAlert]:
        """Count what a run has cost, and give free what was set aside for it."""
        spans = _spans(reservation.at)
        named = {name: period for period, (name, _) in spans.items()}
        limits = {name: _limits(reservation.budgets, Holder.COMMUNITY, period) for name, period in named.items()}
        news = await self._run(
            "settle_cost",
            QUOTA.format(reservation.home),
            asked=_asked(reservation.question),
            run=reservation.run,
            spent=json.dumps(_numbers(spent)),
            limits=json.dumps(limits),
        )
        return [_alert(reservation, named[str(name, "ascii")], *each) for name, *each in news]

    async def give_up(self, reservation: Reservation) -> None:
        """Give free what is set aside, whatever run has it."""
        await self._run("give_up", QUOTA.format(reservation.home), asked=_asked(reservation.question))

    async def turn_away(self, question: Question, reached: Reached, at: datetime) -> Telling:
        """Note that somebody is told, and return how."""
        left, home = max((reached.until - at) // MILLISECOND, 1), question.message.thread.home
        holder = reached.budget.holder
        told = await self._run(
            "turn_away",
            QUOTA.format(home),
            who=f"{self._person(home, question.author.id)} {self._name(home, question, holder)} {reached.name}",
            asked=_asked(question),
            left=left,
            most=MOST_MARKS,
            length=MINUTE // MILLISECOND,
        )
        return Telling(str(told, "ascii"))

    async def spent(
        self, home: WorkspaceRef, at: datetime, *, person_id: str = "", channel: str = ""
    ) -> Mapping[tuple[Holder, Period], Cost]:
        """Read what was spent in the day and the month around a moment."""
        holders = {Holder.COMMUNITY: "community"}
        if person_id:
            holders[Holder.PERSON] = self._person(home, person_id)
        if channel:
            holders[Holder.CHANNEL] = _channel(channel)
        names, fields = [name for name, _ in _spans(at).values()], list(holders.values())
        found = await self._run("spent", QUOTA.format(home), periods=json.dumps(names), holders=json.dumps(fields))
        return {
            (holder, period): Cost(
                questions=numbers[0], tokens=numbers[1], money=numbers[2] / MILLION, searches=numbers[-1]
            )
            for period, of_period in zip(CALENDAR, found, strict=True)
            for holder, numbers in zip(holders, of_period, strict=True)
        }

    def _period(self, reservation: Reservation, period: Period, name: str, end: datetime) -> tuple[object, ...]:
        left = (end - reservation.at + KEPT) // MILLISECOND
        names = {each: self._name(reservation.home, reservation.question, each) for each in COUNTED}
        return name, left, [(field, _limits(reservation.budgets, each, period)) for each, field in names.items()]

    def _name(self, home: WorkspaceRef, question: Question, holder: Holder) -> str:
        thread = question.message.thread
        match holder:
            case Holder.PERSON:
                return self._person(home, question.author.id)
            case Holder.THREAD:
                return f"thread:{thread}"
            case Holder.CHANNEL:
                return _channel(thread.channel)
            case Holder.COMMUNITY:
                return "community"

    def _person(self, home: WorkspaceRef, person_id: str) -> str:
        return f"person:{self._pseudonym(f'{home}:{person_id}')}"


def _asked(question: Question) -> str:
    return f"{question.message} {question.revision}"


def _channel(channel: str) -> str:
    return f"channel:{quote(channel, safe='')}"


def _spans(at: datetime) -> Mapping[Period, tuple[str, datetime]]:
    return {period: period.around(at) for period in CALENDAR}


def _numbers(cost: Cost) -> tuple[int, ...]:
    return cost.questions, cost.tokens, round(cost.money * MILLION), cost.searches


def _limits(budgets: Sequence[Budget], holder: Holder, period: Period) -> list[int]:
    """Return the limit of each measure, in the numbers that are stored; -1 where there is none."""
    most = {each.measure: each.most for each in budgets if each.holder is holder and each.period is period}
    scale = {Measure.MONEY: MILLION}
    return [round(most[each] * scale.get(each, 1)) if each in most else -1 for each in MEASURES]


def _budget(budgets: Sequence[Budget], holder: Holder, period: Period, number: int) -> Budget:
    wanted = holder, period, MEASURES[number - 1]
    return next(each for each in budgets if (each.holder, each.period, each.measure) == wanted)


def _alert(reservation: Reservation, period: Period, number: int, percent: int) -> BudgetAlert:
    """Return what moderators hear; beyond the measures it is how many times as many runs led to no question."""
    is_vain, until = number > len(MEASURES), period.around(reservation.at)[1]
    budget = _budget(reservation.budgets, Holder.COMMUNITY, period, 1 if is_vain else number)
    return BudgetAlert(budget, 100, until, in_vain=percent) if is_vain else BudgetAlert(budget, percent, until)
