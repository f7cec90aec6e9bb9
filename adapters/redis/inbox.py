"""The inbox in Redis as workers have it: threads that have something to do, for any number of processes."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast
from uuid import uuid4

from adapters.redis.connection import bounded
from adapters.redis.inbox_store import USUAL, Bounds, InboxStore
from adapters.redis.lease import PREFIX, Lease, sealed_at, waking_time
from adapters.redis.secrets import Seal
from adapters.retry import NEWS
from core.errors import ApologyFailed, FootnoteError, StoreUnavailable
from core.events import Observer, Passed, Step, TakenOver, unobserved
from core.model import Cancellation, Claim, Delivery, Interruption, MessageRef, Question, Task, Withdrawal

if TYPE_CHECKING:
    from redis.asyncio import Redis

READY, SIGNALS, GROUP = f"{PREFIX}ready", f"{PREFIX}signals", "workers"
BLOCK = 2.0  # seconds that one read waits at most; as late can a delayed attempt be, or a take-over
DELAYS = (2.0, 30.0)  # seconds after the first failure, and after the second
MOST_AT_ONCE = 16  # threads that one read gives, so that other processes have their share
WITHDRAWN = -1  # the revision of a question that is gone
UNREADABLE = "The stored question cannot be read: FOOTNOTE_SECRET_KEY has changed, or another version wrote it."


class RedisInbox(InboxStore):
    """Puts and gives out questions; to claim, enter it first.

    What was put is a thread in a stream, of which each entry goes to one worker, and stays there until that worker says
    that it is done, or gives no sign of life for the time of its lease: then another one takes it over. Signals for a
    task that is worked on go through a stream as well, of which every worker reads all; one that is missed there is
    found when the lease is renewed.
    """

    def __init__(  # noqa: PLR0913 - what may be set of a worker
        self,
        client: Redis,
        blocking: Redis,
        *,
        seal: Seal,
        bounds: Bounds = USUAL,
        block: float = BLOCK,
        delays: Sequence[float] = DELAYS,
        consumer: str | None = None,
        observer: Observer = unobserved,
    ) -> None:
        super().__init__(client, seal=seal, bounds=bounds, observer=observer)
        self._blocking = blocking
        self._block = min(block, bounds.lease / 4)
        self._delays = tuple(delays)
        self.consumer = consumer or uuid4().hex
        self._turn = asyncio.Lock()
        self._next_look = 0.0
        self._next_sweep = 0.0
        self._is_in_doubt = False  # whether the server may have given us something that we do not know of
        self._seats = 0  # how many wait for a task
        # Entries with their threads, and whether the worker of each is gone: fetched, and being taken.
        self._fetched = deque[tuple[str, str, bool]]()
        self._taking = set[str]()
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
            self._listening.cancel()
            await asyncio.wait({self._listening})
        self._is_in_doubt = True
        self._fetched.clear()
        with suppress(StoreUnavailable):  # whoever takes over finds it
            await self._tidy()

    @asynccontextmanager
    async def claim(self) -> AsyncGenerator[Task]:
        """Hold the next task while the block runs."""
        lease = await self._next()
        task, is_settled = lease.task, False
        keeping = asyncio.create_task(lease.keep_up())
        self._observer(Passed(task.message, Step.TAKEN))
        write = lease.release  # for a block that is broken off, or has lost the task: if nobody has it, somebody shall
        try:
            yield task
            if task.cancelled.reason is not Interruption.LOST:
                write, is_settled = lease.settle, True
        except Exception as error:
            write = partial(self._fail, lease, error)
            raise
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})
            try:
                await self._write(task.cancelled, write)
            except StoreUnavailable:  # a server that is away gets it later, since the work is done
                self._owed[task.cancelled] = write
            except BaseException:  # broken off: nobody knows whether it was written, and it may be written twice
                self._owed[task.cancelled] = write
                raise
        if is_settled:
            self._observer(Passed(task.message, Step.SETTLED))

    async def record(self, task: Task, delivery: Delivery) -> bool:
        """Keep which messages belong to the task, if it is still ours."""
        lease = self._leases.get(task.cancelled)
        return lease is not None and await lease.record(delivery)

    async def holds(self, task: Task) -> bool:
        """Return whether the task is still ours."""
        lease = self._leases.get(task.cancelled)
        return lease is not None and await lease.is_held()

    async def keep(self, task: Task) -> bool:
        """Keep the words of the task, if it is still ours."""
        lease = self._leases.get(task.cancelled)
        return lease is not None and await lease.keep_words()

    async def fetch(self) -> None:
        """Look once for threads that have something to do, for as many as wait for one, and for one that was left."""
        clock = asyncio.get_running_loop().time
        if (now := clock()) >= self._next_sweep:
            lease = int(self._bounds.lease * 1000)
            if found := await self._run("sweep", PREFIX, consumer=self.consumer, lease=lease):
                entry, thread = cast("list[bytes]", found)
                self._fetched.append((entry.decode(), thread.decode(), True))
                return  # where one was, there may be more
            self._next_sweep = now + self._block
        if (now := clock()) >= self._next_look:
            due = cast("int", await self._run("promote_due", PREFIX))
            self._next_look = now + (self._block if due < 0 else min(self._block, due / 1000))
        block, count = max(self._next_look - clock(), 0.001), max(min(self._seats, MOST_AT_ONCE), 1)
        reading = self._blocking.xreadgroup(GROUP, self.consumer, {READY: ">"}, count, int(block * 1000))
        streams = await bounded(cast("Awaitable[Any]", reading), block=block)
        for entry, fields in streams.get(READY.encode(), ()):
            self._fetched.append((entry.decode(), fields[b"thread"].decode(), False))

    async def take(self) -> Lease | None:
        """Take the first question of a thread that was fetched.

        None if there is none, if it is not for us any more, or if it has to wait until less is done at once for whoever
        asks: then it comes by itself.
        """
        if not self._fetched:
            return None
        entry, thread, is_over = self._fetched.popleft()
        self._taking.add(entry)
        bounds, name, since = self._bounds, uuid4().hex, waking_time()
        try:
            found = await self._run(
                "take",
                PREFIX,
                entry=entry,
                thread=thread,
                consumer=self.consumer,
                holder=name,
                lease=int(bounds.lease * 1000),
                per_person=bounds.per_person,
                per_workspace=bounds.per_workspace,
            )
            lease = await self._taken(entry, name, since, cast("list[Any]", found)) if found else None
        finally:
            self._taking.discard(entry)
        if lease and is_over:
            self._observer(TakenOver(lease.task.message, lease.task.attempt))
        return lease

    async def reap(self) -> None:
        """Give back what the server handed to us without our knowledge, as the answer was lost."""
        held = {str(lease.hold["entry"]) for lease in self._leases.values()}
        held |= self._taking | {entry for entry, _, _ in self._fetched}
        await self._run("reap", PREFIX, consumer=self.consumer, held=json.dumps(sorted(held)))

    async def _next(self) -> Lease:
        """Wait for a task; one waits at the server for all at a time, and then each takes its own."""
        while True:
            try:
                self._seats += 1
                try:
                    async with self._turn:
                        if not self._fetched:
                            await self._tidy()
                            await self.fetch()
                finally:
                    self._seats -= 1
                lease = await self.take()
            except BaseException as error:
                self._is_in_doubt = True
                if isinstance(error, StoreUnavailable):
                    self._next_look = 0.0  # it may have lost what it knew of us
                raise
            if lease is not None:
                return lease

    async def _taken(self, entry: str, name: str, since: float, found: list[Any]) -> Lease | None:
        """Return the hold on what was taken; a question that cannot be read is laid aside."""
        ref, attempt, fence, token, revision, text, address, delivery, *more = found
        concluded, deleted, stopped, failures, begun = more
        message = MessageRef.parse(ref.decode())
        posted = self._seal.read(Delivery, delivery, place=sealed_at(message, "delivery")) or Delivery()
        question = None if deleted else self._seal.read(Question, text, place=sealed_at(message, "text"))
        task: Task = Withdrawal(message, attempt, fence, posted, was_released=bool(begun))
        if question is not None:
            place = self._address(message, address, token)
            is_update = bool(concluded)
            task = Claim(question, attempt, fence, posted, place, is_update=is_update, was_released=bool(begun))
        hold = {"ref": str(message), "thread": str(message.thread), "entry": entry, "fence": f"{fence} {name}"}
        lease = Lease(
            task=task,
            hold={**hold, "revision": WITHDRAWN if deleted else int(revision)},
            run=self._run,
            seal=self._seal,
            consumer=self.consumer,
            seconds=self._bounds.lease,
            renewed=since,
            failures=int(failures or 0),
        )
        if question is None and not deleted:
            await lease.bury(UNREADABLE)
            return None
        if stopped and question is not None:
            task.cancelled.set(Interruption.STOPPED)
        self._leases[task.cancelled] = lease
        self._is_busy.set()
        return lease

    async def _tidy(self) -> None:
        """Do what could not be done when the server was away."""
        for key, write in list(self._owed.items()):
            await self._write(key, write)
        if self._is_in_doubt:
            self._is_in_doubt = False
            try:
                await self.reap()
            except BaseException:
                self._is_in_doubt = True
                raise

    async def _fail(self, lease: Lease, error: Exception) -> bool:
        """Return the task, or lay it aside; only our own errors are sentences that quote nobody."""
        if lease.task.is_last_attempt and not isinstance(error, ApologyFailed):
            return await lease.bury(str(error) if isinstance(error, FootnoteError) else type(error).__name__)
        delay = self._delays[min(lease.failures, len(self._delays) - 1)]
        self._next_look = min(self._next_look, asyncio.get_running_loop().time() + delay)
        return await lease.postpone(delay)

    async def _write(self, key: Cancellation, write: Callable[[], Awaitable[bool]]) -> None:
        """Write down how a task ended, and hold it no more; two that write the same may both come here.

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
            for entry, message in await NEWS.call(partial(self._news, last)):
                last = entry
                for lease in self._leases.values():
                    if lease.hold["ref"] == message:
                        lease.nudged.set()

    async def _news(self, after: str) -> Sequence[tuple[str, str]]:
        """Wait for messages that something has happened to; give back what came when nobody waited for it any more.

        That is so when it is time to stop, or all have enough to do.
        """
        if not self._seats:
            async with self._turn:
                self._is_in_doubt = self._is_in_doubt or bool(self._fetched)
                self._fetched.clear()
                with suppress(StoreUnavailable):
                    await self._tidy()
        milliseconds = max(int(self._block * 1000), 1)
        reading = self._blocking.xread({SIGNALS: after}, block=milliseconds)
        streams = await bounded(cast("Awaitable[Any]", reading), block=self._block)
        return [(entry.decode(), fields[b"message"].decode()) for entry, fields in streams.get(SIGNALS.encode(), ())]
