"""Whatever is put, repeated, claimed, failed and changed, in any order: each question comes in its turn, and once."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.model import MOST_ATTEMPTS, Claim, Task, Withdrawal
from tests.builders import thread
from tests.fakes.inbox import MemoryInbox
from tests.fixtures.redis import Place, place
from tests.inboxes import PATIENCE, Box, asked, deleted, edited, quoting, redis_boxes, retried
from tests.portion import examples

THREADS = 3
QUESTIONS = 6

Doing: TypeAlias = Literal["ask", "edit", "delete", "retry", "forget", "claim", "keep", "settle", "fail", "hand back"]
Step: TypeAlias = tuple[Doing, int]


@dataclass
class Held:
    """A task that somebody works on."""

    task: Task
    stack: AsyncExitStack


@dataclass
class Expected:
    """What has to be given out for a message, as the rules say."""

    revision: int = -1
    deleted: bool = False
    attempts: int = 0
    begun: bool = False
    concluded: bool = False
    retried: bool = False
    kept: bool = False
    quotes: bool = True
    tries: int = 0


@dataclass
class Model:
    """The rules in short, beside an inbox that has to obey them."""

    inbox: Box
    lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    known: dict[str, Expected] = field(default_factory=lambda: defaultdict(Expected))
    held: dict[str, Held] = field(default_factory=dict[str, Held])
    finished: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])

    async def do(self, step: Step) -> None:
        """Take a step, if it makes sense now."""
        doing, number = step
        name, place = str(number), str(number % THREADS)
        match doing:
            case "ask":
                await self.ask(name, place)
            case "edit":
                await self.edit(name, place)
            case "delete":
                await self.delete(name, place)
            case "retry":
                await self.retry(name, place)
            case "forget":
                await self.forget()
            case "claim":
                await self.claim()
            case _ if self.held:
                busy = sorted(self.held)[number % len(self.held)]
                await (self.keep(busy) if doing == "keep" else self.end(doing, busy))
            case _:
                pass
        assert await self.inbox.waiting() == sum(map(len, self.lines.values())) - len(self.held)

    async def ask(self, name: str, place: str) -> None:
        """Ask once, or again."""
        question = self.known[name]
        is_new = question.revision < 0 and not question.deleted
        assert await self.inbox.put(quoting(asked(name, in_thread=place))) == is_new
        if is_new:
            question.revision = 0
            self.lines[place].append(name)

    async def edit(self, name: str, place: str) -> None:
        """Put a newer revision, and the same once more."""
        question = self.known[name]
        if question.revision < 0 or question.deleted:
            return
        question.revision += 1
        question.attempts, question.kept, question.quotes = 0, False, True
        signal = quoting(edited(name, in_thread=place, revision=question.revision))
        assert [await self.inbox.put(signal), await self.inbox.put(signal)] == [True, False]
        if name not in self.lines[place]:
            self.lines[place].append(name)

    async def delete(self, name: str, place: str) -> None:
        """Delete what was asked, and once more."""
        question = self.known[name]
        if question.revision < 0 or question.deleted:
            return
        signal = deleted(asked(name, in_thread=place))
        assert [await self.inbox.put(signal), await self.inbox.put(signal)] == [True, False]
        if name not in self.lines[place]:
            self.lines[place].append(name)
        self._withdraw(name, place)

    async def forget(self) -> None:
        """Forget everybody, and once more: what has not ended is withdrawn, and nothing is left to be tried again."""
        gone = 0
        for name, question in self.known.items():
            place = str(int(name) % THREADS)
            if name in self.lines[place] and not question.deleted:
                self._withdraw(name, place)
                gone += 1
            gone += question.kept
            question.kept = False
        assert [await self.inbox.forget(thread().home) for _ in range(2)] == [gone, 0]

    def _withdraw(self, name: str, place: str) -> None:
        question = self.known[name]
        was_touched = question.attempts > 0 or question.begun or name in self._running()
        was_shown = question.concluded or question.retried or was_touched
        question.deleted, question.attempts, question.kept = True, 0, False
        if not was_shown:
            self.lines[place].remove(name)

    async def retry(self, name: str, place: str) -> None:
        """Try again what has ended and is kept, and once more."""
        question = self.known[name]
        is_again = question.kept and name not in self.lines[place]
        signal = retried(asked(name, in_thread=place))
        assert [await self.inbox.put(signal), await self.inbox.put(signal)] == [is_again, False]
        if is_again:
            self.lines[place].append(name)
            question.kept, question.concluded, question.retried, question.quotes = False, False, True, False
            question.tries += 1

    async def keep(self, place: str) -> None:
        """Keep what somebody works on."""
        task = self.held[place].task
        assert await self.inbox.keep(task)
        if isinstance(task, Claim) and not self._is_outdated(task):
            self.known[task.message.id].kept = True

    async def claim(self) -> None:
        """Take the next task, if there is one: it is the first of a thread on which nobody works."""
        free = {place: line[0] for place, line in self.lines.items() if line and place not in self.held}
        if not free:
            return
        stack = AsyncExitStack()
        async with asyncio.timeout(PATIENCE):
            task = await stack.enter_async_context(self.inbox.claim())
        place, name = task.message.thread.thread, task.message.id
        question = self.known[name]
        question.attempts += 1
        question.kept = False
        assert free.get(place) == name
        assert task.attempt == question.attempts
        assert isinstance(task, Withdrawal) == question.deleted
        assert isinstance(task, Withdrawal) or (
            (task.question.revision, task.is_update) == (question.revision, question.concluded)
            and bool(task.question.context) == question.quotes
        )
        self.held[place] = Held(task, stack)

    async def end(self, doing: Doing, place: str) -> None:
        """Leave a task in one of three ways."""
        held = self.held.pop(place)
        name, question = held.task.message.id, self.known[held.task.message.id]
        error = {"fail": ValueError(), "hand back": asyncio.CancelledError()}.get(doing)
        await held.stack.__aexit__(type(error) if error else None, error, None)
        question.begun = question.begun or doing == "hand back"
        if self._is_outdated(held.task):
            question.attempts = 0
        elif doing == "hand back":
            question.attempts -= 1
        elif doing == "settle" or question.attempts >= MOST_ATTEMPTS:
            self.lines[place].remove(name)
            question.attempts, question.begun, question.concluded = 0, False, True
            question.kept = not question.deleted and (question.kept or doing == "fail")
            self.finished.append((name, -1 if question.deleted else question.revision, question.tries))

    async def finish(self) -> None:
        """Do all that is left, and see that there is nothing else."""
        for busy in sorted(self.held):
            await self.end("settle", busy)
        while any(self.lines.values()):
            await self.claim()
            await self.end("settle", next(iter(self.held)))
        await self.inbox.put(asked("last", in_thread="last"))
        async with asyncio.timeout(PATIENCE), self.inbox.claim() as task:
            assert task.message.id == "last"
        assert len(self.finished) == len(set(self.finished))

    def _is_outdated(self, task: Task) -> bool:
        question = self.known[task.message.id]
        return isinstance(task, Claim) and (question.deleted or task.question.revision != question.revision)

    def _running(self) -> set[str]:
        return {held.task.message.id for held in self.held.values()}


OFTEN: tuple[Doing, ...] = ("ask", "claim", "settle")
DOINGS: tuple[Doing, ...] = (*OFTEN, *OFTEN, "edit", "delete", "retry", "retry", "forget", "keep", "fail", "hand back")
STEPS = st.lists(st.tuples(st.sampled_from(DOINGS), st.integers(0, QUESTIONS - 1)), min_size=5, max_size=40)


async def obeys(inbox: Box, steps: list[Step]) -> None:
    """Let an inbox go through all the *steps*."""
    model = Model(inbox)
    for step in steps:
        await model.do(step)
    await model.finish()


@pytest.mark.promise("in-order")
@pytest.mark.promise("asked-once")
@pytest.mark.promise("retry")
@pytest.mark.promise("forget-workspace")
@pytest.mark.promise("queue-is-known")
@given(steps=STEPS)
@example(steps=[("ask", 0), ("claim", 0), ("hand back", 0), ("delete", 0)])
@settings(max_examples=examples(150), deadline=None)
def test_each_question_comes_in_its_turn_and_once(steps: list[Step]) -> None:
    """In memory."""
    asyncio.run(obeys(MemoryInbox(), steps))


@pytest.fixture(name="server", scope="module")
def _server(request: pytest.FixtureRequest) -> Place:
    return place("redis", request)


@pytest.mark.promise("in-order")
@pytest.mark.promise("asked-once")
@pytest.mark.promise("retry")
@pytest.mark.promise("forget-workspace")
@pytest.mark.promise("queue-is-known")
@given(steps=STEPS)
@example(steps=[("ask", 0), ("claim", 0), ("hand back", 0), ("delete", 0)])
@settings(max_examples=examples(40), deadline=None)
def test_each_question_comes_in_its_turn_and_once_from_the_server(server: Place, steps: list[Step]) -> None:
    """On the real one."""

    async def run() -> None:
        async with redis_boxes(server.url) as boxes:
            await obeys(boxes.here, steps)

    asyncio.run(run())
