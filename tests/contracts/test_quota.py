"""What every quota promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count, product

import pytest
from redis.asyncio import Redis

from adapters.redis.quota import RedisQuota
from core.model import (
    SOON,
    Budget,
    BudgetAlert,
    Cost,
    Holder,
    Measure,
    Period,
    Person,
    Question,
    Reached,
    Reservation,
    Telling,
    WorkspaceRef,
)
from core.ports import Quota
from tests.builders import NOON, question
from tests.fakes.clock import Clock
from tests.fakes.quota import MemoryQuota
from tests.fixtures.redis import all_keys, clean, place
from tests.past import let_pass

HOME = WorkspaceRef(platform="test", workspace="w")
ONE = Cost(questions=1)
PER_MINUTE = (
    Budget(holder=Holder.PERSON, period=Period.MINUTE, most=3),
    Budget(holder=Holder.THREAD, period=Period.MINUTE, most=5),
)
EACH_DAY = Budget(holder=Holder.PERSON, most=3)
ALL_DAY = Budget(holder=Holder.COMMUNITY, most=10)
ALL_MONTH = Budget(holder=Holder.COMMUNITY, period=Period.MONTH, most=12)
TOKENS = Budget(holder=Holder.COMMUNITY, measure=Measure.TOKENS, most=1_000)
MIDNIGHT = datetime(2026, 1, 2, tzinfo=NOON.tzinfo)


@dataclass
class Gate:
    """A quota, its clock, and the day on which it is asked."""

    quota: Quota
    clock: Clock | Redis
    at: datetime = NOON
    runs: count[int] = field(default_factory=count)

    async def after(self, seconds: float) -> None:
        """Let time pass."""
        self.at += timedelta(seconds=seconds)
        if isinstance(self.clock, Clock):
            self.clock.advance(seconds)
        else:
            await let_pass(self.clock, seconds)

    def run(self, asked: Question, *budgets: Budget, most: Cost = ONE) -> Reservation:
        """Name a run of a question."""
        return Reservation(question=asked, run=str(next(self.runs)), most=most, budgets=budgets, at=self.at)

    async def begins(self, asked: Question, *budgets: Budget, most: Cost = ONE) -> Reservation:
        """Set aside what a question may cost, for which there has to be room."""
        run = self.run(asked, *budgets, most=most)
        assert await self.quota.reserve(run) is None
        return run

    async def asks(self, asked: Question, *budgets: Budget, spent: Cost = ONE) -> Reached | None:
        """Ask a question and have it answered, if there is room for it."""
        run = self.run(asked, *budgets, most=spent)
        if (reached := await self.quota.reserve(run)) is None:
            await self.quota.settle(run, spent)
        return reached

    async def waits(self, *asked: Question) -> list[float]:
        """Give the seconds to wait for each, to the nearest ten: a server's clock goes on meanwhile; none are none."""
        found = [await self.asks(each, *PER_MINUTE) for each in asked]
        return [round((each.until - self.at).total_seconds(), -1) if each else 0 for each in found]

    async def used(self) -> tuple[Cost, Cost]:
        """Give what the community has spent today and this month."""
        spent = await self.quota.spent(HOME, self.at)
        return spent[Holder.COMMUNITY, Period.DAY], spent[Holder.COMMUNITY, Period.MONTH]


@pytest.fixture(name="gate", params=["memory", "redis", "cluster"])
async def gate_fixture(request: pytest.FixtureRequest) -> AsyncIterator[Gate]:
    """Give one implementation after the other."""
    if request.param == "memory":
        clock = Clock()
        yield Gate(MemoryQuota(now=clock.now), clock)
        return
    async with clean(place(request.param, request).url) as client:
        yield Gate(RedisQuota(client, pseudonym=lambda name: name[::-1]), client)


def by(person: str, number: int, *, in_thread: str | None = None, revision: int = 0) -> Question:
    """Somebody's question, in a thread of its own if no other is named."""
    name = f"{person}-{number}"
    asked = question(id=name, in_thread=in_thread or name, revision=revision)
    return asked.model_copy(update={"author": Person(id=person)})


@pytest.mark.promise("bounded-asking")
async def test_a_person_may_ask_so_often_and_then_has_to_wait(gate: Gate) -> None:
    """Others may go on, and what was refused was not counted."""
    assert await gate.waits(*(by("ada", number) for number in range(5))) == [0, 0, 0, 60, 60]
    assert await gate.waits(by("{bob}: ", 1)) == [0]
    await gate.after(60)
    assert await gate.waits(*(by("ada", number) for number in range(3, 7))) == [0, 0, 0, 60]


@pytest.mark.promise("bounded-asking")
async def test_a_thread_is_asked_so_often(gate: Gate) -> None:
    """Whoever asks there."""
    asked = [by(str(number), number, in_thread="busy") for number in range(6)]

    assert await gate.waits(*asked) == [0, 0, 0, 0, 0, 60]
    assert await gate.waits(by("5", 9)) == [0]


@pytest.mark.promise("bounded-asking")
async def test_the_minute_slides(gate: Gate) -> None:
    """Each question makes room when its own time is over."""
    for number in range(3):
        assert await gate.waits(by("ada", number)) == [0]
        await gate.after(20)

    assert await gate.waits(by("ada", 3)) == [0]
    assert await gate.waits(by("ada", 4)) == [20]


@pytest.mark.promise("asked-once")
async def test_a_question_that_is_tried_again_is_counted_once(gate: Gate) -> None:
    """Also where there is no room for another; its edit is another question."""
    first = by("ada", 1)
    assert await gate.waits(first, first, by("ada", 2), by("ada", 3)) == [0, 0, 0, 0]
    assert await gate.waits(first, by("ada", 1, revision=1)) == [0, 60]
    assert await gate.used() == (Cost(questions=3), Cost(questions=3))


@pytest.mark.promise("bounded-asking")
async def test_of_many_questions_at_once_as_many_as_are_allowed_pass(gate: Gate) -> None:
    """Not one more, of the minute and of the day."""
    runs = [gate.run(by("ada", number), PER_MINUTE[0], EACH_DAY, ALL_DAY) for number in range(10)]

    found = await asyncio.gather(*(gate.quota.reserve(run) for run in runs))

    assert sum(reached is None for reached in found) == 3


@pytest.mark.promise("bounded-asking")
async def test_a_budget_lifts_when_its_day_or_month_is_over(gate: Gate) -> None:
    """Of several that are reached, the one counts that lifts last."""
    day = [await gate.asks(by("ada", number), EACH_DAY, ALL_MONTH) for number in range(4)]
    other = [await gate.asks(by("bob", number), EACH_DAY) for number in range(3)]
    await gate.after(12 * 3_600)
    next_day = [await gate.asks(by(f"p{number}", number), EACH_DAY, ALL_MONTH) for number in range(7)]

    assert day == [None, None, None, Reached(EACH_DAY, MIDNIGHT)]
    assert other == [None] * 3
    reached = next_day.pop()
    assert next_day == [None] * 6
    assert reached is not None
    assert (reached.budget, reached.until) == (ALL_MONTH, MIDNIGHT.replace(month=2, day=1))


@pytest.mark.promise("bounded-asking")
async def test_what_may_be_spent_is_set_aside_before_and_the_rest_given_free_after(gate: Gate) -> None:
    """So that questions at the same time do not go beyond a budget together."""
    most = Cost(questions=1, tokens=400)
    first, second = [await gate.begins(by("ada", number), TOKENS, most=most) for number in range(2)]
    third = gate.run(by("ada", 2), TOKENS, most=most)

    full = await gate.quota.reserve(third)
    await gate.quota.settle(first, Cost(questions=1, tokens=150))
    fits = await gate.quota.reserve(third)
    await gate.quota.settle(second, Cost(questions=1, tokens=50))

    assert full == Reached(TOKENS, gate.at + SOON, is_passing=True)
    assert fits is None
    assert await gate.used() == (Cost(questions=2, tokens=200), Cost(questions=2, tokens=200))


@pytest.mark.promise("bounded-asking")
async def test_the_last_question_of_a_limit_counts_once_it_is_answered(gate: Gate) -> None:
    """Until then others may try again soon, and moderators hear of nothing: it is free again if it fails."""
    last = ALL_DAY.model_copy(update={"most": 1})
    failed = await gate.begins(by("ada", 1), last)
    beside = [await gate.quota.reserve(gate.run(by("bob", 1), last))]
    told = [*await gate.quota.settle(failed, Cost())]
    answered = await gate.begins(by("bob", 1), last)
    beside.append(await gate.quota.reserve(gate.run(by("ada", 2), last)))
    told += await gate.quota.settle(answered, ONE)
    after = await gate.quota.reserve(gate.run(by("ada", 2), last))

    assert beside == [Reached(last, gate.at + SOON, is_passing=True)] * 2
    assert told == [BudgetAlert(last, 100, MIDNIGHT)]
    assert after == Reached(last, MIDNIGHT)


@pytest.mark.promise("bounded-asking")
async def test_what_is_charged_to_another_community_counts_there_alone(gate: Gate) -> None:
    """For the person as well, whose questions there count together with it."""
    other = HOME.model_copy(update={"workspace": "other"})
    one = replace(gate.run(by("ada", 1), EACH_DAY, ALL_DAY), charged=other)
    assert await gate.quota.reserve(one) is None
    await gate.quota.settle(one, ONE)
    here, there = [await gate.quota.spent(home, gate.at, person_id="ada") for home in (HOME, other)]
    full = replace(gate.run(by("ada", 2), EACH_DAY.model_copy(update={"most": 1})), charged=other)

    assert (here[Holder.COMMUNITY, Period.DAY], here[Holder.PERSON, Period.DAY]) == (Cost(), Cost())
    assert (there[Holder.COMMUNITY, Period.DAY], there[Holder.PERSON, Period.DAY]) == (ONE, ONE)
    assert await gate.quota.reserve(full) is not None
    assert await gate.quota.reserve(replace(full, charged=None)) is None


@pytest.mark.promise("bounded-asking")
async def test_to_look_sets_nothing_aside(gate: Gate) -> None:
    """It says what would be."""
    looks = [await gate.quota.would_reach(gate.run(by("ada", number), EACH_DAY)) for number in range(5)]
    for number in range(3):
        await gate.asks(by("ada", number), EACH_DAY)

    assert looks == [None] * 5
    assert await gate.quota.would_reach(gate.run(by("ada", 3), EACH_DAY)) == Reached(EACH_DAY, MIDNIGHT)


async def test_as_long_as_something_is_left_one_question_may_be_asked_whatever_it_may_cost(gate: Gate) -> None:
    """So that small budgets can be used up; others wait for it. A budget of nothing allows nothing."""
    dear, none = Cost(questions=1, tokens=5_000), TOKENS.model_copy(update={"most": 0})
    for number, tokens in enumerate((90, 300, 700)):
        run = await gate.begins(by("ada", number), TOKENS, most=dear)
        beside = await gate.quota.reserve(gate.run(by("bob", number), TOKENS, most=dear))
        await gate.quota.settle(run, Cost(questions=1, tokens=tokens))
        assert beside == Reached(TOKENS, gate.at + SOON, is_passing=True)

    assert await gate.quota.reserve(gate.run(by("ada", 3), TOKENS, most=dear)) == Reached(TOKENS, MIDNIGHT)
    assert await gate.quota.reserve(gate.run(by("ada", 3), none, most=dear)) == Reached(none, MIDNIGHT)


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("is_given_up", [False, True])
async def test_what_is_set_aside_ends_if_nobody_says_what_it_has_cost(gate: Gate, *, is_given_up: bool) -> None:
    """By itself or with its question; it counts as spent, until somebody says so late: who does is believed, once."""
    run = await gate.begins(by("ada", 1), TOKENS, most=Cost(questions=1, tokens=900))
    before = await gate.quota.reserve(gate.run(by("ada", 2), TOKENS, most=Cost(questions=1, tokens=900)))
    await (gate.quota.give_up(gate.run(by("ada", 1))) if is_given_up else gate.after(16 * 60))
    after = await gate.quota.would_reach(gate.run(by("ada", 2), TOKENS, most=Cost(questions=1, tokens=900)))
    assumed = await gate.used()
    for _ in range(2):
        await gate.quota.settle(run, Cost(questions=1, tokens=700))

    assert (before is None, after) == (False, None)
    assert assumed == (Cost(tokens=900),) * 2
    assert await gate.used() == (Cost(questions=1, tokens=700),) * 2


@pytest.mark.promise("crash-safe")
async def test_whoever_takes_a_question_over_settles_it(gate: Gate) -> None:
    """The one before counts at what was set aside until it says what it has cost, and gives nothing free."""
    one, budget = by("ada", 1), TOKENS.model_copy(update={"most": 500})
    lost = await gate.begins(one, budget, most=Cost(questions=1, tokens=500))
    await gate.after(60)
    taken = await gate.begins(one, budget, most=Cost(questions=1, tokens=500))
    again = await gate.quota.reserve(taken)
    assumed = await gate.used()
    await gate.quota.settle(lost, Cost(tokens=100))
    meanwhile = await gate.quota.reserve(gate.run(by("ada", 2), budget, most=Cost(questions=1, tokens=100)))
    await gate.quota.settle(taken, Cost(questions=1, tokens=200))

    assert (meanwhile is None, again) == (False, None)
    assert assumed == (Cost(tokens=500),) * 2
    assert await gate.used() == (Cost(questions=1, tokens=300),) * 2
    assert await gate.asks(by("ada", 2), budget, spent=Cost(questions=1, tokens=100)) is None


async def test_what_is_tried_again_costs_what_it_costs_and_is_one_question(gate: Gate) -> None:
    """A failure of ours is none at all."""
    one = by("ada", 1)
    failed = await gate.begins(one, EACH_DAY, TOKENS, most=Cost(questions=1, tokens=100))
    await gate.quota.settle(failed, Cost(tokens=10))
    after_failure = await gate.used()
    for tokens in (20, 30):
        again = await gate.begins(one, EACH_DAY, TOKENS, most=Cost(questions=1, tokens=100))
        await gate.quota.settle(again, Cost(questions=1, tokens=tokens))

    assert after_failure == (Cost(tokens=10),) * 2
    assert await gate.used() == (Cost(questions=1, tokens=60),) * 2


@pytest.mark.promise("bounded-asking")
async def test_what_was_begun_before_midnight_belongs_to_its_day(gate: Gate) -> None:
    """Whenever it ends."""
    await gate.after(12 * 3_600 - 60)
    run = await gate.begins(by("ada", 1), ALL_DAY)
    await gate.after(120)
    await gate.quota.settle(run, ONE)

    assert await gate.used() == (Cost(), ONE)


@pytest.mark.promise("bounded-asking")
async def test_money_is_counted_to_the_millionth(gate: Gate) -> None:
    """However often it is added up."""
    budget = Budget(holder=Holder.COMMUNITY, measure=Measure.MONEY, most=0.003)
    found = [await gate.asks(by("ada", number), budget, spent=Cost(money=0.0001)) for number in range(31)]

    assert found == [None] * 30 + [found[-1]]
    assert found[-1] is not None
    assert (await gate.used())[0].money == pytest.approx(0.003)


async def test_channels_and_people_are_counted_before_they_have_budgets(gate: Gate) -> None:
    """One that is set later holds for the whole day or month."""
    channel, month = Budget(holder=Holder.CHANNEL, most=3), EACH_DAY.model_copy(update={"period": Period.MONTH})
    for number in range(3):
        await gate.asks(by("ada", number))
    found = [await gate.asks(by("ada", 3), each) for each in (channel, EACH_DAY, month)]

    spent = await gate.quota.spent(HOME, gate.at, person_id="ada", channel="c")

    assert [reached and reached.budget for reached in found] == [channel, EACH_DAY, month]
    holders = (Holder.COMMUNITY, Holder.CHANNEL, Holder.PERSON)
    assert spent == dict.fromkeys(product(holders, (Period.DAY, Period.MONTH)), Cost(questions=3))


async def test_moderators_hear_once_that_a_budget_is_nearly_used_up_and_once_that_it_is(gate: Gate) -> None:
    """Each day anew."""
    heard = list[list[BudgetAlert]]()
    for number in range(10):
        run = await gate.begins(by(str(number), 1), ALL_DAY)
        heard.append(list(await gate.quota.settle(run, ONE)))

    refused = [await gate.quota.reserve(gate.run(by("eve", number), ALL_DAY)) for number in range(2)]

    assert heard == [[]] * 7 + [[BudgetAlert(ALL_DAY, 80, MIDNIGHT)], [], [BudgetAlert(ALL_DAY, 100, MIDNIGHT)]]
    assert refused == [Reached(ALL_DAY, MIDNIGHT)] * 2


async def test_a_budget_counts_as_used_up_once_something_is_refused(gate: Gate) -> None:
    """Also where it was lowered to less than what is used; one that was raised since is another."""
    await gate.asks(by("ada", 1), ALL_DAY)
    lower, higher = (ALL_DAY.model_copy(update={"most": most}) for most in (1, 2))

    refused = [await gate.quota.reserve(gate.run(by("eve", number), lower)) for number in range(2)]
    heard = await gate.quota.settle(await gate.begins(by("ada", 2), higher), ONE)

    assert heard == [BudgetAlert(higher, 100, MIDNIGHT)]
    assert refused == [Reached(lower, MIDNIGHT, (BudgetAlert(lower, 100, MIDNIGHT),)), Reached(lower, MIDNIGHT)]


@pytest.mark.promise("bounded-asking")
async def test_whoever_is_at_a_limit_hears_it_once_and_then_by_a_few_marks(gate: Gate) -> None:
    """At most five in a minute; whoever asks more hears nothing until the limit lifts. Others are told too."""
    reached = Reached(EACH_DAY, MIDNIGHT)

    async def told(number: int, name: str = "ada") -> Telling:
        return await gate.quota.turn_away(by(name, number), reached, gate.at)

    first = [await told(number) for number in (1, 2, 3, 4, 1, 2)]
    await gate.after(61)
    later = [await told(number) for number in range(5, 12)]
    await gate.after(61)

    assert first == [Telling.WORDS, *[Telling.MARK] * 3, Telling.WORDS, Telling.MARK]
    assert later == [*[Telling.MARK] * 5, *[Telling.NOTHING] * 2]
    assert await told(12) is Telling.NOTHING
    assert await told(1, "bob") is Telling.WORDS
    raised, busy = Reached(EACH_DAY.model_copy(update={"most": 4}), MIDNIGHT), Reached(PER_MINUTE[1], MIDNIGHT)
    assert await gate.quota.turn_away(by("ada", 13), raised, gate.at) is Telling.WORDS
    threads = [by("ada", number, in_thread=name) for number, name in enumerate("aab")]
    of_threads = [await gate.quota.turn_away(each, busy, gate.at) for each in threads]
    assert of_threads == [Telling.WORDS, Telling.MARK, Telling.WORDS]
    await gate.after(12 * 3_600)
    assert await gate.quota.turn_away(by("ada", 13), Reached(EACH_DAY, MIDNIGHT), gate.at) is Telling.WORDS


async def test_nobody_is_named_and_all_of_a_community_is_on_one_node(gate: Gate) -> None:
    """What is stored holds pseudonyms, and every key has the community as its tag."""
    if isinstance(gate.clock, Clock):
        pytest.skip("memory has no keys")
    await gate.asks(by("ada-lovelace", 1), *PER_MINUTE, EACH_DAY, ALL_DAY)
    await gate.quota.turn_away(by("ada-lovelace", 2), Reached(EACH_DAY, MIDNIGHT), gate.at)

    keys = await all_keys(gate.clock)
    assert len(keys) == 6
    assert all(key.startswith(b"footnote:quota:{test:w}:") for key in keys)
    holders = [name for key in keys if b":spent:" in key for name in await gate.clock.hkeys(key)]
    assert set(holders) == {b"community", b"channel:c", b"person:ecalevol-ada:w:tset", b"told"}
