"""An inbox in memory that passes the contract of the real one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from core.errors import ApologyFailed, PeopleUnavailable, ShutOut, StoreUnavailable
from core.model import (
    MOST_ATTEMPTS,
    AnyPlace,
    Asked,
    AskedAgain,
    Backlog,
    Claim,
    Deleted,
    Delivery,
    Edited,
    Interruption,
    Kept,
    MessageRef,
    Question,
    Recheck,
    Signal,
    Stage,
    Stopped,
    Task,
    ThreadRef,
    WaitNotice,
    Withdrawal,
    WorkspaceRef,
)
from tests.fakes.inbox_record import Record


class MemoryInbox:
    """Holds questions for the workers of this event loop; *delays* are seconds before further attempts.

    Set `fails` to make every call raise `StoreUnavailable`, as if the server were gone; `refusals` counts these calls.
    `dead` holds what was given up, and `doubts` who feared to have come too late.
    """

    def __init__(self, *, delays: Sequence[float] = (0.0, 0.0)) -> None:
        self.fails = False
        self.refusals = 0
        self.dead: dict[MessageRef, Exception] = {}
        self.doubts: list[Recheck] = []
        self.accepted_for = 30.0
        self._delays = delays
        self._records: dict[MessageRef, Record] = {}
        self._lines: dict[ThreadRef, deque[Record]] = {}
        self._ready: asyncio.Queue[ThreadRef] = asyncio.Queue()
        self._delayed: dict[ThreadRef, asyncio.TimerHandle] = {}

    @property
    def is_busy(self) -> bool:
        """Whether anything waits or is worked on."""
        return any(record.state in ("waiting", "running") for record in self._records.values())

    async def put(self, signal: Signal) -> bool:
        """Take a signal."""
        self._check()
        record = self._records.setdefault(signal.message, Record(signal.message))
        match signal:
            case Asked():
                return self._ask(record, signal)
            case Edited(question=question):
                return self._edit(record, question)
            case Deleted():
                return self._delete(record, signal.delivery)
            case Stopped():
                return self._stop(record)
            case AskedAgain():
                return self._retry(record)
            case Recheck():
                return self._doubt(record, signal)

    async def accept(self, asked: Asked, *, within: float) -> bool:
        """Keep a question that is in no thread as yet."""
        self._check()
        assert within > 0
        record = self._records.setdefault(asked.message, Record(asked.message))
        if record.state != "early" or record.deleted:
            return False
        record.state, record.question, record.address = "accepted", asked.question, asked.address
        record.lease = asyncio.get_running_loop().time() + self.accepted_for
        return True

    async def overdue(self, platform: str) -> Asked | None:
        """Take over a question."""
        self._check()
        now = asyncio.get_running_loop().time()
        of = (each for each in self._records.values() if each.lease <= now and each.on_its_way(platform, "accepted"))
        if (record := next(of, None)) is not None:
            record.lease = now + self.accepted_for
        return record and record.on_its_way(platform, "accepted")

    async def untold(self, platform: str) -> Sequence[Asked]:
        """Look at each."""
        return [found for each in self._records.values() if (found := each.untold(platform))]

    async def move(self, accepted: MessageRef, asked: Asked) -> bool:
        """Put a question in the place of what was accepted."""
        self._check()
        former = self._records.pop(accepted, Record(accepted))
        if former.state not in ("early", "accepted"):
            self._records[accepted] = former
            return False
        if accepted != asked.message:
            former.conclude()
            self._records[accepted] = former
        return await self.put(asked)

    async def stages(self, messages: Sequence[MessageRef]) -> Sequence[Stage]:
        """Look at each."""
        return [self._records.get(each, Record(each)).stage for each in messages]

    async def kept_for(self) -> Kept:
        """Nothing is ever lost."""
        return Kept(timedelta.max, "1")

    async def knows(self, message: MessageRef) -> bool:
        """Say whether a message was put as a question."""
        self._check()
        return message in self._records and self._records[message].state != "early"

    async def running(self, thread: ThreadRef) -> Question | None:
        """Give the question that a thread waits for."""
        self._check()
        return next((None if each.deleted else each.question for each in self._lines.get(thread, ())), None)

    async def announce(self, message: MessageRef, notice: WaitNotice) -> bool:
        """Keep what is said below a question, unless somebody is at that, or was just now, or more is said there."""
        self._check()
        record = self._records.get(message, Record(message))
        is_free = record.state == "waiting" and not (record.attempts or record.begun or record.deleted)
        is_noted = is_free and record.delivery.notice in (None, notice.model_copy(update={"id": ""}))
        if is_noted:
            record.delivery = record.delivery.model_copy(update={"notice": notice})
        return is_noted

    async def backlog(self) -> Backlog:
        """Count what there is to do."""
        running = sum(record.state == "running" for record in self._records.values())
        return Backlog(await self.waiting(), running, len(self.dead))

    async def waiting(self) -> int:
        """Count the questions that nobody works on yet."""
        self._check()
        return sum(record.state in ("accepted", "waiting") for record in self._records.values())

    async def forget(self, place: AnyPlace, person_id: str | None = None, *, before: datetime | None = None) -> int:
        """Remove what a person has asked."""
        self._check()
        records = tuple(self._records.values())
        gone = sum(self._forget(each) for each in records if each.may_be_by(place, person_id, before))
        if person_id is not None:
            for record in records:
                record.quote_no_more(place, person_id)
        return gone

    async def begin_anew(self, threads: Collection[ThreadRef]) -> None:
        """Tell whoever works on the first question of each."""
        self._check()
        for line in [self._lines[each] for each in threads if self._lines.get(each)]:
            line[0].begin_anew()

    async def count_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Count of what a person has asked the words are kept."""
        self._check()
        theirs = [each for each in self._records.values() if each.is_by(home, person_id) and not each.deleted]
        return sum(each.state not in ("done", "dead") or each.kept is not None for each in theirs)

    async def keep(self, task: Task) -> bool:
        """Keep the words of a task."""
        self._check()
        record = self._records[task.message]
        if not record.is_held_as(task):
            return False
        if not record.is_outdated(task):
            record.keep()
        return True

    @asynccontextmanager
    async def claim(self) -> AsyncGenerator[Task]:
        """Hold the next task while the block runs."""
        record = await self._next()
        record.state, record.kept = "running", None
        record.attempts += 1
        record.fence += 1
        task = record.task()
        try:
            yield task
        except ShutOut:
            record.begun = True
            if not self._again(record, task):
                record.give_back()
                self._wait(record, self._delays[-1])
            raise
        except Exception as error:
            if not self._again(record, task):
                self._fail(record, error, is_last=task.is_last_attempt)
            raise
        except BaseException:
            record.begun = True
            if not self._again(record, task):
                record.give_back(counts=task.begun.is_set())
                self._ready.put_nowait(record.message.thread)
            raise
        if record.is_held_as(task) and not self._again(record, task):
            record.state, record.concluded, record.asked, record.begun = "done", True, None, False
            self._leave(record)

    def withdrawal(self, claim: Claim) -> Withdrawal:
        """Hold it as that."""
        return self._records[claim.message].withdrawal(claim)

    async def record(self, task: Task, delivery: Delivery) -> bool:
        """Keep which messages belong to the task."""
        self._check()
        return self._records[task.message].note(task, delivery)

    async def delivered(self, message: MessageRef) -> Delivery:
        """Give what was recorded."""
        return self._records[message].delivery if message in self._records else Delivery()

    async def has_gone(self, messages: Sequence[MessageRef]) -> bool:
        """Look for deletions."""
        return any(each in self._records and self._records[each].deleted for each in messages)

    async def holds(self, task: Task) -> bool:
        """Say whether the task is still ours."""
        return self._records[task.message].is_held_as(task)

    def lose(self, message: MessageRef) -> None:
        """Let whoever works on a question be robbed of it, by somebody who has answered it by now."""
        record = self._records[message]
        record.state, record.fence = "done", record.fence + 1
        self._lines[message.thread].remove(record)
        record.cancelled.set(Interruption.LOST)

    def outlive(self, message: MessageRef, *, workers: int, delivery: Delivery | None = None) -> None:
        """Let a question that waits be as so many workers left it that died."""
        self._records[message].outlive(workers, delivery)

    def _check(self) -> None:
        if self.fails:
            self.refusals += 1
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")

    def _ask(self, record: Record, asked: Asked) -> bool:
        if record.state != "early" or record.deleted:
            return False
        early = record.question
        record.question = early if early and early.revision > asked.question.revision else asked.question
        record.address, record.asked = asked.address, asked.question.asked_at
        record.delivery, record.begun = asked.delivery or Delivery(), asked.delivery is not None
        self._join(record)
        self._bring_forward(record)
        return True

    def _edit(self, record: Record, question: Question) -> bool:
        if record.knows(question):
            return False
        record.question, record.kept, record.stopped = question, None, False
        record.first, record.paused = None, 0.0
        return self._change(record, Interruption.EDITED)

    def _delete(self, record: Record, known: Delivery | None = None) -> bool:
        if record.deleted:
            return False
        if record.state == "accepted":
            record.conclude()
            return True
        record.deleted, record.kept, record.stopped = True, None, False
        record.asked = record.asked if record.state == "running" else None
        if record.state == "waiting" and not record.was_taken and record.delivery == Delivery():
            record.state = "done"
            self._lines[record.message.thread].remove(record)
            return True
        record.begun = record.begun or record.state == "waiting"
        if record.state == "early" and known is not None:
            record.state, record.delivery, record.begun = "done", known, True
        return self._change(record, Interruption.DELETED)

    def _stop(self, record: Record) -> bool:
        if record.state not in ("waiting", "running") or record.deleted or record.stopped:
            return False
        record.stopped = True
        if record.state == "running":
            record.cancelled.set(Interruption.STOPPED)
        else:
            self._hurry(record.message.thread)
        return True

    def _forget(self, record: Record) -> bool:
        if record.state not in ("done", "dead"):
            return self._delete(record)
        had_words = record.kept is not None
        record.state, record.kept = "done", None
        self.dead.pop(record.message, None)
        return had_words

    def _retry(self, record: Record) -> bool:
        if record.deleted or record.state not in ("done", "dead") or record.kept is None:
            return False
        self.dead.pop(record.message, None)
        record.question, record.kept = record.kept, None
        record.concluded, record.retried = False, True
        self._join(record)
        return True

    def _doubt(self, record: Record, doubt: Recheck) -> bool:
        self.doubts.append(doubt)
        if record.deleted or record.question is None or doubt.question.revision != record.question.revision:
            return False
        record.supply(doubt.answer)
        if is_over := record.state in ("done", "dead"):
            attempts = 1 if self.dead.pop(record.message, None) is None else MOST_ATTEMPTS
            record.question, record.concluded = doubt.question, False
            self._join(record)
            record.attempts = attempts
        return is_over

    def _change(self, record: Record, interruption: Interruption) -> bool:
        record.unwrite()
        match record.state:
            case "early":
                return False
            case "running":
                record.cancelled.set(interruption)
            case "waiting":
                record.attempts = 0
                self._hurry(record.message.thread)
            case "accepted" | "done" | "dead":
                self.dead.pop(record.message, None)
                self._join(record)
        return True

    async def _next(self) -> Record:
        while True:
            self._check()
            thread = await self._ready.get()
            line = self._lines[thread]
            if line and line[0].state == "waiting":
                return line[0]

    def _again(self, record: Record, task: Task) -> bool:
        if not record.is_outdated(task):
            return False
        record.state, record.attempts = "waiting", 0
        self._ready.put_nowait(record.message.thread)
        return True

    def _fail(self, record: Record, error: Exception, *, is_last: bool) -> None:
        wait = error.wait if isinstance(error, PeopleUnavailable) else None
        record.attempts -= wait is not None
        if wait is None and is_last and not isinstance(error, ApologyFailed):
            record.state, record.concluded, record.asked = "dead", True, None
            record.stopped = record.begun = False
            self.dead[record.message] = error
            record.keep()
            self._leave(record)
            return
        self._wait(record, self._delays[min(record.attempts, len(self._delays)) - 1] if wait is None else wait)

    def _wait(self, record: Record, delay: float) -> None:
        thread, record.state = record.message.thread, "waiting"
        self._delayed[thread] = asyncio.get_running_loop().call_later(delay, self._hurry, thread)

    def _hurry(self, thread: ThreadRef) -> None:
        if handle := self._delayed.pop(thread, None):
            handle.cancel()
            self._ready.put_nowait(thread)

    def _join(self, record: Record) -> None:
        record.state, record.attempts, record.first, record.paused = "waiting", 0, None, 0.0
        line = self._lines.setdefault(record.message.thread, deque())
        line.append(record)
        if len(line) == 1:
            self._ready.put_nowait(record.message.thread)

    def _bring_forward(self, record: Record) -> None:
        """Let a question that came late go before those that were asked after it, as far as nobody has begun them."""
        line = self._lines[record.message.thread]
        assert record.question
        at = line.index(record)
        while at and line[at - 1].is_untouched_and_after(record.question.asked_at):
            line[at - 1], line[at], at = line[at], line[at - 1], at - 1

    def _leave(self, record: Record) -> None:
        record.stopped = False
        record.unwrite()
        line = self._lines[record.message.thread]
        line.popleft()
        if line:
            self._ready.put_nowait(record.message.thread)
