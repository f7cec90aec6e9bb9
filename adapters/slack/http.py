"""Hears Slack over HTTP: everything arrives at one address, signed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from functools import reduce
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias
from urllib.parse import parse_qs

from aiohttp import web
from pydantic import BaseModel, ConfigDict, NonNegativeInt, StringConstraints
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from adapters.slack.forms import SELECTION_FORM, carried
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
SUBMISSION = "view_submission"
COMMAND = ("user_id", "channel_id", "trigger_id", "response_url")
NEEDED: Mapping[str, tuple[str, ...]] = {
    "agent_session_stopped": ("channel", "thread_ts", "user"),
    "app_home_opened": ("channel", "user"),
    "member_joined_channel": ("channel", "user"),
    "channel_deleted": ("channel",),
    "group_deleted": ("channel",),
    "block_actions": ("user.id", "pressed"),
    "message_action": ("user.id", "message"),
    SUBMISSION: ("user.id", "trigger_id", "view.id", "view.type", "view.private_metadata"),
}
"""Without what listeners can do nothing, by the type of an event or interaction."""
Id: TypeAlias = Annotated[str, StringConstraints(max_length=4_000)]  # whose length shows as well that it is Unicode
Stamp: TypeAlias = Annotated[str, StringConstraints(pattern=r"^\d{0,12}(\.\d{0,9})?$")] | NonNegativeInt
Url: TypeAlias = Annotated[str, StringConstraints(pattern=r"^(https?://\S+)?$")]
Place: TypeAlias = "Id | SlackRequest | None"
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
    """What is relied on of all that Slack says, and of its parts: which kinds of things stand under which names.

    Other names may have anything.
    """

    model_config = ConfigDict(strict=True)

    id: Id | int | None = None  # of what is in an attachment, a number
    type: Id | None = None
    subtype: Id | None = None
    command: Id | None = None
    ssl_check: Id | None = None
    callback_id: Id | None = None
    action_id: Id | None = None
    trigger_id: Id | None = None
    team_id: Id | None = None
    enterprise_id: Id | None = None
    app_installed_team_id: Id | None = None
    channel_id: Id | None = None
    user_id: Id | None = None
    file_access: Id | None = None
    private_metadata: Id | None = None
    response_url: Url | None = None
    ts: Stamp | None = None
    thread_ts: Stamp | None = None
    message_ts: Stamp | None = None
    deleted_ts: Stamp | None = None
    size: int | None = None
    text: str | dict[str, Any] | None = None
    value: str | None = None
    team: Place = None
    enterprise: Place = None
    channel: Place = None
    user: Place = None
    authorizations: list[SlackRequest] | None = None
    actions: list[SlackRequest] | None = None
    blocks: list[SlackRequest] | None = None
    files: list[SlackRequest] | None = None
    attachments: list[SlackRequest] | None = None
    selected_options: list[SlackRequest] | None = None
    initial_conversations: list[Id] | None = None
    selected_conversations: list[Id] | None = None
    team_ids: list[Id] | None = None
    tokens: dict[str, Any] | None = None
    values: dict[str, dict[str, SlackRequest]] | None = None
    accessory: SlackRequest | None = None
    container: SlackRequest | None = None
    edited: SlackRequest | None = None
    event: SlackRequest | None = None
    message: SlackRequest | None = None
    previous_message: SlackRequest | None = None
    state: SlackRequest | None = None
    view: SlackRequest | None = None

    @property
    def pressed(self) -> str | None:
        """What was pressed or chosen."""
        return self.actions[0].action_id if self.actions else None

    @property
    def is_whole(self) -> bool:
        """Whether all is there without which Slack says nothing of this type."""
        if self.type == EVENT:
            return self.event is not None and _has(self.event, "type", *NEEDED.get(self.event.type or "", ()))
        if self.view is not None and self.view.callback_id == SELECTION_FORM and self.type == SUBMISSION:
            return _has(self, *NEEDED[SUBMISSION]) and all(carried(self.view.private_metadata or ""))
        needed = COMMAND if self.command is not None else NEEDED.get(self.type or "", ())
        return any((self.type, self.command, self.ssl_check)) and _has(self, *needed)


def _has(told: SlackRequest, *names: str) -> bool:
    return all(reduce(lambda part, name: getattr(part, name, None), path.split("."), told) for path in names)


def _read(body: bytes, request: web.Request) -> AsyncBoltRequest | None:
    """Return what was said; None for what Slack has signed, and would never say, on which listeners would break."""
    try:
        asked = AsyncBoltRequest(body=body.decode(), query=request.query_string, headers=dict(request.headers))
        return asked if SlackRequest.model_validate(asked.body).is_whole else None
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError, OverflowError, OSError):
        return None


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
