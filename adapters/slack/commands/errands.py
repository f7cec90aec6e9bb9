"""What is done after Slack knows that something came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Errands:
    """Holds on to what is being done, which nothing else does, until it is done."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, errand: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do something; what breaks is written into the log."""
        task = asyncio.create_task(errand())
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def finish(self) -> None:
        """Wait until all is done."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            context = {"message": "something that somebody used broke", "exception": error}
            task.get_loop().call_exception_handler(context)
