"""Socket Mode: websockets of the app, one of which gets each thing that happens."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.servers.service import abort
from tests.servers.slack.deliveries import Attempt, Delivery
from tests.servers.slack.events import EVENTS
from tests.servers.slack.shape import Json

PATH = "/link/"
LONGEST = 18_060  # s, which the hello names as the time that a connection lives


class Connection:
    """A websocket, to which one task writes; `open` says whether anything new is sent over it."""

    def __init__(self, request: web.Request, socket: web.WebSocketResponse, number: int) -> None:
        self.request = request
        self.socket = socket
        self.number = number
        self.open = True
        self.sent: list[Json] = []
        self._frames: deque[Json | None] = deque()
        self._wake = asyncio.Event()

    def send(self, frame: Json | None) -> None:
        """Send a frame; None closes the connection after what was sent before."""
        if frame is None or frame.get("type") == "disconnect":
            self.open = False
        self._frames.append(frame)
        self._wake.set()

    def abort(self) -> None:
        """Cut the connection without a word."""
        self.open = False
        abort(self.request)

    @contextlib.asynccontextmanager
    async def writing(self) -> AsyncGenerator[None]:
        """Write, as long as the context is open."""
        task = asyncio.create_task(self._write())
        try:
            yield
        finally:
            self.open = False
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await task

    async def _write(self) -> None:
        while True:
            while self._frames:
                frame = self._frames.popleft()
                if frame is None:
                    await self.socket.close()
                    return
                self.sent.append(frame)
                await self.socket.send_json(frame)
            self._wake.clear()
            await self._wake.wait()


@dataclass
class Sockets:
    """The connections that are there and were there; `acks` counts acknowledgements that nobody waited for.

    Which connection gets something is chosen at random, by a generator that a test can seed.
    """

    app_id: str
    changed: Callable[[], None]
    random: random.Random = field(default_factory=lambda: random.Random(7))
    arrivals: list[Connection] = field(default_factory=list[Connection])
    tickets: set[str] = field(default_factory=set[str])
    unknown_acks: list[Json] = field(default_factory=list[Json])
    _waiting: dict[str, Delivery] = field(default_factory=dict[str, Delivery])

    @property
    def connected(self) -> list[Connection]:
        """The connections over which something can be sent."""
        return [connection for connection in self.arrivals if connection.open]

    def ticket(self) -> str:
        """Give what lets one connection in."""
        ticket = secrets.token_hex(8)
        self.tickets.add(ticket)
        return ticket

    def send(self, delivery: Delivery, number: int, reason: str = "") -> bool:
        """Send something over one of the connections; say whether there is one."""
        if not self.connected:
            return False
        connection = self.random.choice(self.connected)
        is_event = delivery.kind == EVENTS
        retry = {"retry_attempt": number, "retry_reason": reason} if is_event else {}
        frame: Json = {
            "envelope_id": delivery.id,
            "payload": delivery.payload,
            "type": delivery.kind,
            "accepts_response_payload": not is_event,
            **retry,
        }
        self._waiting[delivery.id] = delivery
        delivery.attempts.append(Attempt(f"socket {connection.number}", number))
        connection.send(frame)
        return True

    def ask_to_reconnect(self, reason: str = "refresh_requested", *, everybody: bool = False) -> None:
        """Tell the oldest connection, or every one, that it will be closed; nothing new comes over it."""
        for connection in self.connected if everybody else self.connected[:1]:
            connection.send({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}})
            if reason == "link_disabled":
                connection.send(None)

    def drop(self) -> None:
        """Cut every connection without a word."""
        for connection in self.connected:
            connection.abort()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection, as long as it lasts."""
        ticket = request.query.get("ticket", "")
        if ticket not in self.tickets:
            return web.Response(status=403)
        self.tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        connection = Connection(request, socket, len(self.arrivals) + 1)
        connection.send(self._hello())
        async with connection.writing():
            self.arrivals.append(connection)
            self.changed()
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._take(json.loads(message.data))
        self.changed()
        return socket

    def _hello(self) -> Json:
        debug: Json = {"host": "applink-1", "build_number": 1, "approximate_connection_time": LONGEST}
        count = len(self.connected) + 1
        return {
            "type": "hello",
            "num_connections": count,
            "debug_info": debug,
            "connection_info": {"app_id": self.app_id},
        }

    def _take(self, frame: Json) -> None:
        delivery = self._waiting.get(str(frame.get("envelope_id")))
        if delivery is None:
            self.unknown_acks.append(frame)
        else:
            delivery.acknowledge(frame.get("payload"))
        self.changed()
