"""Lets a worker act on a task only as long as nobody else can have taken it over.

A request is asked about as the last thing before it is sent, so that it counts for nothing how long it had to wait for
its turn. What remains is a process that stands still between the question and the sending.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from core.errors import LeaseLost
from core.events import Observer, Passed, Step, unobserved
from core.model import Delivery, Task
from core.ports import Deliveries

READING = frozenset({"GET", "HEAD", "OPTIONS"})
_CURRENT: ContextVar[Held | None] = ContextVar("held", default=None)


class Request(Protocol):
    """What is known of a request before it is sent."""

    @property
    def method(self) -> str:
        """How it is made."""
        ...


class Held:
    """A task that is worked on; without *deliveries* nobody else can take it, and nothing is noted."""

    def __init__(self, task: Task, deliveries: Deliveries | None, observer: Observer = unobserved) -> None:
        self.task = task
        self._deliveries = deliveries
        self._observer = observer

    @contextmanager
    def applies(self) -> Generator[None]:
        """Have all requests asked about that are made in this context, also by tasks that are begun in it."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    async def check(self) -> None:
        """Raise `LeaseLost` if another worker may have the task."""
        if self._deliveries is not None and not await self._deliveries.holds(self.task):
            raise LeaseLost("another worker has the question")

    async def record(self, delivery: Delivery) -> None:
        """Note what belongs to the task. Raises `LeaseLost`, or `StoreUnavailable`."""
        if self._deliveries is not None and not await self._deliveries.record(self.task, delivery):
            raise LeaseLost("another worker has the question")

    def passed(self, step: Step) -> None:
        """Tell that something was done."""
        self._observer(Passed(self.task.message, step))


async def ask_before(_session: object, _context: object, request: Request) -> None:
    """Raise `LeaseLost` for a request that would change something about a task that another worker may have.

    The form is the one that aiohttp calls before it sends something, each time that it does.
    """
    held = _CURRENT.get()
    if held is not None and request.method not in READING:
        await held.check()
