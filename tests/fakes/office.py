"""A worker with everything around it, and what it is given to say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta

from core.answering.agent import Agent
from core.answering.responder import Responder
from core.events import Event
from core.model import Answer
from core.ports import ChatSurface
from core.worker import Worker
from tests.builders import NOON, hit, thread
from tests.fakes.chat import ScriptedChatModel, ScriptedTurn, Silence, turn
from tests.fakes.clock import Clock
from tests.fakes.conversations import MemoryConversations
from tests.fakes.inbox import MemoryInbox
from tests.fakes.shelf import Shelf
from tests.fakes.surface import RecordingSurface
from tests.waiting import wait_until

WHOLE = (turn("Robots act [1]."),)


def silent(silence: Silence) -> tuple[ScriptedTurn, ...]:
    """An answer that goes no further than its first sentence."""
    return (turn("Robots act [1]. They ", silence),)


class Office:
    """A worker with everything around it, to look at afterwards."""

    def __init__(
        self, model: ScriptedChatModel, *, now: datetime = NOON, surface: RecordingSurface | None = None
    ) -> None:
        self.inbox = MemoryInbox()
        self.surface = surface or RecordingSurface()
        self.events: list[Event] = []
        self.memory = MemoryConversations(ttl=timedelta(hours=1), now=Clock().now)
        self._agent = Agent(model, Shelf(hit()), clock=Clock())
        self._now = now
        self.reopen()

    def listen(self) -> list[Event]:
        """Return what the agent tells from now on."""
        heard = list[Event]()
        self._agent.observer = heard.append
        return heard

    def reopen(self) -> None:
        """Take another worker in the place of one that has stopped."""
        responder = Responder(self._agent, self.memory, now=lambda: NOON, deliveries=self.inbox)
        self.worker = Worker(
            self.inbox,
            responder,
            {"test": self._there},
            self.memory,
            now=lambda: self._now,
            observer=self.events.append,
        )

    async def _there(self) -> ChatSurface:
        return self.surface

    @asynccontextmanager
    async def open(self, *, concurrency: int = 2) -> AsyncGenerator[asyncio.Task[None]]:
        """Let the worker work; at the end it stops in good order."""
        running = asyncio.create_task(self.worker.run(concurrency=concurrency, rest=0.01))
        yield running
        self.worker.stop()
        with suppress(asyncio.CancelledError):
            await running

    @property
    def answers(self) -> list[Answer]:
        """What was drawn to its end."""
        return [item for item in self.surface.shown if isinstance(item, Answer)]

    async def answered(self, count: int) -> list[Answer]:
        """Wait for so many answers."""
        await wait_until(lambda: len(self.answers) >= count, what="the answers")
        return self.answers

    async def remembered(self) -> list[str]:
        """Give the questions that the thread remembers."""
        return [each.question for each in (await self.memory.load(thread())).turns]
