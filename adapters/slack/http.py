"""Hears Slack over HTTP: everything arrives at one address, signed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs

from aiohttp import web
from pydantic import BaseModel, ConfigDict
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from adapters.web import served
from core import messages
from core.errors import StoreUnavailable
from core.messages import WARNING

if TYPE_CHECKING:
    from slack_bolt.response import BoltResponse

    from core.ports import Dedup

PATH = "/slack/events"
LARGEST = 2**19  # bytes of a request; Slack's own are much smaller
LONGEST_END = 10.0  # seconds that requests are given to be answered when it is time to stop
LONGEST_BODY = 3.0  # seconds; Slack's own are there at once
LONGEST_LOOK = 1.0  # seconds; Slack waits three for an answer, which takes a look at the store as well
FORM = "application/x-www-form-urlencoded"  # commands, buttons and menus; events are JSON
LONGEST_NUMBER = 20  # characters of a time
EVENT = "event_callback"
BAD, UNSIGNED, SLOW, REPLAYED, AWAY = 400, 401, 408, 409, 503
Place: TypeAlias = str | dict[str, Any]
OK = range(200, 300)


class RequestVerifier:
    """Lets in what Slack has signed, and each request once. What was not answered well may come again.

    While nobody can say whether a request is new, none is let in. A command does not come again, so whoever uses one
    is told.

    The notes of *seen* have to outlive the five minutes for which a signature is good.
    """

    def __init__(
        self, answer: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]], *, signing_secret: str, seen: Dedup
    ) -> None:
        self._answer = answer
        self._verifier = SignatureVerifier(signing_secret)
        self._seen = seen
        self.longest_body = LONGEST_BODY

    async def take(self, request: web.Request) -> web.Response:
        """Verify a request before anything of it is read, and answer it."""
        try:
            async with asyncio.timeout(self.longest_body):
                body = await request.read()
        except TimeoutError:
            return web.Response(status=SLOW, headers={"Connection": "close"})
        timestamp = request.headers.get("X-Slack-Request-Timestamp", "")
        signature = request.headers.get("X-Slack-Signature", "")
        if not self._is_signed(body, timestamp, signature):
            return web.Response(status=UNSIGNED)
        note = f"slack:request:{sha256(signature.encode()).hexdigest()}"
        try:
            async with asyncio.timeout(LONGEST_LOOK):
                if not await self._seen.changed(note, timestamp):
                    return web.Response(status=REPLAYED)
        except (StoreUnavailable, TimeoutError):
            if request.content_type == FORM and "command" in parse_qs(body.decode(errors="replace")):
                return web.json_response({"response_type": "ephemeral", "text": f"{WARNING} {messages.AWAY}"})
            return web.Response(status=AWAY)
        asked = _read(body, request)
        answered = web.Response(status=BAD)
        if asked is not None:
            answered = await to_aiohttp_response(await self._answer(asked))
        if answered.status not in OK:
            with suppress(StoreUnavailable):  # Slack's next try bears another time, and so another signature
                await self._seen.forget(note)
        return answered

    def _is_signed(self, body: bytes, timestamp: str, signature: str) -> bool:
        is_time = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= LONGEST_NUMBER
        try:
            return is_time and signature.isascii() and self._verifier.is_valid(body, timestamp, signature)
        except UnicodeDecodeError:
            return False


class SlackRequest(BaseModel):
    """What is relied on of all that Slack says: which kinds of things stand under the names that are read of it."""

    model_config = ConfigDict(strict=True)

    type: str | None = None
    command: str | None = None
    ssl_check: str | None = None
    team_id: str | None = None
    enterprise_id: str | None = None
    team: Place | None = None
    enterprise: Place | None = None
    channel: Place | None = None
    user: Place | None = None
    authorizations: list[dict[str, Any]] | None = None
    actions: list[dict[str, Any]] | None = None
    container: dict[str, Any] | None = None
    message: dict[str, Any] | None = None
    previous_message: dict[str, Any] | None = None
    view: dict[str, Any] | None = None
    text: str | None = None
    ts: str | None = None
    event: SlackRequest | None = None


def _read(body: bytes, request: web.Request) -> AsyncBoltRequest | None:
    """Return what was said; None for what Slack has signed, and would never say."""
    try:
        asked = AsyncBoltRequest(body=body.decode(), query=request.query_string, headers=dict(request.headers))
        said = SlackRequest.model_validate(asked.body)
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError):
        return None
    is_whole = said.type != EVENT or (said.event is not None and said.event.type is not None)
    return asked if is_whole and any((said.type, said.command, said.ssl_check)) else None


async def serve(
    verifier: RequestVerifier,
    host: str,
    port: int,
    *,
    started: Callable[[int], object],
    more: Iterable[web.RouteDef] = (),
) -> None:
    """Listen for requests, and for *more*, until this is cancelled; what is being answered then is finished.

    Raises `Misconfigured`.
    """
    refusal = (
        f"Slack's requests cannot be received at {host}, port {port}. Set HOST to an address of this machine, "
        "and PORT to a port that nothing else uses."
    )
    routes = [web.post(PATH, verifier.take), *more]
    async with served(routes, host, port, refusal=refusal, shutdown_timeout=LONGEST_END, largest=LARGEST) as at:
        started(at)
        await asyncio.Event().wait()
