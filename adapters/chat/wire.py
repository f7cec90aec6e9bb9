"""What every request to a platform passes each time that it is sent, whichever client sends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from adapters.chat.held import ask_before
from adapters.retry import retry_after
from core.events import unobserved

if TYPE_CHECKING:
    from aiohttp import ClientSession, TraceConfig, TraceRequestEndParams

TOO_MANY_REQUESTS = 429


def traced(waited: Callable[[float], object] = unobserved) -> TraceConfig:
    """Return what has a session ask before it changes something; *waited* hears how long a platform wants peace."""
    from aiohttp import TraceConfig

    async def listen(_session: ClientSession, _context: object, ended: TraceRequestEndParams) -> None:
        if ended.response.status == TOO_MANY_REQUESTS:
            waited(retry_after(ended.response.headers) or 0.0)

    trace = TraceConfig()
    trace.on_request_start.append(ask_before)
    trace.on_request_end.append(listen)
    return trace
