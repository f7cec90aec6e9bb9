"""Asks whether a task is still held as the last thing before each request that changes something is written.

So it counts for nothing how long a request had to wait for its turn, or for a connection. What remains is a process
that stands still between two lines of code: nothing on our side can call back what it sends when it goes on, and
whoever has the task by then cannot know for how long to wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from adapters.retry import retry_after
from core.errors import LeaseLost
from core.events import unobserved
from core.model import Task
from core.ports import Deliveries

if TYPE_CHECKING:
    import aiohttp

Held: TypeAlias = Callable[[], Awaitable[bool]]
"""Whether the task that is worked on is still held. Raises `StoreUnavailable`."""

LOST = "another worker has the question"
READING = frozenset({"GET", "HEAD", "OPTIONS"})
TOO_MANY_REQUESTS = 429
_HELD: ContextVar[Held | None] = ContextVar("held", default=None)


@contextmanager
def while_held(task: Task, deliveries: Deliveries | None) -> Generator[None]:
    """Have all requests asked about that are made in this context, also by tasks that are begun in it.

    Without *deliveries* nobody else can take the task.
    """
    token = _HELD.set(partial(deliveries.holds, task) if deliveries is not None else None)
    try:
        yield
    finally:
        _HELD.reset(token)


async def is_held() -> bool:
    """Return whether what is worked on in this context is still held. Raises `StoreUnavailable`."""
    held = _HELD.get()
    return held is None or await held()


async def sleep_held(seconds: float) -> None:
    """Sleep before something is tried again. Raises `LeaseLost` if it is another worker's by then."""
    await asyncio.sleep(seconds)
    if not await is_held():
        raise LeaseLost(LOST)


def traced(
    waited: Callable[[float], object] = unobserved,
    *,
    before: Callable[[aiohttp.TraceRequestHeadersSentParams], object] = unobserved,
    after: Callable[[aiohttp.TraceRequestEndParams], object] = unobserved,
) -> aiohttp.TraceConfig:
    """Return what has a session ask before it changes something; *waited* hears how long a platform wants peace.

    *before* may refuse a request by raising `PostingFailed`, and *after* hears how each was answered.
    """
    from aiohttp import TraceConfig, TraceRequestHeadersSentParams

    async def require_lease(
        _session: object, _context: object, request: TraceRequestHeadersSentParams | aiohttp.TraceRequestChunkSentParams
    ) -> None:
        """Raise `LeaseLost` for a request that would change something about a task that another worker may have."""
        if isinstance(request, TraceRequestHeadersSentParams):
            before(request)
        if request.method not in READING and not await is_held():
            raise LeaseLost(LOST)

    async def listen(_session: object, _context: object, ended: aiohttp.TraceRequestEndParams) -> None:
        if ended.response.status == TOO_MANY_REQUESTS:
            waited(retry_after(ended.response.headers) or 0.0)
        after(ended)

    trace = TraceConfig()
    # Both come right before something is written: headers go with the body, if there is one, and that a moment later.
    trace.on_request_headers_sent.append(require_lease)
    trace.on_request_chunk_sent.append(require_lease)
    trace.on_request_end.append(listen)
    return trace
