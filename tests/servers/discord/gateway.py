"""The gateway: websockets that identify or resume, are kept alive by heartbeats, and misbehave on demand."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import cast

from aiohttp import WSMsgType, web

from tests.servers.discord.guilds import Guild
from tests.servers.discord.intents import HIGHEST, Intent
from tests.servers.discord.payloads import guild_payload, user_payload
from tests.servers.discord.platform import Event, Platform
from tests.servers.discord.session import (
    ACK,
    HEARTBEAT,
    HELLO,
    IDENTIFY,
    INVALID,
    MEMBERS,
    PRESENCE,
    RECONNECT,
    RESUME,
    Connection,
    Session,
)
from tests.servers.discord.shape import Json
from tests.servers.service import abort

PRIVILEGED = Intent.MESSAGE_CONTENT
REFUSED_FOREVER = Intent.MEMBERS | Intent.PRESENCES  # nobody switched these on in the portal


class Closed(Exception):
    """The server closes the connection with a code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, slots=True)
class Arrival:
    """A connection that identified or resumed: the address it came to, and how."""

    path: str
    op: int
    shard: tuple[int, int] | None = None
    intents: Intent = Intent(0)


class Gateway:
    """Keeps the sessions; what tests make it do wrong are its methods and switches."""

    def __init__(self, *, token: str) -> None:
        self.url = ""
        self.token = token
        self.heartbeat_ms = 41_250
        self.heartbeats: list[int | None] = []
        self.arrivals: list[Arrival] = []
        self.sessions: dict[str, Session] = {}
        self.refused = 0
        self.refusing = False  # connections are reset before they open
        self.silent = False  # heartbeats are not acknowledged
        self.away: set[int] = set()  # guilds that an outage keeps from new sessions
        self.repeats = 0  # how many of the events already received a resumed session is told again
        self._connections: set[Connection] = set()
        self.platform: Platform

    # What tests make it do

    @property
    def connected(self) -> list[Session]:
        """The sessions that have a connection now."""
        return [session for session in self.sessions.values() if session.connection is not None]

    def drop(self) -> None:
        """Reset every connection; the sessions can be resumed."""
        for connection in list(self._connections):
            connection.abort()

    def close(self, code: int) -> None:
        """Close every connection with a code; the sessions are over."""
        self.sessions.clear()
        for connection in self._connections:
            connection.session = None
            connection.close(code)

    def ask_to_reconnect(self) -> None:
        """Tell every connection to come again, as the platform does every few hours."""
        for connection in self._connections:
            connection.control(RECONNECT)

    def invalidate(self) -> None:
        """End every session; whoever resumes has to identify again, and what happened between is lost to it."""
        connections = list(self._connections)
        self.sessions.clear()
        for connection in connections:
            connection.session = None
            connection.control(INVALID, data=False)

    def tell(self, event: Event) -> None:
        """Tell an event to every session that it belongs to, connected or not."""
        for session in self.sessions.values():
            if session.wants(event):
                session.tell(event)
        self.platform.changes.tell()

    # A connection

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one websocket until it ends."""
        if self.refusing:
            self.refused += 1
            self.platform.changes.tell()
            abort(request)
            raise web.HTTPServiceUnavailable
        socket = web.WebSocketResponse(autoping=True, max_msg_size=4096)
        await socket.prepare(request)
        connection = Connection(request, socket)
        self._connections.add(connection)
        try:
            async with connection.writing():
                connection.control(HELLO, {"heartbeat_interval": self.heartbeat_ms, "_trace": []})
                await self._read(connection)
        finally:
            self._connections.discard(connection)
            self.platform.changes.tell()
        return socket

    async def _read(self, connection: Connection) -> None:
        socket = connection.socket
        try:
            _check_version(connection.request.query.get("v"))
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    self._receive(connection, _parsed(frame.data))
                    self.platform.changes.tell()
        except Closed as closed:
            await socket.close(code=closed.code, message=str(closed).encode())
        session = connection.session
        if session is not None and socket.close_code in (1000, 1001):
            self.sessions.pop(session.id, None)  # a client that says goodbye does not come back

    def _receive(self, connection: Connection, frame: Json) -> None:
        match frame.get("op"):
            case op if op == HEARTBEAT:
                self.heartbeats.append(frame.get("d"))
                if not self.silent:
                    connection.control(ACK)
            case op if op == IDENTIFY:
                self._identify(connection, frame["d"])
            case op if op == RESUME:
                self._resume(connection, frame["d"])
            case op if op in (PRESENCE, MEMBERS):
                if connection.session is None:
                    raise Closed(4003, "Not authenticated.")
            case _:
                raise Closed(4001, "Unknown opcode.")

    def _identify(self, connection: Connection, data: Json) -> None:
        if connection.session is not None:
            raise Closed(4005, "Already authenticated.")
        if data.get("token") != self.token:
            raise Closed(4004, "Authentication failed.")
        place, count = data.get("shard") or (0, 1)
        if not 0 <= place < count:
            raise Closed(4010, "Invalid shard.")
        self._check_intents(data.get("intents", 0))
        session = Session(secrets.token_hex(16), (place, count), Intent(data["intents"]))
        self.arrivals.append(Arrival(connection.request.path, IDENTIFY, session.shard, session.intents))
        self.sessions[session.id] = session
        self._greet(session)
        connection.attach(session, written=0)

    def _check_intents(self, intents: int) -> None:
        if not 0 <= intents < HIGHEST:
            raise Closed(4013, "Invalid intent(s).")
        allowed = Intent(0) if not self.platform.message_content else PRIVILEGED
        if intents & (PRIVILEGED | REFUSED_FOREVER) & ~allowed:
            raise Closed(4014, "Disallowed intent(s).")

    def _greet(self, session: Session) -> None:
        """Write what a new session is told first: who it is, and the guilds of its shard."""
        place, count = session.shard
        bot = self.platform.bot
        guilds = [guild for guild in self.platform.guilds.values() if bot.id in guild.members]
        here = [guild for guild in guilds if (guild.id >> 22) % count == place]
        ready: Json = {
            "v": 10,
            "user": user_payload(bot),
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in here],
            "session_id": session.id,
            "resume_gateway_url": f"{self.url}/resume/",
            "shard": [place, count],
            "application": {"id": str(bot.id), "flags": 0},
        }
        session.write("READY", ready)
        for guild in here:
            if guild.id not in self.away:
                self._introduce(session, guild)

    def _introduce(self, session: Session, guild: Guild) -> None:
        if Intent.GUILDS in session.intents:
            session.write("GUILD_CREATE", guild_payload(self.platform, guild))

    def _resume(self, connection: Connection, data: Json) -> None:
        if data.get("token") != self.token:
            raise Closed(4004, "Authentication failed.")
        self.arrivals.append(Arrival(connection.request.path, RESUME))
        session = self.sessions.get(str(data.get("session_id")))
        if session is None:
            connection.control(INVALID, data=False)
            return
        seen = data.get("seq") or 0
        if not 0 <= seen <= len(session.told):
            raise Closed(4007, "Invalid seq.")
        session.write("RESUMED", {"_trace": []})
        connection.attach(session, written=max(1, seen - self.repeats) if self.repeats else seen)


def _check_version(version: str | None) -> None:
    if version != "10":
        raise Closed(4012, "Invalid API version.")


def _parsed(text: str) -> Json:
    try:
        frame = json.loads(text)
    except ValueError:
        frame = None
    if not isinstance(frame, dict):
        raise Closed(4002, "Decode error.")
    return cast("Json", frame)
