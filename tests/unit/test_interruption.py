"""Work that ends as soon as somebody asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.model import REPLACED, Cancellation, Interruption, ended_by, until

STOP = frozenset({Interruption.STOPPED})


class Numbers:
    """Counts to three and then says nothing; knows whether it was closed."""

    def __init__(self, *, ends: bool = False) -> None:
        self.is_silent = asyncio.Event()
        self.is_closed = False
        self._ends = ends

    async def count(self) -> AsyncGenerator[int, None]:
        """Yield 1, 2, 3."""
        try:
            for number in (1, 2, 3):
                yield number
            self.is_silent.set()
            if not self._ends:
                await asyncio.Event().wait()
        finally:
            self.is_closed = True


async def test_without_a_reason_everything_is_passed_on() -> None:
    """To the end."""
    numbers = Numbers(ends=True)

    assert [number async for number in until(numbers.count(), Cancellation(), STOP)] == [1, 2, 3]
    assert numbers.is_closed


async def test_waiting_for_the_next_is_broken_off() -> None:
    """What came before was passed on, and the source is closed."""
    numbers, cancelled = Numbers(), Cancellation()

    async def collect() -> list[int]:
        return [number async for number in until(numbers.count(), cancelled, STOP)]

    collecting = asyncio.create_task(collect())
    await numbers.is_silent.wait()
    cancelled.set(Interruption.STOPPED)

    assert await collecting == [1, 2, 3]
    assert numbers.is_closed


async def test_what_is_done_with_an_item_is_not_broken_off() -> None:
    """Whoever draws it finishes, and then there is no more."""
    numbers, cancelled = Numbers(), Cancellation()
    drawn: list[int] = []
    async for number in until(numbers.count(), cancelled, STOP):
        cancelled.set(Interruption.STOPPED)
        await asyncio.sleep(0)
        drawn.append(number)

    assert (drawn, numbers.is_closed) == ([1], True)


async def test_another_reason_changes_nothing() -> None:
    """It is for somebody else."""
    cancelled = Cancellation()
    cancelled.set(Interruption.EDITED)

    assert [number async for number in until(Numbers(ends=True).count(), cancelled, STOP)] == [1, 2, 3]


async def test_a_reason_that_was_there_before_ends_the_block_where_it_first_waits() -> None:
    """The work goes on behind it."""
    cancelled = Cancellation()
    cancelled.set(Interruption.DELETED)
    steps = ["before"]
    async with ended_by(cancelled, REPLACED):
        steps.append("inside")
        await asyncio.Event().wait()
        steps.append("never")

    assert steps == ["before", "inside"]


async def test_a_second_reason_ends_it_no_second_time() -> None:
    """While the first is being obeyed."""
    cancelled = Cancellation()

    async def work() -> str:
        async with ended_by(cancelled, REPLACED):
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set(Interruption.LOST)
                await asyncio.sleep(0)
        return "done"

    working = asyncio.create_task(work())
    await asyncio.sleep(0)
    cancelled.set(Interruption.EDITED)

    assert await working == "done"


async def test_a_time_out_of_the_work_itself_is_an_error() -> None:
    """It has nothing to do with the reasons."""
    with pytest.raises(TimeoutError, match="too slow"):
        async with ended_by(Cancellation(), REPLACED):
            raise TimeoutError("too slow")


async def test_whoever_is_cancelled_is_cancelled() -> None:
    """From outside, as ever."""

    async def work() -> None:
        async with ended_by(Cancellation(), REPLACED):
            await asyncio.Event().wait()

    working = asyncio.create_task(work())
    await asyncio.sleep(0)
    working.cancel()
    await asyncio.wait({working})

    assert working.cancelled()
