"""One connection of Socket Mode: what comes in on it is answered on it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from aiohttp import ClientError, WSMsgType
from slack_bolt.adapter.socket_mode.internals import build_headers
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from adapters.chat.background import BackgroundTasks

if TYPE_CHECKING:
    from aiohttp import ClientSession, ClientWebSocketResponse
    from slack_bolt.response import BoltResponse

HEARTBEAT = 10.0  # seconds between pings; a connection that leaves one unanswered for half as long is closed
LONGEST_GREETING = 10.0  # seconds for a connection to stand
LONGEST_END = 10.0  # seconds for answers that are under way
LONGEST_RETIREMENT = 20.0  # seconds in which a connection that was replaced may still bring something
LARGEST = 2**24  # bytes of what Slack says at once
CROWDED = "too_many_websockets"
OK = 200

Answer = Callable[[AsyncBoltRequest], Awaitable["BoltResponse"]]


class NoGreeting(ConnectionError):
    """Slack closed a new connection, or said something else than hello."""


class SocketModeConnection:
    """A connection that stands. `over` is set once it is to be replaced, and `reason` says why.

    Slack says some seconds before that it will close a connection, and sends events on it until then.
    """

    def __init__(self, socket: ClientWebSocketResponse, answer: Answer, app_id: str) -> None:
        self.app_id = app_id
        self.over = asyncio.Event()
        self.reason = "the connection was closed"
        self.was_announced = False
        self._socket = socket
        self._answer = answer
        self._answering = BackgroundTasks(ignore=())
        self._receiving = asyncio.create_task(self._receive())

    @classmethod
    async def open(
        cls, session: ClientSession, url: str, answer: Answer, *, proxy: str | None = None
    ) -> SocketModeConnection:
        """Connect, and wait for the greeting. Raises `NoGreeting`, or an error of the network."""
        async with asyncio.timeout(LONGEST_GREETING):
            socket = await session.ws_connect(url, heartbeat=HEARTBEAT, max_msg_size=LARGEST, proxy=proxy)
            try:
                hello = await _greeting(socket)
            except BaseException:
                await socket.close()
                raise
        information = cast("Mapping[str, Any]", hello.get("connection_info") or {})
        return cls(socket, answer, str(information.get("app_id") or ""))

    async def retire(self) -> None:
        """Go on until Slack closes the connection, which it does soon once it has said so; then close it."""
        await asyncio.wait({self._receiving}, timeout=LONGEST_RETIREMENT)
        await self.close()

    async def close(self) -> None:
        """Receive nothing more, let what is being answered be answered, and disconnect."""
        self._receiving.cancel()
        await asyncio.wait({self._receiving})
        await self._answering.finish(LONGEST_END)
        await self._socket.close()

    async def _receive(self) -> None:
        try:
            async for message in self._socket:
                if message.type is WSMsgType.TEXT:
                    self._take(_read(message.data))
        finally:
            self.over.set()

    def _take(self, said: Mapping[str, Any]) -> None:
        if said.get("type") == "disconnect":
            self.reason, self.was_announced = str(said.get("reason") or "disconnect"), True
            self.over.set()
            return
        read: Any = SocketModeRequest
        request: SocketModeRequest | None = read.from_dict(said)
        if request is not None and isinstance(said["payload"], dict):
            self._answering.begin(partial(self._reply, request))

    async def _reply(self, request: SocketModeRequest) -> None:
        """Acknowledge what was answered well; where that cannot be sent any more, Slack sends the event again."""
        payload: dict[str, Any] = cast("Any", request).payload
        asked = AsyncBoltRequest(mode="socket_mode", body=payload, headers=cast("Any", build_headers(request)))
        answered = await self._answer(asked)
        if answered.status == OK:
            with suppress(ClientError, OSError):
                acknowledged = SocketModeResponse(request.envelope_id, payload=_payload(answered))
                await self._socket.send_str(json.dumps(cast("Any", acknowledged).to_dict()))


async def _greeting(socket: ClientWebSocketResponse) -> Mapping[str, Any]:
    message = await socket.receive()
    hello = _read(message.data) if message.type is WSMsgType.TEXT else {}
    if hello.get("type") != "hello":
        raise NoGreeting
    return hello


def _payload(answered: BoltResponse) -> dict[str, Any] | None:
    """Return what is said with an acknowledgement: the mistakes in a form, for example."""
    if not answered.body:
        return None
    headers = cast("Mapping[str, list[str]]", cast("Any", answered).headers)
    if headers.get("content-type", [""])[0].startswith("application/json"):
        return _read(answered.body)
    return {"text": answered.body}


def _read(text: str) -> dict[str, Any]:
    """Read an object; what is none says nothing."""
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", said) if isinstance(said, dict) else {}
