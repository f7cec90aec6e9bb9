"""What nobody waits for, what is written once the store is back, and what keeps its order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias
from weakref import WeakValueDictionary

from adapters.retry import DEFERRED, RetryPolicy
from core.errors import PostingFailed, StoreUnavailable

Work: TypeAlias = Callable[[], Awaitable[object]]

MOST = 1_000  # writes; of more, the oldest are given up


class BackgroundTasks:
    """Holds on to what is being done, which nothing else does, until it is done or this is closed.

    What breaks is told to the loop, which writes it into the log; failures of the kinds to *ignore* are not, as nothing
    hangs on what is done.
    """

    def __init__(self, *, ignore: tuple[type[Exception], ...] = (PostingFailed, StoreUnavailable)) -> None:
        self._ignored = ignore
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Work) -> None:
        """Do something."""
        task = asyncio.create_task(self._do(work))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def finish(self, within: float | None = None) -> None:
        """Wait until all is done, for so many seconds at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while self._tasks:
                    await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """End what is under way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _do(self, work: Work) -> None:
        with suppress(*self._ignored):
            await work()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            context = {"message": "something in the background broke", "exception": error, "task": task}
            task.get_loop().call_exception_handler(context)


class DeferredWrites:
    """Writes in the order in which it was asked to, also what cannot be written while the store is away."""

    def __init__(self, tasks: BackgroundTasks, *, most: int = MOST, policy: RetryPolicy = DEFERRED) -> None:
        self._tasks = tasks
        self._policy = policy
        self._writes: deque[Work] = deque(maxlen=most)
        self._is_writing = False

    async def do(self, write: Work) -> None:
        """Write, or keep it for later if the store is away, or if others wait for it."""
        if not self._writes:
            with suppress(StoreUnavailable):
                await write()
                return
        self._writes.append(write)
        if not self._is_writing:
            self._is_writing = True
            self._tasks.begin(self._write_all)

    async def _write_all(self) -> None:
        try:
            while self._writes:
                await self._policy.call(self._write_first)
        except Exception:
            self._tasks.begin(self._write_all)  # the rest is to be written all the same
            raise
        self._is_writing = False

    async def _write_first(self) -> None:
        write, is_away = self._writes[0], False
        try:
            await write()
        except StoreUnavailable:
            is_away = True
            raise
        finally:
            if not is_away and self._writes[0] is write:  # it is not, if it was given up meanwhile
                self._writes.popleft()


class KeyedLock:
    """Lets those with the same key in one after the other, first come, first served; others do not wait.

    Who calls first is who comes first, so it has to be asked for before anything else is awaited.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncGenerator[None]:
        """Wait for the lock of a key, and hold it while the block runs."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            yield
