"""What the HTTP services have in common: a socket, a record of requests, and things that go wrong on demand."""

from __future__ import annotations

import asyncio
import json
import socket as socketlib
import struct
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aiohttp import web

from tests.servers.listener import Listener


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came over the socket; `body` is parsed JSON, or None."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer given in place of the right one."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def payload(self) -> bytes:
        """The body as it goes over the socket: bytes as they are, text encoded, anything else as JSON."""
        match self.body:
            case bytes(raw):
                return raw
            case str(text):
                return text.encode()
            case other:
                return json.dumps(other).encode()


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset before a byte is answered."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing is answered until the client hangs up."""


@dataclass(frozen=True, slots=True)
class Trickle:
    """An answer of blanks that keep coming until the client hangs up."""

    status: int = 200


Fault: TypeAlias = Reply | Reset | Hang | Trickle
BEAT = 0.01  # seconds between two pieces of what never ends


class Service(Listener, ABC):
    """A server on a port of this machine that was free; it keeps its port when it goes down and comes back.

    Faults wait in a line: each request takes the next one; where that is None, or none is left, the service answers as
    it should.
    `broken` is the fault of every request, as long as it is set. Each is answered after the seconds of a *delay*.
    """

    def __init__(self) -> None:
        super().__init__(self._handle)
        self.received: list[Received] = []
        self.faults: deque[Fault | None] = deque()
        self.broken: Fault | None = None
        self.delay = 0.0
        self.hung_up = asyncio.Event()

    @abstractmethod
    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Answer as the real service would."""

    async def was_asked(self, times: int, *, seconds: float) -> None:
        """Wait until it was asked so many times. Raises `TimeoutError`."""
        async with asyncio.timeout(seconds):
            while len(self.received) < times:  # noqa: ASYNC110 - whoever asks is another process
                await asyncio.sleep(0.02)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        received = await _read(request)
        self.received.append(received)
        fault = self.faults.popleft() if self.faults else self.broken
        if self.delay:
            await asyncio.sleep(self.delay)
        match fault:
            case None:
                return await self.answer(request, received)
            case Reply():
                return web.Response(
                    status=fault.status,
                    body=fault.payload,
                    headers={"Content-Type": "application/json", **fault.headers},
                )
            case Reset():
                abort(request)
                raise asyncio.CancelledError
            case Hang():
                await self.hang()
                raise asyncio.CancelledError
            case Trickle():
                response = web.StreamResponse(status=fault.status, headers={"Content-Type": "application/json"})
                await response.prepare(request)
                await self.repeat(response, b" ")
                raise asyncio.CancelledError

    async def hang(self) -> None:
        """Wait until the client hangs up, and take note of it."""
        try:
            await asyncio.Event().wait()
        finally:
            self.hung_up.set()

    async def repeat(self, response: web.StreamResponse, piece: bytes) -> None:
        """Send the same piece until the client hangs up, and take note of it."""
        try:
            while True:
                await response.write(piece)
                await asyncio.sleep(BEAT)
        except ConnectionResetError:
            pass
        finally:
            self.hung_up.set()


def abort(request: web.Request) -> None:
    """Reset the connection, so that the client's kernel sees it end without a word."""
    if request.transport is not None:
        socket: socketlib.socket = request.transport.get_extra_info("socket")
        socket.setsockopt(socketlib.SOL_SOCKET, socketlib.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()


async def _read(request: web.Request) -> Received:
    raw = await request.read()
    try:
        body = json.loads(raw) if raw else None
    except ValueError:
        body = None
    return Received(request.method, request.path_qs, dict(request.headers), body)
