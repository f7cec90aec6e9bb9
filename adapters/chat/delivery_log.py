"""What a worker has to know before it changes anything on a platform, and what it notes of that.

A lease is asked about as the last thing before a request is sent, so that it counts for nothing how long the request
had to wait for its turn. What remains is a process that stands still between the question and the sending.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from adapters.chat.platform import Destination, Part, Posted
from adapters.retry import NOTE, retry_after
from core.errors import LeaseLost, PostingFailed, StoreUnavailable, Unreachable
from core.events import Observer, Passed, Step, unobserved
from core.model import Delivery, Task, WaitNotice
from core.ports import Deliveries

if TYPE_CHECKING:
    from aiohttp import ClientSession, TraceConfig, TraceRequestEndParams, TraceRequestStartParams

READING = frozenset({"GET", "HEAD", "OPTIONS"})
TOO_MANY_REQUESTS = 429
LONGEST_RETRACTING = 5.0  # seconds; the thread is held as long
_CURRENT: ContextVar[LeaseGuard | None] = ContextVar("lease", default=None)


@dataclass(frozen=True, slots=True)
class LeaseGuard:
    """A task that is worked on; without *deliveries* nobody else can take it, and nothing is noted."""

    task: Task
    deliveries: Deliveries | None

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
        if self.deliveries is not None and not await self.deliveries.holds(self.task):
            raise LeaseLost("another worker has the question")


def traced(waited: Callable[[float], object] = unobserved) -> TraceConfig:
    """Return what has a session ask before it changes something; *waited* hears how long a platform wants peace."""
    from aiohttp import TraceConfig

    async def require_lease(_session: ClientSession, _context: object, request: TraceRequestStartParams) -> None:
        """Raise `LeaseLost` for a request that would change something about a task that another worker may have."""
        guard = _CURRENT.get()
        if guard is not None and request.method not in READING:
            await guard.check()

    async def listen(_session: ClientSession, _context: object, ended: TraceRequestEndParams) -> None:
        if ended.response.status == TOO_MANY_REQUESTS:
            waited(retry_after(ended.response.headers) or 0.0)

    trace = TraceConfig()
    trace.on_request_start.append(require_lease)
    trace.on_request_end.append(listen)
    return trace


class DeliveryLog:
    """A `Poster` for a task that is held. That something is posted is noted before; which id it has, beside the rest.

    *showing* is called each time before something appears. Nothing is posted that could not be noted before, as nobody
    would find it after a crash: a post waits for its note as long as the task is held. A note that is refused, as
    another worker has the task, is `LeaseLost`.
    What was said below the question while it waited is taken away by *retract* once something of the answer stands.
    """

    def __init__(
        self,
        guard: LeaseGuard,
        destination: Destination,
        *,
        now: Callable[[], datetime],
        retract: Callable[[WaitNotice], Awaitable[object]],
        showing: Callable[[], object] = unobserved,
        observer: Observer = unobserved,
    ) -> None:
        delivery = guard.task.delivery
        self._guard = guard
        self._destination = destination
        self._poster = destination.poster
        self._now = now
        self._showing = showing
        self._observer = observer
        self._question = guard.task.message
        self._ids = [message.id for message in delivery.messages]
        self._leaving = [message.id for message in delivery.leaving]
        self._trying = delivery.trying
        self._notice = delivery.notice
        self._retract = retract
        self._retracting: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._is_old = False
        self._is_written = False
        self._is_lost = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._begin_retracting()
        if self._retracting is not None:
            await asyncio.wait({self._retracting}, timeout=LONGEST_RETRACTING)
            self._retracting.cancel()
        if self._writing is not None:
            await self._writing  # what is noted after this has to come after it

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message once it is noted that one is posted; what may have been posted before stays noted as well."""
        self._showing()
        before, self._trying = self._trying, self._trying or self._now()
        await NOTE.call(self._noted)
        self._observer(Passed(self._question, Step.POSTING))
        try:
            posted = await self._poster.post(part, nonce, obsolete)
        except Unreachable:
            raise  # it may be there
        except PostingFailed:
            self._trying = before
            raise
        self._observer(Passed(self._question, Step.POSTED))
        self._trying = None
        if posted.id not in self._ids:
            self._ids.append(posted.id)
        self._note()
        self._begin_retracting()
        return posted

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what a message shows, and have it noted if it is not."""
        self._showing()
        if message_id not in self._ids:
            self._ids.append(message_id)
            self._note()
        self._observer(Passed(self._question, Step.EDITING))
        await self._poster.edit(message_id, part, obsolete)
        self._observer(Passed(self._question, Step.EDITED))
        self._begin_retracting()

    async def delete(self, message_id: str) -> None:
        """Remove a message once it is noted that we do; the next worker would take it for a reader's wish otherwise."""
        if message_id not in self._leaving:
            self._leaving.append(message_id)
            self._ids = [name for name in self._ids if name != message_id]
            await NOTE.call(self._noted)
        await self._poster.delete(message_id)

    def _begin_retracting(self) -> None:
        """Begin to remove what is not true any more; what the platform does not do now, it would not do later."""
        if (notice := self._notice) is None or self._retracting is not None:
            return

        async def take_away() -> None:
            with suppress(PostingFailed):
                await self._retract(notice)
            self._notice = None
            self._note()

        self._retracting = asyncio.create_task(take_away())

    async def _noted(self) -> None:
        """Wait until the newest state is written. Raises `LeaseLost` if the task is not held, or `StoreUnavailable`."""
        await asyncio.shield(self._note())
        if self._is_lost:
            raise LeaseLost("another worker has the question")
        if not self._is_written:
            await self._guard.check()
            raise StoreUnavailable("The note could not be written.")

    def _note(self) -> asyncio.Task[None]:
        """Have the newest state written, after what is being written; return the task that does it."""
        self._is_old = True
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        return self._writing

    async def _write(self) -> None:
        while self._is_old and not self._is_lost:
            self._is_old = self._is_written = False
            delivery = Delivery(
                messages=self._destination.named(self._ids),
                leaving=self._destination.named(self._leaving),
                trying=self._trying,
                notice=self._notice,
            )
            store = self._guard.deliveries
            with suppress(StoreUnavailable):
                self._is_written = store is None or await store.record(self._guard.task, delivery)
                self._is_lost = not self._is_written
            if self._is_written and delivery.trying is None:
                self._observer(Passed(self._question, Step.NOTED))
