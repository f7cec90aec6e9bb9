"""Hears Slack over HTTP: everything arrives at one address, signed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from functools import reduce
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeAlias, TypeVar, cast
from urllib.parse import parse_qs

from aiohttp import web
from pydantic import BaseModel, ConfigDict, NonNegativeInt, StringConstraints, ValidationError, model_validator
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from adapters.slack.forms import SELECTION_FORM, carried
from adapters.slack.listener import HEARD
from adapters.web import served
from core import messages
from core.errors import InvalidInput, StoreUnavailable
from core.events import unobserved
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
    "workflow_step_edit": ("workflow_step",),
    SUBMISSION: ("user.id", "trigger_id", "view.id", "view.type", "view.private_metadata"),
}
"""Without what listeners can do nothing, by the type of an event or interaction."""
Id: TypeAlias = Annotated[str, StringConstraints(max_length=4_000)]  # which half a pair of surrogates fails as well
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
Stamp: TypeAlias = Annotated[str, StringConstraints(pattern=r"^\d{0,12}(\.\d{0,9})?$")] | NonNegativeInt
Url: TypeAlias = Annotated[str, StringConstraints(pattern=r"^(https?://\S+)?$")]
OK = range(200, 300)
_KIND = re.compile(r"[a-z_]{1,40}")


class RequestVerifier:
    """Lets in what Slack has signed, and each request once. What was not answered well may come again.

    While nobody can say whether a request is new, none is let in. A command does not come again, so whoever uses one
    is told.

    The notes of *seen* have to outlive the five minutes for which a signature is good. *refused* hears of what is
    signed and cannot be read: of which type it is, and where what stands in the way.
    """

    def __init__(
        self,
        answer: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]],
        *,
        signing_secret: str,
        seen: Dedup,
        refused: Callable[[InvalidInput], object] = unobserved,
    ) -> None:
        self._answer = answer
        self._refused = refused
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
        answered = await self._answered(body, request)
        if answered.status not in OK:
            with suppress(StoreUnavailable):  # Slack's next try bears another time, and so another signature
                await self._seen.forget(note)
        return answered

    async def _answered(self, body: bytes, request: web.Request) -> web.Response:
        try:
            asked = _read(body, request)
        except InvalidInput as odd:
            self._refused(odd)
            return web.Response(status=BAD)
        return await to_aiohttp_response(await self._answer(asked))

    def _is_signed(self, body: bytes, timestamp: str, signature: str) -> bool:
        is_time = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= LONGEST_NUMBER
        try:
            return is_time and signature.isascii() and self._verifier.is_valid(body, timestamp, signature)
        except UnicodeDecodeError:
            return False


class Relied(BaseModel):
    """What listeners rely on of a part of what Slack says, at its own place alone; other names may have anything.

    Other apps make files, attachments and blocks of messages: what cannot be read of those is left out by who reads it.
    """

    model_config = ConfigDict(strict=True)


class Named(Relied):
    """A person, a place, an installation, or where a button stands."""

    id: Name | None = None
    team_id: Id | None = None
    enterprise_id: Id | None = None
    channel_id: Id | None = None
    thread_ts: Stamp | None = None
    message_ts: Stamp | None = None


class Happening(Relied):
    """An event that nothing comes of."""

    type: Id | None = None


class Heard(Happening):
    """An event that something comes of, or a message."""

    subtype: Id | None = None
    channel: Id | None = None
    user: Id | None = None
    ts: Stamp | None = None
    thread_ts: Stamp | None = None
    deleted_ts: Stamp | None = None
    text: str | None = None
    edited: Heard | None = None
    message: Heard | None = None
    previous_message: Heard | None = None
    tokens: dict[str, Any] | None = None
    team_ids: list[Id] | None = None


class Control(Relied):
    """A button, a field or a menu, and what was written or chosen there; a block has one."""

    action_id: Id | None = None
    value: str | None = None
    selected_options: list[Control] | None = None
    initial_conversations: list[Id] | None = None
    selected_conversations: list[Id] | None = None
    accessory: Control | None = None


class Shown(Relied):
    """A form or a home, which are our own, or what was filled in there."""

    id: Id | None = None
    type: Literal["modal", "home"] | None = None
    callback_id: Id | None = None
    private_metadata: Id | None = None
    team_id: Id | None = None
    app_installed_team_id: Id | None = None
    blocks: list[Control] | None = None
    state: Shown | None = None
    values: dict[str, dict[str, Control]] | None = None

    @model_validator(mode="after")
    def _carries(self) -> Shown:
        if self.callback_id == SELECTION_FORM and self.private_metadata is not None:
            carried(self.private_metadata)
        return self


EventT = TypeVar("EventT", bound=Happening)


class SlackRequest(Relied, Generic[EventT]):
    """What is relied on of all that Slack says: what stands where on the way to a listener."""

    type: Id | None = None
    command: Id | None = None
    ssl_check: Id | None = None
    callback_id: Id | None = None
    trigger_id: Id | None = None
    team_id: Id | None = None
    enterprise_id: Id | None = None
    channel_id: Id | None = None
    user_id: Id | None = None
    response_url: Url | None = None
    text: str | None = None
    team: Id | Named | None = None
    enterprise: Id | Named | None = None
    channel: Id | Named | None = None
    user: Id | Named | None = None
    authorizations: list[Named] | None = None
    actions: list[Control] | None = None
    container: Named | None = None
    event: EventT | None = None
    message: Heard | None = None
    view: Shown | None = None
    workflow_step: dict[str, Any] | None = None

    @property
    def pressed(self) -> str | None:
        """What was pressed or chosen."""
        return self.actions[0].action_id if self.actions else None

    @property
    def lacks(self) -> str:
        """The path of what is not there without which Slack says nothing of this type; empty where all is there."""
        needed = COMMAND if self.command is not None else NEEDED.get(self.type or "", ())
        if self.type == EVENT:
            kind = self.event.type if self.event else None
            needed = [f"event.{each}" for each in ("type", *NEEDED.get(kind or "", ()))]
        elif not any((self.type, self.command, self.ssl_check)):
            needed = ("type",)
        return next((each for each in needed if _at(self, each) is None), "")


NAMES = frozenset(name for part in (Named, Heard, Control, Shown, SlackRequest) for name in part.model_fields)


def _at(told: object, path: str) -> object:
    return reduce(lambda part, name: getattr(part, name, None), path.split("."), told)


def _path_of(error: ValidationError) -> str:
    """Return where the first thing stands that is not as it should be; names that others have chosen are left out."""
    where = error.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
    return ".".join(str(each) for each in where if isinstance(each, int) or each in NAMES)


def _read(body: bytes, request: web.Request) -> AsyncBoltRequest:
    """Return what was said. Raises `InvalidInput` for what Slack would never say, on which listeners would break."""
    kinds, field = list[str](), ""
    try:
        asked = AsyncBoltRequest(body=body.decode(), query=request.query_string, headers=dict(request.headers))
        said = cast("list[object]", [asked.body, asked.body.get("event")])
        names = [cast("Mapping[str, object]", each).get("type") for each in said if isinstance(each, dict)]
        kinds += (each for each in names if isinstance(each, str) and _KIND.fullmatch(each))  # Slack's own words
        told = SlackRequest[Heard if kinds[1:] and kinds[1] in HEARD else Happening].model_validate(asked.body)
        if not (field := told.lacks):
            return asked
    except ValidationError as error:
        field = _path_of(error)
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError, OverflowError):
        pass
    what = " ".join(kinds) or "of no type"
    raise InvalidInput(f"A request of Slack's cannot be read, and was refused: {what}, {field or 'body'}.", field=field)


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
