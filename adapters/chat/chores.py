"""What is done beside, so that nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from adapters.chat.posting import PostingFailed
from core.errors import StoreUnavailable


class Chores:
    """Does things that may fail, since nothing hangs on them; they end when it is closed."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, chore: Callable[[], Awaitable[object]]) -> None:
        """Do something; a platform that refuses it or a store that is away are no reason to try again."""
        task = asyncio.create_task(_done(chore))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End what is under way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _done(chore: Callable[[], Awaitable[object]]) -> None:
    with suppress(PostingFailed, StoreUnavailable):
        await chore()
