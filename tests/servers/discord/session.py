"""A session of the gateway: what it was told, so that a connection that comes back is told what it missed."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from aiohttp import web

from tests.servers.discord.intents import Intent
from tests.servers.discord.platform import Event
from tests.servers.discord.shape import Json
from tests.servers.service import abort

DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, RESUME, RECONNECT, MEMBERS, INVALID, HELLO, ACK = (
    0,
    1,
    2,
    3,
    6,
    7,
    8,
    9,
    10,
    11,
)


class Connection:
    """A websocket, of which one task writes: first what steers it, then the session's events in their order."""

    def __init__(self, request: web.Request, socket: web.WebSocketResponse) -> None:
        self.request = request
        self.socket = socket
        self.session: Session | None = None
        self._written = 0
        self._controls: deque[Json] = deque()
        self._close_code: int | None = None
        self._wake = asyncio.Event()

    def control(self, op: int, data: object = None) -> None:
        """Send something that is no event."""
        self._controls.append({"op": op, "d": data})
        self._wake.set()

    def attach(self, session: Session, *, written: int) -> None:
        """Send the session's events after the *written* first ones, and all that will come."""
        if session.connection is not None:
            session.connection.session = None
        self.session = session
        self._written = written
        session.connection = self
        self._wake.set()

    def wake(self) -> None:
        """There is something to write."""
        self._wake.set()

    def close(self, code: int) -> None:
        """Close the connection with a code, after what is still to be written."""
        self._close_code = code
        self._wake.set()

    def abort(self) -> None:
        """Cut the connection without a word."""
        abort(self.request)

    @contextlib.asynccontextmanager
    async def writing(self) -> AsyncGenerator[None]:
        """Write, as long as the context is open."""
        task = asyncio.create_task(self._write())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await task
            if self.session is not None and self.session.connection is self:
                self.session.connection = None

    async def _write(self) -> None:
        while True:
            while self._controls:
                await self.socket.send_json(self._controls.popleft())
            session = self.session
            if session is not None and self._written < len(session.told):
                frame = session.told[self._written]
                self._written += 1
                await self.socket.send_str(frame)
            elif self._close_code is not None:
                await self.socket.close(code=self._close_code)
                return
            else:
                self._wake.clear()
                await self._wake.wait()


@dataclass(eq=False)
class Session:
    """What one shard is told; `told` holds every event with its number, from 1."""

    id: str
    shard: tuple[int, int]
    intents: Intent
    told: list[str] = field(default_factory=list[str])
    connection: Connection | None = None

    def wants(self, event: Event) -> bool:
        """Whether the event belongs to this shard and to its intents; direct messages go to the first shard."""
        place, count = self.shard
        is_here = place == 0 if event.guild_id is None else (event.guild_id >> 22) % count == place
        return is_here and (event.intent == 0 or bool(self.intents & event.intent))

    def tell(self, event: Event) -> None:
        """Add an event, with what this session may read of it."""
        readable = event.blank is None or Intent.MESSAGE_CONTENT in self.intents
        self.write(event.name, event.data if readable or event.blank is None else event.blank)

    def write(self, name: str, data: Json) -> None:
        """Add an event under the next number."""
        frame = {"op": DISPATCH, "t": name, "s": len(self.told) + 1, "d": data}
        self.told.append(json.dumps(frame))
        if self.connection is not None:
            self.connection.wake()
