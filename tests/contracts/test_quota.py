"""What every quota promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from redis.asyncio import Redis

from adapters.redis.community import RedisQuota
from core.model import Person, Question
from core.ports import Quota
from tests.builders import question
from tests.fakes.clock import Clock
from tests.fakes.quota import MemoryQuota
from tests.fixtures.redis import clean, place
from tests.past import let_pass

PER_PERSON = (3, 60.0)
PER_THREAD = (5, 300.0)


@dataclass
class Gate:
    """A quota, and its clock."""

    quota: Quota
    clock: Clock | Redis

    async def after(self, seconds: float) -> None:
        """Let time pass."""
        if isinstance(self.clock, Clock):
            self.clock.advance(seconds)
        else:
            await let_pass(self.clock, seconds)

    async def spends(self, *asked: Question) -> list[float]:
        """Give the seconds to wait for each, to the nearest ten: a server's clock goes on meanwhile; none are none."""
        waits = [await self.quota.spend(each) for each in asked]
        return [round(wait, -1) or wait for wait in waits]


@pytest.fixture(name="gate", params=["memory", "redis", "cluster"])
async def _gate(request: pytest.FixtureRequest) -> AsyncIterator[Gate]:
    """Give one implementation after the other."""
    if request.param == "memory":
        clock = Clock()
        yield Gate(MemoryQuota(per_person=PER_PERSON, per_thread=PER_THREAD, now=clock.now), clock)
        return
    async with clean(place(request.param, request).url) as client:
        yield Gate(RedisQuota(client, per_person=PER_PERSON, per_thread=PER_THREAD), client)


def by(person: str, number: int, *, in_thread: str | None = None, revision: int = 0) -> Question:
    """Somebody's question, in a thread of its own if no other is named."""
    name = f"{person}-{number}"
    asked = question(id=name, in_thread=in_thread or name, revision=revision)
    return asked.model_copy(update={"author": Person(id=person)})


@pytest.mark.promise("bounded-asking")
async def test_a_person_may_ask_so_often_and_then_has_to_wait(gate: Gate) -> None:
    """Others may go on, and what was refused was not counted."""
    assert await gate.spends(*(by("ada", number) for number in range(5))) == [0, 0, 0, 60, 60]
    assert await gate.spends(by("{bob}: ", 1)) == [0]
    await gate.after(60)
    assert await gate.spends(*(by("ada", number) for number in range(3, 7))) == [0, 0, 0, 60]


@pytest.mark.promise("bounded-asking")
async def test_nobody_has_to_wait_for_longer_than_the_window(gate: Gate) -> None:
    """It is told in seconds."""
    waits = [await gate.quota.spend(by("ada", number)) for number in range(4)]

    assert waits[:3] == [0, 0, 0]
    assert 50 < waits[3] <= 60


@pytest.mark.promise("bounded-asking")
async def test_a_thread_is_asked_so_often(gate: Gate) -> None:
    """Whoever asks there."""
    asked = [by(str(number), number, in_thread="busy") for number in range(6)]

    assert await gate.spends(*asked) == [0, 0, 0, 0, 0, 300]
    assert await gate.spends(by("5", 9)) == [0]


@pytest.mark.promise("bounded-asking")
async def test_the_window_slides(gate: Gate) -> None:
    """Each question makes room when its own time is over."""
    for number in range(3):
        assert await gate.spends(by("ada", number)) == [0]
        await gate.after(20)

    assert await gate.spends(by("ada", 3)) == [0]
    assert await gate.spends(by("ada", 4)) == [20]


@pytest.mark.promise("bounded-asking")
async def test_the_longer_wait_counts(gate: Gate) -> None:
    """For whoever asks too much in a thread that is asked too much."""
    for number in range(3):
        await gate.spends(by("ada", number, in_thread="busy"))
    await gate.spends(*(by(name, 1, in_thread="busy") for name in ("bob", "eve")))

    assert await gate.spends(by("ada", 4, in_thread="busy")) == [300]
    assert await gate.spends(by("ada", 4)) == [60]


@pytest.mark.promise("asked-once")
async def test_a_question_that_is_tried_again_is_counted_once(gate: Gate) -> None:
    """Also where there is no room for another; its edit is another question."""
    first = by("ada", 1)
    assert await gate.spends(first, first, by("ada", 2), by("ada", 3)) == [0, 0, 0, 0]
    assert await gate.spends(first, by("ada", 1, revision=1)) == [0, 60]


async def test_a_question_that_only_the_thread_remembers_is_counted_once(gate: Gate) -> None:
    """The windows are not of the same length."""
    asked = [by("ada", number, in_thread="busy") for number in range(3)]
    await gate.spends(*asked)
    await gate.after(100)

    assert await gate.spends(*asked) == [0, 0, 0]
    assert await gate.spends(*(by("ada", number, in_thread="busy") for number in (4, 5, 6))) == [0, 0, 200]


@pytest.mark.promise("bounded-asking")
async def test_of_many_questions_at_once_as_many_as_are_allowed_pass(gate: Gate) -> None:
    """Not one more."""
    waits = await asyncio.gather(*(gate.quota.spend(by("ada", number)) for number in range(10)))

    assert sum(wait == 0 for wait in waits) == 3
