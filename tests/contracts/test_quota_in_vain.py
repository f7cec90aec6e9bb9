"""What every quota promises of runs that cost something and lead to no question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.messages import spending_lines
from core.model import SOON, BudgetAlert, Cost, Holder, Period, Reached, Spending
from tests.contracts.test_quota import EACH_DAY, HOME, MIDNIGHT, ONE, Gate, by, gate_fixture

__all__ = ["gate_fixture"]


async def tries(gate: Gate, number: int, spent: Cost, *, name: str = "ada", is_quiet: bool = False) -> Reached | None:
    """Let a run within the limit of each day cost so much, if there is room for it."""
    run = replace(gate.run(by(name, number), EACH_DAY), patience=1 if is_quiet else 2)
    if (reached := await gate.quota.reserve(run)) is None:
        await gate.quota.settle(run, spent)
    return reached


@pytest.mark.promise("crash-safe")
async def test_what_is_set_aside_for_earlier_words_of_a_question_ends_with_them(gate: Gate) -> None:
    """Whoever was at them may be gone; it counts as spent, until somebody says so late."""
    limit = EACH_DAY.model_copy(update={"most": 2})
    lost = await gate.begins(by("ada", 1), limit, most=Cost(questions=1, tokens=900))
    edited = await gate.begins(by("ada", 1, revision=5), limit, most=Cost(questions=1, tokens=900))
    other = await gate.quota.would_reach(gate.run(by("ada", 2), limit))
    assumed = await gate.used()
    for run in (edited, lost):
        await gate.quota.settle(run, Cost(questions=int(run is edited), tokens=100))

    assert (other, assumed) == (None, (Cost(tokens=900),) * 2)
    assert await gate.used() == (Cost(questions=1, tokens=200),) * 2


@pytest.mark.promise("bounded-asking")
async def test_runs_that_cost_something_and_led_to_no_question_are_bounded_too(gate: Gate) -> None:
    """By as many as may be asked, and twice as many where somebody asks; nobody counts them as questions."""
    fruitless = [await tries(gate, number, Cost(tokens=5)) for number in range(7)]
    quiet = [await tries(gate, number, Cost(tokens=5), name="bob", is_quiet=True) for number in range(4)]
    asked = [await tries(gate, 9, ONE, name="bob"), await tries(gate, 0, ONE, name="eve")]
    spent = await gate.quota.spent(HOME, gate.at, person_id="ada")

    end = Reached(EACH_DAY, MIDNIGHT, is_fruitless=True)
    assert fruitless == [None] * 6 + [end]
    assert quiet == [None] * 3 + [end]
    assert asked == [None, None]
    assert (spent[Holder.PERSON, Period.DAY], (await gate.used())[0].questions) == (Cost(tokens=30), 2)


async def test_moderators_hear_once_of_each_limit_of_what_is_in_vain(gate: Gate) -> None:
    """That of what people say among themselves, and that of all; as the end of a budget, each day anew."""
    of_all = EACH_DAY.model_copy(update={"holder": Holder.COMMUNITY})

    async def heard(numbers: range, patience: int) -> list[tuple[BudgetAlert, ...]]:
        found = list[tuple[BudgetAlert, ...]]()
        for number in numbers:
            run = replace(gate.run(by(str(number), number), of_all), patience=patience)
            if (reached := await gate.quota.reserve(run)) is None:
                assert await gate.quota.settle(run, Cost(tokens=5)) == []
            found.append(reached.alerts if reached else ())
        return found

    quiet, asked = await heard(range(5), 1), await heard(range(5, 10), 2)
    looked = await gate.quota.would_reach(gate.run(by("eve", 1), of_all))
    still = await heard(range(11, 13), 1)

    assert quiet == [(), (), (), (BudgetAlert(of_all, 100, MIDNIGHT, in_vain=1),), ()]
    assert asked == [(), (), (), (BudgetAlert(of_all, 100, MIDNIGHT, in_vain=2),), ()]
    assert looked == Reached(of_all, MIDNIGHT, is_fruitless=True)
    assert still == [(), ()]


@pytest.mark.promise("bounded-asking")
async def test_what_cost_nothing_or_was_a_question_is_not_among_them(gate: Gate) -> None:
    """While one runs nobody knows yet, and another may be tried soon."""
    free = [await tries(gate, number, Cost(), is_quiet=True) for number in range(5)]
    wasted = [await tries(gate, number, Cost(tokens=1), is_quiet=True) for number in (5, 6)]
    running = await gate.begins(by("ada", 7), EACH_DAY)
    beside = await tries(gate, 8, Cost(tokens=1), is_quiet=True)
    await gate.quota.settle(running, ONE)
    after = [await tries(gate, number, Cost(tokens=1), is_quiet=True) for number in (9, 10)]

    assert (free, wasted) == ([None] * 5, [None] * 2)
    assert beside == Reached(EACH_DAY, gate.at + SOON, is_passing=True)
    assert after == [None, Reached(EACH_DAY, MIDNIGHT, is_fruitless=True)]


@pytest.mark.promise("spending-is-known")
async def test_searches_that_somebody_bills_are_counted_whatever_they_cost(gate: Gate) -> None:
    """Also those that led to no question, which are bounded as all that costs something."""
    searched = Cost(searches=2)
    fruitless = [await tries(gate, number, searched, is_quiet=True) for number in range(4)]
    asked = await tries(gate, 9, ONE + searched)
    spent = await gate.quota.spent(HOME, gate.at, person_id="ada")

    assert fruitless == [None] * 3 + [Reached(EACH_DAY, MIDNIGHT, is_fruitless=True)]
    assert (asked, spent[Holder.PERSON, Period.DAY]) == (None, Cost(questions=1, searches=8))
    assert await gate.used() == (Cost(questions=1, searches=8),) * 2
    line = "Used today: 1 question and 8 paid searches."
    assert next(spending_lines(Spending({Period.DAY: spent[Holder.COMMUNITY, Period.DAY]}))) == line


@pytest.mark.promise("crash-safe")
async def test_a_run_of_which_nobody_says_what_it_cost_is_among_them(gate: Gate) -> None:
    """Until it is said, however late; whoever takes a question over makes no other of it."""
    asked = [replace(gate.run(by("ada", number), EACH_DAY), patience=1) for number in (1, 1, 2, 3)]
    begun = [await gate.quota.reserve(run) for run in asked]
    await gate.after(16 * 60)
    full = await tries(gate, 4, ONE, is_quiet=True)
    await gate.quota.settle(asked[-1], ONE)

    assert begun == [None] * 4
    assert full == Reached(EACH_DAY, MIDNIGHT, is_fruitless=True)
    assert await tries(gate, 4, ONE, is_quiet=True) is None
