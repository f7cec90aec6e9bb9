"""The inbox in Redis as workers have it: threads that have something to do, for any number of processes."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast
from uuid import uuid4

from adapters.redis.connection import Argument, bounded
from adapters.redis.inbox_store import PREFIX, USUAL, Bounds, InboxStore, waking_time
from adapters.redis.secrets import Seal
from adapters.retry import NEWS
from core.errors import ApologyFailed, FootnoteError, PeopleUnavailable, ShutOut, StoreUnavailable
from core.events import LostByStore, Observer, Passed, Step, TakenOver, unobserved
from core.model import (
    MOST_ATTEMPTS,
    Asked,
    Cancellation,
    Claim,
    Delivery,
    Interruption,
    MessageRef,
    Stage,
    Task,
    Withdrawal,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

READY, SIGNALS, GROUP = f"{PREFIX}ready", f"{PREFIX}signals", "workers"
BLOCK = 2.0  # seconds that one read waits at most; as late can a delayed attempt be, or a take-over
DELAYS = (2.0, 30.0)  # seconds after the first failure, and after the second
TRUSTED_FOR = 1 / 2  # of the time of a lease, without asking
MOST_AT_ONCE = 16  # threads that one read gives, so that other processes have their share
WITHDRAWN = -1  # the revision of a question that is gone
UNREADABLE = "The stored question cannot be read: FOOTNOTE_SECRET_KEY has changed, or another version wrote it."


@dataclass(slots=True, eq=False)
class Lease:
    """A hold on a task, *renewed* the last time right after the moment that is noted, which is at first when it began.

    The `hold` shows the server whose it is: the entry of its thread, how often that was taken, with a name that no
    other hold has, and which revision it is about. `failures` are the attempts before it that failed, those not counted
    which ended with their process. It is `nudged` when something may have happened to the question. `delivery` is what
    was said last of what is posted, and `is_recorded` whether the server has that.
    """

    task: Task
    hold: Mapping[str, Argument]
    renewed: float
    taken: float
    failures: int
    delivery: Delivery
    nudged: asyncio.Event = field(default_factory=asyncio.Event)
    is_recorded: bool = False


class RedisInbox(InboxStore):
    """Puts and gives out questions; to claim, enter it first.

    What was put is a thread in a stream, of which each entry goes to one worker, and stays there until that worker says
    that it is done, or could not renew its lease for the time of that: then another one takes it over. Signals for a
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
        now: Callable[[], float] = waking_time,
        observer: Observer = unobserved,
    ) -> None:
        super().__init__(client, seal=seal, bounds=bounds, now=now, observer=observer)
        self._blocking = blocking
        self._block = min(block, bounds.lease / 4)
        self._delays = tuple(delays)
        self.consumer = consumer or uuid4().hex
        self._given: Mapping[str, Argument] = {  # to every script; each takes what it names
            "consumer": self.consumer,
            "lease": int(bounds.lease * 1000),
            "per_person": bounds.per_person,
            "per_workspace": bounds.per_workspace,
            "most_attempts": MOST_ATTEMPTS,
        }
        self._turn = asyncio.Lock()
        self._next_look = self._next_sweep = 0.0
        self._is_in_doubt = False  # whether the server may have given us something that we do not know of
        self._waiters = 0  # for a task
        # Entries with their threads, and whether the worker of each is gone: fetched, and being taken.
        self._fetched = deque[tuple[str, str, bool]]()
        self._taking = set[str]()
        # Both by what no other task has: whoever loses a question may be given it again, before that ends.
        self._leases: dict[Cancellation, Lease] = {}
        self._owed: dict[Cancellation, Callable[[], Awaitable[object]]] = {}
        self._is_busy = asyncio.Event()
        self._last_signal = "0-0"
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._listening = asyncio.create_task(NEWS.call(self._listen))
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
        task = lease.task
        keeping = asyncio.create_task(self._keep_up(lease))
        self._observer(Passed(task.message, Step.TAKEN))
        script, given = "release", dict[str, Argument](pause=0, counts=True)  # for one that was lost
        try:
            yield task
            if task.cancelled.reason is not Interruption.LOST:
                script, given = "settle", {}
        except BaseException as error:
            script, given = self._failure(lease, error)
            raise
        finally:
            keeping.cancel()
            write = partial(self._on_hold, lease, script, **given)
            try:
                await asyncio.wait({keeping})
                await self._write(task.cancelled, write)
            except BaseException as error:  # broken off, nobody knows whether it was written; it may be written twice
                self._owed[task.cancelled] = write
                if not isinstance(error, StoreUnavailable):  # a server that is away gets it later: the work is done
                    raise
        if script == "settle":
            self._observer(Passed(task.message, Step.SETTLED))

    def withdrawal(self, claim: Claim) -> Withdrawal:
        """Hold it with what was last said of what is posted."""
        lease = self._leases[claim.cancelled]
        lease.delivery = lease.delivery.model_copy(update={"answer": None})
        held = Withdrawal(claim.message, fence=claim.fence, delivery=lease.delivery, was_released=True)
        held = replace(held, cancelled=claim.cancelled)
        lease.task, lease.hold = held, {**lease.hold, "revision": WITHDRAWN}
        return held

    async def record(self, task: Task, delivery: Delivery) -> bool:
        """Keep which messages belong to the task, if it is still ours; what is kept already is not written again."""
        lease = self._leases.get(task.cancelled)
        if lease is None:
            return False
        delivery = delivery.model_copy(update={"answer": delivery.answer or lease.delivery.answer})
        if lease.is_recorded and delivery == lease.delivery:
            return await self.holds(task)
        lease.delivery, lease.is_recorded = delivery, False
        given = self._sealed(task.message, delivery=delivery, answer=delivery.answer)
        lease.is_recorded = bool(await self._on_hold(lease, "record", **given))
        return lease.is_recorded

    async def holds(self, task: Task) -> bool:
        """Return whether nobody else can have taken the task; a process that was frozen asks the server."""
        lease = self._leases.get(task.cancelled)
        if lease is not None and self._now() - lease.renewed > self._bounds.lease * TRUSTED_FOR:
            await self._renew(lease)
        return lease is not None and task.cancelled.reason is not Interruption.LOST

    async def keep(self, task: Task) -> bool:
        """Keep the words of the task, if it is still ours."""
        lease = self._leases.get(task.cancelled)
        return lease is not None and bool(await self._on_hold(lease, "keep", words=self._kept_words(task)))

    async def stages(self, messages: Sequence[MessageRef]) -> Sequence[Stage]:
        """Look at all of them but those that are worked on here."""
        ours = [one.task.message for one in self._leases.values() if one.task.cancelled.reason is not Interruption.LOST]
        others = [each for each in messages if each not in ours]
        found = iter(await super().stages(others) if others else ())
        return [Stage.RUNNING if each in ours else next(found) for each in messages]

    async def fetch(self) -> None:
        """Look once for threads that have something to do, for as many as wait for one, and for one that was left."""
        clock = asyncio.get_running_loop().time
        if (now := clock()) >= self._next_sweep:
            if found := await self._look("sweep", **self._given):
                entry, thread = cast("list[bytes]", found)
                self._fetched.append((entry.decode(), thread.decode(), True))
                return  # where one was, there may be more
            self._next_sweep = now + self._block
        if (now := clock()) >= self._next_look:
            due = cast("int | None", await self._run("promote_due", PREFIX))
            self._next_look = now + (self._block if due is None else min(self._block, due / 1000))
        block, count = max(self._next_look - clock(), 0.001), max(min(self._waiters, MOST_AT_ONCE), 1)
        reading = self._blocking.xreadgroup(GROUP, self.consumer, {READY: ">"}, count, int(block * 1000))
        for entry, fields in (await bounded(cast("Awaitable[Any]", reading), block=block)).get(READY.encode(), ()):
            self._fetched.append((entry.decode(), fields[b"thread"].decode(), False))

    async def take(self) -> Lease | None:
        """Take the first question of a thread that was fetched; None if there is none for us, or if it has to wait."""
        if not self._fetched:
            return None
        entry, thread, is_over = self._fetched.popleft()
        holder, since = uuid4().hex, self._now()
        hold: dict[str, Argument] = {**self._given, "entry": entry, "thread": thread}
        self._taking.add(entry)
        try:
            found = await self._run("take", PREFIX, **hold, holder=holder)
            if not found:
                return None
            name, attempt, fence, revision, put, failures, spent, idle, *about = found
            task = self._task(ref := str(name, "utf-8"), attempt, fence, spent / 1000, about)
            revision = WITHDRAWN if isinstance(task, Withdrawal) else int(revision)
            hold |= {"ref": ref, "fence": f"{fence} {holder}", "put": put or b"", "revision": revision}
            if task is None:
                await self._run("bury", PREFIX, **hold, reason=UNREADABLE, words=b"")
                return None
            since -= idle / 1000
            lease = self._leases[task.cancelled] = Lease(task, hold, since, since, int(failures or 0), task.delivery)
        finally:
            self._taking.discard(entry)
        self._is_busy.set()
        if is_over:
            self._observer(TakenOver(task.message, attempt))
        return lease

    async def _next(self) -> Lease:
        """Wait for a task; one waits at the server for all at a time, and then each takes its own."""
        while True:
            try:
                self._waiters += 1
                try:
                    async with self._turn:
                        if not self._fetched:
                            if self._owed or self._is_in_doubt:
                                await self._tidy()
                            await self.fetch()
                finally:
                    self._waiters -= 1
                lease = await self.take()
            except BaseException as error:
                self._is_in_doubt = True
                if isinstance(error, StoreUnavailable):
                    self._next_look = 0.0  # it may have lost what it knew of us
                raise
            if lease is not None:
                return lease

    async def _keep_up(self, lease: Lease) -> None:
        """Renew until the hold is lost, or for ever: some times in its time, and at once when it is nudged."""
        while lease.task.cancelled.reason is not Interruption.LOST:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._unseen / 2000):
                    await lease.nudged.wait()
            lease.nudged.clear()
            await self._renew(lease)

    async def _renew(self, lease: Lease) -> None:
        begun, seconds, cancelled = self._now(), self._bounds.lease, lease.task.cancelled
        with suppress(StoreUnavailable):
            found = await self._on_hold(lease, "renew")
            if found:
                cancelled.set(Interruption(found))
            if found != Interruption.LOST:
                lease.renewed = max(begun, lease.renewed)
        if self._now() - lease.renewed >= seconds:
            cancelled.set(Interruption.LOST)

    async def _on_hold(self, lease: Lease, script: str, **given: Argument) -> Any:
        """Do something with a task as whoever holds it; one that the store has lost is put back before.

        Whoever could not hand it back, as it is not held any more, asks again: it may be another's, done, or lost.
        """
        if script == "release" and (answer := lease.delivery.answer):  # the store may have lost it, and nothing else
            noted = self._sealed(lease.task.message, delivery=lease.delivery, answer=answer)
            await self._run("record", PREFIX, **lease.hold, **noted)
        found = await self._run(script, PREFIX, **lease.hold, **given)
        is_lost = found == Interruption.LOST if script == "renew" else not found
        if is_lost and lease.task.cancelled.reason is Interruption.LOST:
            if script == "release":
                await self._ask_again(lease.task)
        elif is_lost and await self._put_back(lease):
            found = await self._run(script, PREFIX, **lease.hold, **given)
        return found

    async def _ask_again(self, task: Task) -> None:
        """Put a question that the store may have lost, for somebody who looks for what is posted; else do nothing."""
        claim, known = task if isinstance(task, Claim) else None, Delivery(notice=task.delivery.notice)
        if claim and await self.put(Asked(question=claim.question, address=claim.address, delivery=known)):
            self._observer(LostByStore(task.message, is_put_back=True))

    async def _put_back(self, lease: Lease) -> bool:
        """Put a task back that the store has lost, with what is posted, and hold it on.

        What was heard of it ends the hold there too; the words of an edit are told again by the platform.
        False if another worker has it, or gets it, as one may have had it, and posted, since our lease was over.
        """
        task, (fence, _, holder) = lease.task, str(lease.hold["fence"]).partition(" ")
        is_gone = not isinstance(task, Claim) or task.cancelled.reason is Interruption.DELETED
        if isinstance(task, Claim) and not is_gone and self._now() - lease.renewed >= self._bounds.lease:
            await self._ask_again(task)
            task.cancelled.set(Interruption.LOST)
            return False
        given: dict[str, Argument] = dict.fromkeys(("text", "person", "home", "address", "interaction"), b"")
        given |= {"left": 0, "asked_at": 0, "is_update": False, "is_withdrawn": is_gone, **lease.hold}
        if isinstance(task, Claim) and not is_gone:
            is_edited = task.cancelled.reason is Interruption.EDITED  # or others are to be quoted to it no more
            asked = task.question.alone if is_edited else task.question
            given |= {**self._words(asked, task.address), "is_update": task.is_update}
            given["revision"] = task.question.revision + is_edited
        given |= self._sealed(task.message, delivery=lease.delivery if lease.delivery != Delivery() else None)
        given |= {"holder": holder, "fence": int(fence) + 1, "attempt": task.attempt}
        given["spent"] = int((task.spent + self._now() - lease.taken) * 1000)
        found = cast("bytes | int", await self._run("restore", PREFIX, **given))
        if found:
            self._observer(LostByStore(task.message, is_put_back=isinstance(found, bytes)))
        if isinstance(found, int):
            task.cancelled.set(Interruption.LOST)
            return False
        lease.hold = {**lease.hold, "entry": found.decode(), "fence": f"{int(fence) + 1} {holder}"}
        lease.nudged.set()  # something may have been heard of it meanwhile
        return True

    async def _tidy(self) -> None:
        """Do what could not be done when the server was away, and give back what it handed to us unknown to us."""
        for key, write in list(self._owed.items()):
            await self._write(key, write)
        if self._is_in_doubt:
            self._is_in_doubt = False
            held = {str(each.hold["entry"]) for each in self._leases.values()} | {each for each, *_ in self._fetched}
            try:
                await self._run("reap", PREFIX, **self._given, held=json.dumps(sorted(held | self._taking)))
            except BaseException:
                self._is_in_doubt = True
                raise

    def _failure(self, lease: Lease, error: BaseException) -> tuple[str, dict[str, Argument]]:
        """Return what to do after a failure, or when it is time to stop; only our own errors quote nobody."""
        if not isinstance(error, Exception):
            return "release", {"pause": 0, "counts": lease.task.begun.is_set()}
        if isinstance(error, ShutOut):
            return "release", {"pause": self._delayed(min(error.wait, self._delays[-1])), "counts": False}
        wait = error.wait if isinstance(error, PeopleUnavailable) else None
        if lease.task.is_last_attempt and wait is None and not isinstance(error, ApologyFailed):
            reason = str(error) if isinstance(error, FootnoteError) else type(error).__name__
            return "bury", {"reason": reason, "words": self._kept_words(lease.task)}
        pause = self._delays[min(lease.failures, len(self._delays) - 1)] if wait is None else wait
        return "postpone", {"pause": self._delayed(pause), "counts": wait is None}

    def _delayed(self, seconds: float) -> int:
        """Look again in so many seconds; return them in milliseconds."""
        self._next_look = min(self._next_look, asyncio.get_running_loop().time() + seconds)
        return int(seconds * 1000)

    async def _write(self, key: Cancellation, write: Callable[[], Awaitable[object]]) -> None:
        """Write down how a task ended, and hold it no more; two that write the same may both come here.

        Of what was not ours, nobody may know: a server that was failed over to has forgotten that we took it.
        """
        self._is_in_doubt = not await write() or self._is_in_doubt
        self._owed.pop(key, None)
        self._leases.pop(key, None)
        if not self._leases:
            self._is_busy.clear()

    async def _listen(self) -> None:
        """Nudge the leases of messages that something has happened to, as long as there are any.

        What came when nobody waited for it any more is given back: it is time to stop, or all have enough to do.
        """
        while True:
            await self._is_busy.wait()
            if not self._waiters:
                async with self._turn:
                    self._is_in_doubt = self._is_in_doubt or bool(self._fetched)
                    self._fetched.clear()
                    with suppress(StoreUnavailable):
                        await self._tidy()
            reading = self._blocking.xread({SIGNALS: self._last_signal}, block=max(int(self._block * 1000), 1))
            streams = await bounded(cast("Awaitable[Any]", reading), block=self._block)
            for entry, fields in streams.get(SIGNALS.encode(), ()):
                self._last_signal = entry.decode()
                for lease in self._leases.values():
                    if lease.hold["ref"] == fields[b"message"].decode():
                        lease.nudged.set()
