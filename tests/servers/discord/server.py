"""Discord on a real socket: requests and gateway on one port, with a state that assertions read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from aiohttp import BodyPartReader, web

from tests.servers.discord import (
    account_routes,
    command_permissions,
    command_routes,
    interaction_routes,
    message_routes,
    refusals,
    thread_routes,
)
from tests.servers.discord.acting import Acting
from tests.servers.discord.clock import ServerClock
from tests.servers.discord.gateway import Gateway
from tests.servers.discord.guilds import User
from tests.servers.discord.limits import Limited, RateLimits
from tests.servers.discord.platform import Platform
from tests.servers.discord.routes import Call, Route, find, place_of
from tests.servers.faults import Faults, met
from tests.servers.listener import Listener
from tests.servers.service import Received

TOKEN = "MTA0OTYyMTEwMTM2NzU3NDUyOA.GtestE.not-a-real-token-of-the-tests"
API = "/api/v10"
FILES = "/attachments/"
JSON = "application/json"
PATIENCE = 5.0
INVALID = (401, 403)


@dataclass(frozen=True, slots=True)
class Handled:
    """A request, the route it went to, and the status it was answered with; None if it was not answered."""

    route: str
    received: Received
    status: int | None


class DiscordServer(Listener, Acting):
    """Serves `/api/v10/...` and the gateway, and holds both to the platform's rules.

    `platform` is the state, `gateway` and `limits` and `faults` are what misbehaves on demand, and `requests` is what
    came, in order. People act by the methods.
    """

    def __init__(self, *, token: str = TOKEN) -> None:
        super().__init__(self._handle)
        self.token = token
        self.clock = ServerClock()
        self.gateway = Gateway(token=token)
        self.platform = self.gateway.platform = Platform(self.clock, self.gateway.tell)
        self.limits = RateLimits(self.clock)
        self.faults = Faults()
        self.requests: list[Handled] = []
        self.recommended_shards = 1
        self._routes = (
            *account_routes.ROUTES,
            *message_routes.ROUTES,
            *thread_routes.ROUTES,
            *command_permissions.ROUTES,
            *command_routes.ROUTES,
            *interaction_routes.ROUTES,
            Route("GET /gateway", self._where),
            Route("GET /gateway/bot", self._where_for_bots),
        )

    @property
    def bot(self) -> User:
        """The bot's account."""
        return self.platform.bot

    @property
    def api_url(self) -> str:
        """What a client is given as the address of the requests."""
        return f"{self.url}{API}"

    @property
    def gateway_url(self) -> str:
        """What a client is given as the address of the gateway."""
        return f"{self.gateway.url}/gateway/"

    async def up(self) -> None:
        """Listen, on the same port as before: sessions can be resumed."""
        await super().up()
        self.gateway.url = f"ws://127.0.0.1:{self.port}"
        self.platform.cdn = self.url

    async def until(
        self, is_true: Callable[[], object], *, what: str = "what was waited for", seconds: float = PATIENCE
    ) -> None:
        """Return as soon as *is_true* says so, which is asked whenever something happened here."""
        await self.platform.changes.until(is_true, seconds, what)

    async def connected(self, shards: int = 1, *, seconds: float = PATIENCE) -> None:
        """Return when so many shards have a session and a connection."""
        await self.until(lambda: len(self.gateway.connected) >= shards, what="a connected shard", seconds=seconds)

    def requests_to(self, route: str) -> list[Handled]:
        """Give the requests of a route, such as `POST /channels/{channel}/messages`."""
        return [handled for handled in self.requests if handled.route == route]

    def _where(self, platform: Platform, call: Call) -> dict[str, Any]:
        return {"url": self.gateway_url}

    def _where_for_bots(self, platform: Platform, call: Call) -> dict[str, Any]:
        left = {"total": 1000, "remaining": 1000 - len(self.gateway.arrivals), "reset_after": 0, "max_concurrency": 1}
        return {"url": self.gateway_url, "shards": self.recommended_shards, "session_start_limit": left}

    # A request

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        path = request.rel_url.raw_path
        if path in ("/gateway/", "/resume/"):
            return await self.gateway.serve(request)
        found = find(self._routes, request.method, path.removeprefix(API)) if path.startswith(API) else None
        received, files = await _read(request)
        name = found[0].name if found else f"{request.method} {path}"
        name = f"{request.method} {FILES}" if path.startswith(FILES) else name
        status: int | None = None
        try:
            fault = self.faults.take(name)
            self.platform.changes.tell()
            answer = partial(self._answer, found, received, files)
            if path.startswith(FILES):
                answer = partial(self._file, request)
            response = await met(fault, request, answer, JSON)
            status = response.status
            return response
        finally:
            self.requests.append(Handled(name, received, status))
            self.platform.changes.tell()

    def _answer(
        self, found: tuple[Route, dict[str, str]] | None, received: Received, files: tuple[str, ...]
    ) -> web.Response:
        headers: dict[str, str] = {}
        try:
            if found is None:
                raise refusals.not_found()
            route, parts = found
            if route.needs_token and received.headers.get("Authorization") != f"Bot {self.token}":
                raise refusals.unauthorized()
            taken = self.limits.take(route.name, place_of(parts), counts_everywhere=route.needs_token)
            if isinstance(taken, Limited):
                return _json(429, taken.body, taken.headers)
            headers = taken
            query = dict(_query(received.path))
            answered = route.answer(self.platform, Call(parts, query, received.body, received.headers, files))
            return _json(204, None, headers) if answered is None else _json(route.status, answered, headers)
        except refusals.Refusal as refusal:
            self.limits.invalid += refusal.status in INVALID
            return _json(refusal.status, refusal.body, headers)

    def _file(self, request: web.Request) -> web.Response:
        """Answer with what somebody has uploaded, at an address that is signed; no token is wanted for that."""
        _, _, channel, message, name = request.path.split("/")
        found = self.platform.messages.get(int(message))
        is_there = found is not None and not found.deleted and str(found.channel_id) == channel
        uploads = [each for each in found.uploads if each.name == name] if found and is_there else []
        if not uploads or not self.platform.is_signed(request.query):
            return web.Response(status=404, text="This content is no longer available.")
        kind = uploads[0].kind or "application/octet-stream"
        return web.Response(body=uploads[0].body, headers={"Content-Type": kind})


def _json(status: int, body: Any, headers: dict[str, str]) -> web.Response:
    """Answer with JSON whose type is written exactly as the platform writes it: without a charset."""
    if status == 204:
        return web.Response(status=status, headers=headers)
    return web.Response(status=status, body=json.dumps(body), headers={**headers, "Content-Type": JSON})


def _query(path: str) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(path).query)


async def _read(request: web.Request) -> tuple[Received, tuple[str, ...]]:
    """Read a body; one in several parts is JSON and files, of which the names are kept."""
    raw, files = b"", list[str]()
    if request.content_type.startswith("multipart/"):
        async for part in await request.multipart():
            if isinstance(part, BodyPartReader):
                content = bytes(await part.read())
                if part.name == "payload_json":
                    raw = content
                else:
                    files.append(part.filename or "file")
    else:
        raw = await request.read()
    try:
        body = json.loads(raw) if raw else None
    except ValueError:
        body = None
    return Received(request.method, request.path_qs, dict(request.headers), body), tuple(files)
