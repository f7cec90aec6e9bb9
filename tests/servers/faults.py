"""What requests meet in place of the right answer, by route."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from aiohttp import web

from tests.servers.service import BEAT, Hang, Reply, Reset, Trickle, abort

EVERY = "*"
PIECE = 8_192  # words of an answer that never ends, sent at a time


@dataclass(frozen=True, slots=True)
class Lost:
    """The request is carried out, and something else is answered, or the connection is reset before that."""

    instead: Reply | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """The request waits for the event, and then goes on as it should."""

    until: asyncio.Event


Fault: TypeAlias = Reply | Reset | Hang | Trickle | Lost | Hold


@dataclass
class Faults:
    """Waiting in a line for each route; `*` is every route. `met` are those that requests ran into."""

    met: list[Fault] = field(default_factory=list[Fault])
    _lines: dict[str, list[Fault]] = field(default_factory=dict[str, list[Fault]])
    _broken: dict[str, Fault] = field(default_factory=dict[str, Fault])

    def add(self, route: str, *faults: Fault) -> None:
        """Let the next requests of a route meet these, one each."""
        self._lines.setdefault(route, []).extend(faults)

    def break_(self, route: str, fault: Fault) -> None:
        """Let every request of a route meet this, until it is mended."""
        self._broken[route] = fault

    def mend(self) -> None:
        """Let everything work."""
        self._lines.clear()
        self._broken.clear()

    def take(self, route: str) -> Fault | None:
        """Give what a request of this route meets, and keep it on record."""
        lines = (self._lines.get(name) for name in (route, EVERY))
        fault = next((line.pop(0) for line in lines if line), self._broken.get(route, self._broken.get(EVERY)))
        if fault is not None:
            self.met.append(fault)
        return fault


async def met(
    fault: Fault | None, request: web.Request, answer: Callable[[], web.Response], content_type: str
) -> web.StreamResponse:
    """Let a request meet a fault; without one, or after it has been held, it gets the right answer.

    `content_type` is the platform's own: discord.py reads JSON only where Discord's stands, to the letter.
    """
    match fault:
        case None:
            return answer()
        case Hold(until):
            await until.wait()
            return answer()
        case Lost(instead=Reply() as reply) | (Reply() as reply):
            if isinstance(fault, Lost):
                answer()
            headers = {"Content-Type": content_type, **reply.headers}
            return web.Response(status=reply.status, body=reply.payload, headers=headers)
        case _:
            await _break_off(fault, request, answer)
    raise asyncio.CancelledError


async def _break_off(fault: Fault, request: web.Request, answer: Callable[[], web.Response]) -> None:
    """Answer nothing, or without an end, until the client hangs up, or reset the connection."""
    match fault:
        case Trickle(status):
            response = web.StreamResponse(status=status, headers={"Content-Type": "text/plain"})
            await response.prepare(request)
            while True:
                await response.write(b"endless " * PIECE)
                await asyncio.sleep(BEAT)
        case Hang():
            await asyncio.Event().wait()
        case Lost():
            answer()
        case _:
            pass
    abort(request)
