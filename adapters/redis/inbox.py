"""The inbox in Redis: a stream of threads that have something to do, shared by any number of workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Self
from uuid import uuid4

from adapters.redis.lease import Lease
from adapters.redis.ledger import Bounds, Ledger, Taken
from adapters.redis.letters import Letters
from adapters.redis.supply import Given, Supply
from adapters.retry import NEWS, SIGNAL
from core.errors import ApologyFailed, FootnoteError, StoreUnavailable
from core.events import Observer, Passed, Step, TakenOver, unobserved
from core.model import (
    Asked,
    Cancellation,
    Delivery,
    Interruption,
    MessageRef,
    Question,
    Signal,
    Task,
    ThreadRef,
    WaitNotice,
    WorkspaceRef,
)

BLOCK = 2.0  # seconds that one read waits at most; as late can a delayed attempt be, or a take-over
DELAYS = (2.0, 30.0)  # seconds after the first failure, and after the second
MOST_AT_ONCE = 16  # threads that one read gives, so that other processes have their share
USUAL = Bounds()


class RedisInbox(Letters):
    """Puts and gives out questions; to claim, enter it first.

    What was put is a thread in a stream, of which each entry goes to one worker, and stays there until that worker says
    that it is done, or gives no sign of life for the time of its lease: then another one takes it over. Signals for a
    task that is worked on go through a stream as well, of which every worker reads all; one that is missed there is
    found when the lease is renewed.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        bounds: Bounds = USUAL,
        block: float = BLOCK,
        delays: Sequence[float] = DELAYS,
        observer: Observer = unobserved,
    ) -> None:
        self._observer = observer
        self._ledger = ledger
        super().__init__(ledger.scribe, lease=bounds.lease)
        self._bounds = bounds
        self.accepted_for = bounds.accepted
        self._block = min(block, bounds.lease / 4)
        self._delays = tuple(delays)
        self.consumer = uuid4().hex
        self._turn = asyncio.Lock()
        self._next_look = 0.0
        self._next_sweep = 0.0
        self._is_in_doubt = False
        self._seats = 0  # how many wait for a task
        self._supply = Supply()
        # Both by what no other task has: whoever loses a question may be given it again, before that ends.
        self._leases: dict[Cancellation, Lease] = {}
        self._owed: dict[Cancellation, Callable[[], Awaitable[bool]]] = {}
        self._is_busy = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._listening:
            await _ended(self._listening)
        self._is_in_doubt = True
        self._supply.clear()
        with suppress(StoreUnavailable):  # whoever takes over finds it
            await self._tidy()

    async def put(self, signal: Signal) -> bool:
        """Write the signal down; that it is a question is told before.

        A failure may mean that it was written and the answer was lost, so it is written again before anybody is told.
        """
        if isinstance(signal, Asked):
            self._observer(Passed(signal.message, Step.HEARD))
        is_new = await SIGNAL.call(lambda: self._ledger.put(signal))
        self._observer(Passed(signal.message, Step.PUT))
        return is_new

    async def accept(self, asked: Asked, *, within: float) -> bool:
        """Write down a question that has no place in a thread as yet."""
        is_new = await self._ledger.accept(asked, within=within, lease=self.accepted_for)
        if is_new:
            self._observer(Passed(asked.message, Step.ACCEPTED))
        return is_new

    async def overdue(self, platform: str) -> Asked | None:
        """Take over what was accepted."""
        return await self._ledger.overdue(platform, lease=self.accepted_for)

    async def move(self, accepted: MessageRef, asked: Asked) -> bool:
        """Put what was accepted under its own message."""
        self._observer(Passed(asked.message, Step.HEARD))
        is_moved = await self._ledger.ask(asked, accepted=accepted)
        self._observer(Passed(asked.message, Step.MOVED))
        return is_moved

    @asynccontextmanager
    async def claim(self) -> AsyncGenerator[Task]:
        """Hold the next task while the block runs."""
        taken = await self._next()
        keeping = asyncio.create_task(self._leases[taken.task.cancelled].keep())
        self._observer(Passed(taken.task.message, Step.TAKEN))
        try:
            yield taken.task
        except Exception as error:
            failure = error
            await _ended(keeping)
            await self._finish(taken, lambda: self._fail(taken, failure))
            raise
        except BaseException:
            await _ended(keeping)
            await self._finish(taken, lambda: self._ledger.hand_back(taken.hold))
            raise
        await _ended(keeping)
        if taken.task.cancelled.reason is Interruption.LOST:  # it was not done; if nobody has it, somebody shall
            await self._finish(taken, lambda: self._ledger.hand_back(taken.hold))
            return
        await self._finish(taken, lambda: self._ledger.settle(taken.hold))
        self._observer(Passed(taken.task.message, Step.SETTLED))

    async def record(self, task: Task, delivery: Delivery) -> bool:
        """Keep which messages belong to the task, if it is still ours."""
        lease = self._lease_of(task)
        return lease is not None and await lease.record(delivery)

    async def holds(self, task: Task) -> bool:
        """Return whether the task is still ours."""
        lease = self._lease_of(task)
        return lease is not None and await lease.is_held()

    async def keep(self, task: Task) -> bool:
        """Keep the words of the task, if it is still ours."""
        lease = self._lease_of(task)
        return lease is not None and await self._ledger.keep(lease.hold, task)

    async def knows(self, message: MessageRef) -> bool:
        """Return whether a message was put as a question."""
        return await self._ledger.knows(message)

    async def running(self, thread: ThreadRef) -> Question | None:
        """Return the question that a thread waits for."""
        return await self._ledger.running(thread)

    async def announce(self, message: MessageRef, notice: WaitNotice) -> bool:
        """Note what is said below a question that waits."""
        return await self._ledger.announce(message, notice)

    async def waiting(self) -> int:
        """Count what waits, for all processes."""
        return await self._ledger.waiting()

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove what a person has asked."""
        return await self._ledger.forget_person(home, person_id)

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Remove what was asked in a workspace."""
        return await self._ledger.forget_workspace(home)

    def _lease_of(self, task: Task) -> Lease | None:
        return self._leases.get(task.cancelled)

    async def _next(self) -> Taken:
        """Wait for a task; one waits at the server for all at a time, and then each takes its own."""
        while True:
            self._seats += 1
            try:
                async with self._turn:
                    if not self._supply:
                        await self._tidy()
                        await self._look()
                    found = self._supply.next()
            finally:
                self._seats -= 1
            taken = await self._take(found) if found else None
            if taken is not None:
                return taken

    async def _look(self) -> None:
        """Look once for threads that have something to do, for as many as wait for one, and for one that was left."""
        with self._doubting():
            if abandoned := await self._abandoned():
                self._supply.add(Given(*abandoned, is_over=True))
                return
            count, block = min(self._seats, MOST_AT_ONCE), await self._patience()
            for entry, thread in await self._ledger.read(self.consumer, block=block, count=count):
                self._supply.add(Given(entry, thread))

    async def _take(self, given: Given) -> Taken | None:
        try:
            with self._doubting():
                taken = await self._ledger.take(self.consumer, given.entry, given.thread, self._bounds)
        finally:
            self._supply.over(given)
        if taken:
            self._hold_on(taken)
        if taken and given.is_over:
            self._observer(TakenOver(taken.task.message, taken.task.attempt))
        return taken

    @contextmanager
    def _doubting(self) -> Generator[None]:
        """If this is broken off, the server may have given us something that we do not know of."""
        try:
            yield
        except BaseException as error:
            self._is_in_doubt = True
            if isinstance(error, StoreUnavailable):
                self._next_look = 0.0  # it may have lost what it knew of us
            raise

    async def _abandoned(self) -> tuple[str, str] | None:
        """Return a thread whose worker is gone, if it is time to look for one; where one was, there may be more."""
        now = asyncio.get_running_loop().time()
        if now < self._next_sweep:
            return None
        entry = await self._ledger.sweep(self.consumer, lease=self._bounds.lease)
        if entry is None:
            self._next_sweep = now + self._block
        return entry

    def _hold_on(self, taken: Taken) -> None:
        lease = Lease(self._ledger, taken, consumer=self.consumer, seconds=self._bounds.lease)
        self._leases[taken.task.cancelled] = lease
        self._is_busy.set()

    async def _patience(self) -> float:
        """Bring forward what is due, from time to time; give the seconds until this has to be done again."""
        now = asyncio.get_running_loop().time()
        if now >= self._next_look:
            due = await self._ledger.due()
            self._next_look = now + min(self._block, due or self._block)
        return max(self._next_look - now, 0.0)

    async def _tidy(self) -> None:
        """Do what could not be done when the server was away."""
        for key, write in list(self._owed.items()):
            await self._write(key, write)
        if self._is_in_doubt:
            self._is_in_doubt = False
            with self._doubting():
                held = {lease.hold.entry for lease in self._leases.values()}
                await self._ledger.reap(self.consumer, held | self._supply.entries)

    async def _fail(self, taken: Taken, error: Exception) -> bool:
        """Return the task, or lay it aside; only our own errors are sentences that quote nobody."""
        if taken.task.is_last_attempt and not isinstance(error, ApologyFailed):
            reason = str(error) if isinstance(error, FootnoteError) else type(error).__name__
            return await self._ledger.bury(taken.hold, taken.task, reason=reason)
        delay = self._delays[min(taken.failures, len(self._delays) - 1)]
        self._next_look = min(self._next_look, asyncio.get_running_loop().time() + delay)
        return await self._ledger.delay(taken.hold, seconds=delay)

    async def _finish(self, taken: Taken, write: Callable[[], Awaitable[bool]]) -> None:
        """Write down how the task ended; a server that is away gets it later, since the work is done."""
        key = taken.task.cancelled
        try:
            await self._write(key, write)
        except StoreUnavailable:
            self._owed[key] = write
        except BaseException:  # broken off: nobody knows whether it was written, and it may be written twice
            self._owed[key] = write
            raise

    async def _write(self, key: Cancellation, write: Callable[[], Awaitable[bool]]) -> None:
        """Write it down, and hold it no more; two that write the same may both come here.

        Of what was not ours, nobody may know: a server that was failed over to has forgotten that we took it.
        """
        self._is_in_doubt = not await write() or self._is_in_doubt
        self._owed.pop(key, None)
        self._leases.pop(key, None)
        if not self._leases:
            self._is_busy.clear()

    async def _listen(self) -> None:
        """Nudge the leases of messages that something has happened to."""
        last = "0-0"
        while True:
            await self._is_busy.wait()
            last, messages = await NEWS.call(partial(self._news, last))
            for lease in self._leases.values():
                if str(lease.hold.message) in messages:
                    lease.nudge()

    async def _news(self, last: str) -> tuple[str, tuple[str, ...]]:
        await self._release()
        return await self._ledger.signals(last, block=self._block)

    async def _release(self) -> None:
        """Return back what came when nobody waited for it any more: it is time to stop, or all have enough to do."""
        if not self._seats:
            async with self._turn:
                self._is_in_doubt = self._is_in_doubt or bool(self._supply)
                self._supply.clear()
                with suppress(StoreUnavailable):
                    await self._tidy()


async def _ended(task: asyncio.Task[None]) -> None:
    """End a task of ours."""
    task.cancel()
    await asyncio.wait({task})
