"""Work for the processor in small pieces, so that nobody who shares the event loop waits long.

Threads would not do: whoever holds the interpreter keeps the loop waiting at each of its own system calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

PIECE = 16  # texts or vectors


class Turns:
    """Lets one piece of work be done in each round of the event loop, however many wait."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def wait(self) -> None:
        """Wait for a turn; what follows at once is done in it."""
        async with self._lock:
            await asyncio.sleep(0)

    async def each(self, work: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]) -> list[Result]:
        """Do the *work* piece by piece, and join what comes of it."""
        done: list[Result] = []
        for at in range(0, len(items), PIECE):
            await self.wait()
            done += work(items[at : at + PIECE])
        return done
