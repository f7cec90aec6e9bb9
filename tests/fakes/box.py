"""The end of an inbox that a listener puts things into."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from core.errors import StoreUnavailable
from core.model import (
    Asked,
    Backlog,
    Claim,
    Edited,
    Kept,
    MessageRef,
    Question,
    Signal,
    Stage,
    Task,
    ThreadRef,
    WaitNotice,
    Withdrawal,
)


@dataclass
class Box:
    """Keeps what comes, in order, and each thing once, as an inbox does; `crowd` is how many it says are waiting.

    It keeps what they are told as well, until they are `taken`; from so many times on as are `unannounced`, it fails.
    """

    signals: list[Signal] = field(default_factory=list[Signal])
    fails: bool = False
    crowd: int = 0
    came: asyncio.Event = field(default_factory=asyncio.Event)
    refused: asyncio.Event = field(default_factory=asyncio.Event)
    known: list[Signal] = field(default_factory=list[Signal])
    notices: list[WaitNotice] = field(default_factory=list[WaitNotice])
    taken: set[MessageRef] = field(default_factory=set[MessageRef])
    reached: dict[MessageRef, Stage] = field(default_factory=dict[MessageRef, Stage])
    unannounced: int | None = None
    age: timedelta = timedelta.max

    async def put(self, signal: Signal) -> bool | None:
        """Keep a signal."""
        self._check()
        if self._is_old(signal):
            return False
        if isinstance(signal, Asked) and signal.age is not None and signal.age > self.age:
            return None
        self.known.append(signal)
        self.signals.append(signal)
        self.came.set()
        return True

    def claim(self) -> contextlib.AbstractAsyncContextManager[Task]:
        """Nobody works here."""
        raise NotImplementedError

    def withdrawal(self, claim: Claim) -> Withdrawal:
        """Nobody works here."""
        raise NotImplementedError

    async def keep(self, task: Task) -> bool:
        """Nobody works here."""
        raise NotImplementedError

    async def knows(self, message: MessageRef) -> bool:
        """Look among the questions."""
        self._check()
        return any(isinstance(one, Asked) for one in self._about(message))

    async def kept_for(self) -> Kept:
        """Say for how long nothing was lost."""
        self._check()
        return Kept(self.age, "1")

    def lose(self) -> None:
        """Lose everything."""
        self.known.clear()
        self.age = timedelta()

    async def running(self, thread: ThreadRef) -> Question | None:
        """Look among the questions, of which nobody answers any."""
        self._check()
        asked = [one.question for one in self.known if isinstance(one, Asked)]
        return next((question for question in asked if question.message.thread == thread), None)

    async def announce(self, message: MessageRef, notice: WaitNotice) -> bool:
        """Keep what is said, as long as nobody has taken the question."""
        if self.unannounced is not None and len(self.notices) >= self.unannounced:
            self._check(fails=True)
        if message in self.taken:
            return False
        self.notices.append(notice)
        return True

    async def stages(self, messages: Sequence[MessageRef]) -> Sequence[Stage]:
        """Give what nobody has taken as waiting, unless the test says how far it has come."""
        return [self.reached.get(each, Stage.RUNNING if each in self.taken else Stage.WAITING) for each in messages]

    async def waiting(self) -> int:
        """Give what the test has said."""
        return self.crowd

    async def backlog(self) -> Backlog:
        """Give what the test has said, of which nobody answers any."""
        return Backlog(waiting=self.crowd)

    def _is_old(self, signal: Signal) -> bool:
        """Know a question by its message, and an edit by its revision."""
        same = self._about(signal.message)
        if isinstance(signal, Edited):
            return any(
                isinstance(one, Asked | Edited) and one.question.revision >= signal.question.revision for one in same
            )
        return any(one.kind == signal.kind for one in same)

    def _about(self, message: MessageRef) -> Sequence[Signal]:
        """Compare what differs first: to compare whole references takes most of the time of a test with hundreds."""
        return [one for one in self.known if one.message.id == message.id and one.message == message]

    def _check(self, *, fails: bool = False) -> None:
        if self.fails or fails:
            self.refused.set()
            raise StoreUnavailable("The store cannot be reached. Try again in a moment.")

    async def next(self) -> Signal:
        """Wait for one signal and take it."""
        async with asyncio.timeout(5):
            while not self.signals:
                self.came.clear()
                await self.came.wait()
        return self.signals.pop(0)

    async def question(self) -> Asked:
        """Wait for a question and take it."""
        asked = await self.next()
        assert isinstance(asked, Asked)
        return asked
