"""Slack on a real socket: the Web API, Socket Mode and response URLs on one port, with a state that assertions read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeGuard, cast

from aiohttp import web

from tests.servers.discord.platform import Changes
from tests.servers.faults import Faults, met
from tests.servers.listener import Listener
from tests.servers.service import Received
from tests.servers.slack import (
    chat_routes,
    conversation_routes,
    file_routes,
    oauth_routes,
    people_routes,
    session_routes,
    sockets,
    stream_routes,
    view_routes,
)
from tests.servers.slack.acting import Acting
from tests.servers.slack.channels import Channel
from tests.servers.slack.clock import ServerClock
from tests.servers.slack.deliveries import Delivery
from tests.servers.slack.interacting import Interacting
from tests.servers.slack.limits import POST, Limits
from tests.servers.slack.messages import Message
from tests.servers.slack.outbox import Outbox
from tests.servers.slack.platform import Platform
from tests.servers.slack.refusals import Refusal
from tests.servers.slack.responding import respond
from tests.servers.slack.routes import TIERS, Call, Route
from tests.servers.slack.shape import Json
from tests.servers.slack.sockets import Sockets
from tests.servers.slack.users import User
from tests.servers.slack.webhooks import Webhooks
from tests.servers.slack.workspaces import Installation, Workspace

API = "/api/"
JSON = "application/json; charset=utf-8"
RESPONSE_URL = "response_url"
PATIENCE = 10.0
SUBSCRIPTIONS = (
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "tokens_revoked",
)


@dataclass(frozen=True, slots=True)
class Handled:
    """A call, the status and body it was answered with (None if it was not), and whose token came with it."""

    method: str
    body: Json
    status: int | None
    answer: Json | None
    headers: dict[str, str]
    bot: str | None = None

    @property
    def error(self) -> str | None:
        """The code with which it was refused."""
        return None if self.answer is None else self.answer.get("error")


class SlackServer(Listener, Acting, Interacting):
    """Serves `/api/...`, websockets and response URLs, and holds the app to the platform's rules.

    `platform` is the state; `sockets`, `limits`, `outbox` and `faults` are what misbehaves on demand; `requests` is
    what came, in order. People act by the methods.
    """

    def __init__(self, *, signing_secret: str = "signing-secret-of-the-tests") -> None:
        super().__init__(self._handle)
        self.clock = ServerClock()
        self.app_id = "A0TESTS"
        self.app_token = "xapp-1-A0TESTS-0-not-a-real-token"
        self.client_id, self.client_secret = "1.2", "client-secret-of-the-tests"
        self.signing_secret = signing_secret
        self.rotates = False
        self.codes: dict[str, tuple[Workspace, str]] = {}
        self.subscriptions: set[str] = set(SUBSCRIPTIONS)
        changes = Changes()
        self.sockets = Sockets(self.app_id, changes.tell)
        self.webhooks = Webhooks(signing_secret, changes.tell)
        self.outbox = Outbox(self.clock, self.sockets, self.webhooks, self.subscriptions)
        self.platform = Platform(self.clock, self.outbox.tell, self.subscriptions, changes=changes)
        self.limits = Limits(self.clock)
        self.faults = Faults()
        self.requests: list[Handled] = []
        self._following: set[asyncio.Task[None]] = set()
        tables = (
            chat_routes.ROUTES,
            stream_routes.ROUTES,
            conversation_routes.ROUTES,
            file_routes.ROUTES,
            people_routes.ROUTES,
            session_routes.ROUTES,
            view_routes.ROUTES,
            oauth_routes.routes(self),
            (Route("apps.connections.open", self._where, (), TIERS[2], needs_token=False),),
        )
        self._routes = {route.name: route for table in tables for route in table}

    @property
    def api_url(self) -> str:
        """What a client is given as the address of the Web API."""
        return f"{self.url}{API}"

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop serving."""
        for task in list(self._following):
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)
        await self.webhooks.close()
        await super().__aexit__(kind, error, trace)

    async def up(self) -> None:
        """Listen, on the same port as before."""
        await super().up()
        self.platform.url = self.url

    # What tests steer and read

    async def until(
        self, is_true: Callable[[], object], *, what: str = "what was waited for", seconds: float = PATIENCE
    ) -> None:
        """Return as soon as *is_true* says so, which is asked whenever something happened here."""
        await self.platform.changes.until(is_true, seconds, what)

    async def connected(self, sockets: int = 1, *, seconds: float = PATIENCE) -> None:
        """Return when so many sockets are connected."""
        await self.until(lambda: len(self.sockets.connected) >= sockets, what="a connection", seconds=seconds)

    async def settled(self, *, seconds: float = PATIENCE) -> None:
        """Return when the app has acknowledged every event."""
        await self.until(lambda: not self.outbox.unacknowledged, what="every acknowledgement", seconds=seconds)

    def deliver_to(self, url: str) -> None:
        """Send everything to an address from now on, in signed requests; an empty one means sockets again."""
        self.webhooks.url = url

    async def redeliver(self, *deliveries: Delivery, reason: str = "http_timeout") -> list[Delivery]:
        """Send events again: those given, or all that are not acknowledged; give what was sent."""
        sent = self.outbox.repeat(*deliveries, reason=reason)
        await asyncio.sleep(0)  # requests begin
        return sent

    def refresh(self, *, everybody: bool = False) -> None:
        """Ask the oldest connection, or every one, to connect again."""
        self.sockets.ask_to_reconnect(everybody=everybody)

    def authorize(self, workspace: Workspace, user: User) -> str:
        """Let somebody agree to the installation; give the code that the browser brings to the app."""
        code = self.platform.new_id("code")
        self.codes[code] = (workspace, user.id)
        return code

    def requests_to(self, method: str) -> list[Handled]:
        """Give the calls of a method, such as `chat.postMessage`; `response_url` are posts to response URLs."""
        return [handled for handled in self.requests if handled.method == method]

    def messages(self, channel: Channel, *, by: User | None = None, thread_ts: str | None = None) -> list[Message]:
        """Give what can be read in a channel, oldest first, what only one person sees included."""
        return self.platform.messages_in(channel, by=by, thread_ts=thread_ts)

    def _where(self, platform: Platform, call: Call) -> Json:
        given = call.headers.get("Authorization", "").removeprefix("Bearer ")
        if given.startswith("xoxb-"):
            raise Refusal("not_allowed_token_type")
        if given != self.app_token:
            raise Refusal("invalid_auth" if given else "not_authed")
        address = f"ws://127.0.0.1:{self.port}{sockets.PATH}"
        return {"url": f"{address}?ticket={self.sockets.ticket()}&app_id={self.app_id}"}

    # A request

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        path = request.rel_url.raw_path
        if path == sockets.PATH:
            return await self.sockets.serve(request)
        received, args = await _read(request)
        method = path.removeprefix(API) if path.startswith(API) else RESPONSE_URL
        method = file_routes.PATH if path.startswith(file_routes.PATH) else method
        token = self._installation(received, args)
        response: web.StreamResponse | None = None
        try:
            answer = self._answer if path.startswith(API) else self._respond
            answer = self._serve if method == file_routes.PATH else answer
            fault = self.faults.take(method)
            self.platform.changes.tell()
            response = await met(fault, request, lambda: answer(path, received, args), JSON)
            return response
        finally:
            said = json.loads(response.text or "null") if _is_json(response) else None
            status = None if response is None else response.status
            bot = None if token is None else token.bot.id
            self.requests.append(Handled(method, args, status, said, dict(received.headers), bot))
            self.platform.changes.tell()

    def _respond(self, path: str, received: Received, args: Json) -> web.Response:
        try:
            respond(self.platform, path, args)
        except Refusal as refusal:
            return web.json_response(refusal.body, status=404)
        return web.Response(text="ok")

    def _serve(self, path: str, received: Received, args: Json) -> web.Response:
        return file_routes.serve(self.platform, self._installation(received, {}), path)

    def _answer(self, path: str, received: Received, args: Json) -> web.Response:
        method = path.removeprefix(API)
        token = self._installation(received, args)
        headers = {} if token is None else {"x-oauth-scopes": ",".join(sorted(token.scopes))}
        try:
            route = self._route(method, token)
            if route.needs_token:
                self._check_token(route, received, token)
            call = Call(args, token, received.headers)
            limited = self.limits.take(method, route.tier, self._place(method, call))
            if limited is not None:
                body = Refusal("ratelimited").body
                return web.json_response(body, status=429, headers={"Retry-After": str(limited.retry_after)})
            return web.json_response({"ok": True, **route.answer(self.platform, call)}, headers=headers)
        except Refusal as refusal:
            return web.json_response(refusal.body, headers=headers)

    def _route(self, method: str, token: Installation | None) -> Route:
        route = self._routes.get(method)
        if route is None or (token is not None and method in token.lacks):
            raise Refusal("unknown_method", req_method=method)
        return route

    def _check_token(self, route: Route, received: Received, token: Installation | None) -> None:
        if token is None:
            raise Refusal("invalid_auth" if received.headers.get("Authorization") else "not_authed")
        if token.revoked is not None:
            raise Refusal(token.revoked)
        if token.expires_at is not None and token.expires_at <= self.clock.time():
            raise Refusal("token_expired")
        if route.scopes and token.scopes.isdisjoint(route.scopes):
            raise Refusal("missing_scope", needed=route.scopes[0], provided=",".join(sorted(token.scopes)))

    def _place(self, method: str, call: Call) -> str:
        if call.token is None:
            return ""
        return call.text("channel") if method == POST else call.workspace(self.platform).team_id

    def _installation(self, received: Received, args: Json) -> Installation | None:
        given = received.headers.get("Authorization", "").removeprefix("Bearer ") or str(args.get("token", ""))
        for workspace in self.platform.workspaces.values():
            if given and workspace.token == given:
                return workspace.installation
        return None


def _is_json(response: web.StreamResponse | None) -> TypeGuard[web.Response]:
    return isinstance(response, web.Response) and isinstance(response.body, bytes) and response.content_type in JSON


async def _read(request: web.Request) -> tuple[Received, Json]:
    """Read the arguments of a call: those in the address, and those in a body of JSON or of a form."""
    args: Json = dict(request.query)
    body: Any = None
    if request.content_type == "application/json":
        raw = await request.read()
        body = json.loads(raw) if raw else {}
        args |= cast("Json", body) if isinstance(body, dict) else {}
    elif request.method == "POST":
        args |= {name: str(value) for name, value in (await request.post()).items()}
    return Received(request.method, request.path_qs, dict(request.headers), body), args
