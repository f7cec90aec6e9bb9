"""Hears Slack over Socket Mode: several connections, so that one always stands while another is replaced."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from aiohttp import ClientError
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from adapters.chat.background import BackgroundTasks
from adapters.retry import CONNECTING, RetryPolicy, Transient
from adapters.slack.api import translated
from adapters.slack.health import APP_TOKEN_REFUSED, judge
from core.errors import Misconfigured
from core.events import unobserved

if TYPE_CHECKING:
    from aiohttp import ClientSession, ClientWebSocketResponse
    from slack_bolt.response import BoltResponse
    from slack_sdk.web.async_client import AsyncWebClient

CONNECTIONS = 2
LASTING = 10.0  # seconds after which the loss of a connection is no reason to wait before the next
HEARTBEAT = 10.0  # seconds between pings; a connection that leaves one unanswered for half as long is closed
LONGEST_GREETING = 10.0  # seconds for a connection to stand
LONGEST_END = 10.0  # seconds for answers that are under way
LONGEST_RETIREMENT = 20.0  # seconds in which a connection that was replaced may still bring something
LARGEST = 2**24  # bytes of what Slack says at once
CROWDED = "too_many_websockets"
OK = 200

Answer: TypeAlias = Callable[[AsyncBoltRequest], Awaitable["BoltResponse"]]


class NoGreeting(ConnectionError):
    """Slack closed a new connection, or said something else than hello."""


class SocketConnection:
    """A connection that stands. `over` is set once it is to be replaced, and `reason` says why.

    What comes in on it is answered on it. Slack says some seconds before that it will close a connection, and sends
    events on it until then.
    """

    def __init__(self, socket: ClientWebSocketResponse, answer: Answer, app_id: str) -> None:
        self.app_id = app_id
        self.over = asyncio.Event()
        self.reason = "the connection was closed"
        self.was_announced = False
        self._socket = socket
        self._answer = answer
        self._answering = BackgroundTasks(ignore=())
        self.receiving = asyncio.create_task(self._receive())  # until it is closed, also if that was announced

    @classmethod
    async def open(
        cls, session: ClientSession, url: str, answer: Answer, *, proxy: str | None = None
    ) -> SocketConnection:
        """Connect, and wait for the greeting. Raises `NoGreeting`, or an error of the network."""
        async with asyncio.timeout(LONGEST_GREETING), AsyncExitStack() as stack:
            socket = await session.ws_connect(url, heartbeat=HEARTBEAT, max_msg_size=LARGEST, proxy=proxy)
            stack.push_async_callback(socket.close)
            hello: Any = None
            with suppress(ValueError, TypeError):  # it is no text, or no JSON
                hello = (await socket.receive()).json()
            match hello:
                case {"type": "hello"}:
                    stack.pop_all()
                case _:
                    raise NoGreeting
        information: Mapping[str, Any] = cast("Mapping[str, Any]", hello).get("connection_info") or {}
        return cls(socket, answer, str(information.get("app_id") or ""))

    async def retire(self) -> None:
        """Go on until Slack closes the connection, which it does soon once it has said so; then close it."""
        try:
            await asyncio.wait({self.receiving}, timeout=LONGEST_RETIREMENT)
        finally:  # also where a stop comes first
            await self.close()

    async def close(self) -> None:
        """Receive nothing more, let what is being answered be answered, and disconnect."""
        async with AsyncExitStack() as stack:  # all of it is done, also where a stop comes first
            stack.push_async_callback(self._socket.close)
            stack.push_async_callback(self._answering.close, LONGEST_END)
            self.receiving.cancel()
            await asyncio.wait({self.receiving})

    async def _receive(self) -> None:
        """Begin to answer each request; what Slack says of the connection itself is noted."""
        try:
            async for message in self._socket:
                said: Any = None
                with suppress(ValueError, TypeError):
                    said = message.json()
                match said:
                    case {"type": "disconnect"}:
                        self.reason, self.was_announced = str(said.get("reason") or "disconnect"), True
                        self.over.set()
                    case {"payload": dict()}:
                        self._answering.begin(partial(self._reply, said))
                    case _:
                        pass
        finally:
            self.over.set()

    async def _reply(self, received: Mapping[str, Any]) -> None:
        """Acknowledge what was answered well; where that cannot be sent any more, Slack sends the event again."""
        request: Any = cast("Any", SocketModeRequest).from_dict(received)
        if request is None:
            return
        headers: Any = build_headers(request)
        asked = AsyncBoltRequest(mode="socket_mode", body=request.payload, headers=headers)
        answered = await self._answer(asked)
        if answered.status != OK:
            return
        said = None  # with an acknowledgement: the mistakes in a form, for example
        if answered.body:
            is_json = cast("Any", answered).headers.get("content-type", [""])[0].startswith("application/json")
            said = json.loads(answered.body) if is_json else {"text": answered.body}
        with suppress(ClientError, OSError):
            acknowledged: Any = SocketModeResponse(request.envelope_id, payload=said)
            await self._socket.send_str(json.dumps(acknowledged.to_dict()))


class SocketPool:
    """Keeps connections. Each event comes on one of them, which Slack chooses; *connected* hears that one stands.

    Each is replaced before it is given up where Slack has said that it will close it, and those that fail are tried
    again by one alone until one stands, so that an outage is told once and not by each of them.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        app_token: str,
        answer: Answer,
        *,
        retries: RetryPolicy = CONNECTING,
        connected: Callable[[str], object] = unobserved,
    ) -> None:
        self._client = client
        self._app_token = app_token
        self._answer = answer
        self._told = retries.told
        self._retries = replace(retries, judge=self._judge, told=self._tell)
        self._connected = connected
        self._standing: set[SocketConnection] = set()
        self._retiring = BackgroundTasks()
        self._opening = asyncio.Lock()
        self._is_told = self._was_connected = False

    async def run(self) -> None:
        """Receive until this is cancelled. Raises `Misconfigured` where only the operator can help."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(CONNECTIONS):
                    group.create_task(self._keep())
        except BaseExceptionGroup as failures:
            lasting, _ = failures.split(Misconfigured)
            raise (lasting or failures).exceptions[0] from failures
        finally:
            closing = [self._retiring.close(), *(link.close() for link in self._standing)]
            await asyncio.gather(*closing, return_exceptions=True)

    async def _keep(self) -> None:
        """Keep a connection open, and replace it again and again."""
        losses, link = 0, await self._opened()
        while True:
            since = time.monotonic()
            await link.over.wait()
            losses = 0 if time.monotonic() - since > LASTING else losses + 1
            is_closed = link.reason == CROWDED or not link.was_announced
            if is_closed:
                self._standing.discard(link)
                if self._is_told:  # else another that ended at the same moment has told
                    self._tell(1, link.reason)
                await link.close()
            await self._retries.sleep(self._retries.backoff(losses))
            successor = await self._opened()
            if not is_closed:  # it comes to its end behind the new one
                self._standing.discard(link)
                self._retiring.begin(link.retire)
            link = successor

    def _tell(self, attempt: int, reason: str) -> None:
        """Tell that Slack cannot be heard, unless something may still come in on a connection."""
        if all(link.receiving.done() for link in self._standing):
            self._is_told = False
            self._told(attempt, reason)

    def _judge(self, failure: Exception) -> Transient | None:
        """Return what may pass, such as a token that is being reset. Raises `Misconfigured` for one never taken."""
        try:
            return judge(failure, refusal=APP_TOKEN_REFUSED)
        except Misconfigured as refused:
            if not self._was_connected:
                raise
            return Transient(str(refused))

    async def _opened(self) -> SocketConnection:
        """Connect, one connection after the other, as often as it takes. Raises `Misconfigured`."""
        async with self._opening:
            opened = await self._retries.call(self._open)
            self._standing.add(opened)
            self._was_connected = True
            if not self._is_told:
                self._is_told = True
                self._connected(opened.app_id)
            return opened

    async def _open(self) -> SocketConnection:
        """Return a connection that stands. Raises `PostingFailed`, or an error of the network."""
        client: Any = self._client
        said = await translated(client.apps_connections_open(app_token=self._app_token))
        return await SocketConnection.open(client.session, str(said["url"]), self._answer, proxy=client.proxy)
