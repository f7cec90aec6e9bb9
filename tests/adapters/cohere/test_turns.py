"""How work is spread over the rounds of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

from adapters.cohere.connection import PIECE, Turns


async def test_one_piece_is_done_in_each_round() -> None:
    """Two that work at once take turns, and whoever waits beside them is not held up by more than one piece."""
    turns = Turns()
    done: list[int] = []
    seen: list[int] = []

    def work(numbers: Sequence[int]) -> list[int]:
        done.append(len(numbers))
        return [number + 1 for number in numbers]

    async def look() -> None:
        while True:
            seen.append(len(done))
            await asyncio.sleep(0)

    looking = asyncio.create_task(look())
    one, other = await asyncio.gather(turns.each(work, range(PIECE * 3)), turns.each(work, range(PIECE + 1)))
    looking.cancel()

    assert (one, other) == (list(range(1, PIECE * 3 + 1)), list(range(1, PIECE + 2)))
    assert sorted(done) == [1, *[PIECE] * 4]
    assert max(later - earlier for earlier, later in pairwise(seen)) == 1


async def test_nothing_to_do_gives_nothing() -> None:
    """No turn is waited for."""
    assert await Turns().each(list[int], []) == []
