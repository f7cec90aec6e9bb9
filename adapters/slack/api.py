"""Slack's Web API: clients with safe defaults that share one session, calls, and what their failures mean."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from aiohttp import ClientConnectorError, ClientError, ClientSession, ClientTimeout
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.files import origin
from adapters.chat.lease import traced
from adapters.chat.platform import Barred, QuestionGone
from adapters.retry import SHUT_OUT, TOKEN_REFUSED, Gate, retry_after
from core.errors import Gone, PostingFailed, RateLimited, Rejected, ShutOut, Unreachable
from core.events import unobserved

if TYPE_CHECKING:
    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.retry import Retrying

Result = TypeVar("Result")

API = "https://slack.com/api/"
HOOKS = ("https://hooks.slack.com", "https://hooks.slack-gov.com")  # the second for governments
LONGEST_REQUEST = 30.0  # seconds
LONGEST_CONNECT = 10.0  # seconds
LONGEST_LIMIT = 10.0  # seconds that a client waits; who is asked for more gives up, and says so
LONGEST_CALL = 45.0  # seconds, with all waits and new tries of the client
USUAL_WAIT = 1.0  # seconds, where Slack does not say how long
EVENT_TYPE = "footnote_answer"
PAGE = 100  # entries of a list, or as many as Slack gives
PAGES = 3
FIRST_SERVER_ERROR = 500
TOO_MANY_REQUESTS = 429
NO_MESSAGE = frozenset({"message_not_found", "thread_not_found"})
NO_THREAD = "thread_not_found"
BARRED = frozenset(
    {
        *("channel_not_found", "is_archived", "is_inactive", "not_in_channel", "missing_scope", "no_permission"),
        *("restricted_action", "restricted_action_read_only_channel"),
    }
)
UNAUTHORIZED = frozenset({"invalid_auth", "not_authed", "token_expired", "token_revoked"})
LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
PASSING = frozenset(
    {"", "fatal_error", "internal_error", "request_timeout", "service_unavailable", "team_added_to_org"}
)


class Denied(Rejected):
    """Slack will not do it; `code` is Slack's own word for the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(f"code {code}")
        self.code = code


class Unauthorized(ShutOut):
    """Slack does not take the token, for now at least; `code` is Slack's own word for the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(SHUT_OUT.backoff(1))
        self.code = code


class PlaceDenied(Denied, Barred):
    """Slack will not do it in this place, whatever it is."""


class ThreadDenied(Denied, QuestionGone):
    """Somebody has deleted the question, and with it the thread."""


class ShortRateLimits(AsyncRateLimitErrorRetryHandler):
    """Waits as long as Slack asks, unless that is long."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        if response is None or not await super()._can_retry_async(state=state, request=request, response=response):
            return False
        wait = retry_after({name: str(values[0]) for name, values in response.headers.items()})
        return wait is not None and wait.is_integer() and wait <= LONGEST_LIMIT  # the library reads whole numbers only


def open_session(waited: Callable[[float], object] = unobserved) -> ClientSession:
    """Return what all clients of a process share, as each call would shake hands anew otherwise; it has to be closed.

    *waited* hears for how many seconds Slack wants to be left alone.
    """
    limits = ClientTimeout(total=LONGEST_REQUEST, connect=LONGEST_CONNECT)
    return ClientSession(timeout=limits, trace_configs=[traced(waited)])


class Client(AsyncWebClient):
    """Makes no call while Slack does not take its token, as the *gate* knows."""

    def __init__(self, gate: Gate, **given: Any) -> None:
        cast("Any", super()).__init__(**given)
        self._gate = gate

    async def api_call(self, api_method: str, **given: Any) -> AsyncSlackResponse:
        """Call a method. Raises `ShutOut` instead of calling in vain, or what the library raises."""
        self._gate.check()
        try:
            said = await cast("Any", super()).api_call(api_method, **given)
        except SlackApiError as error:
            match meaning(error):
                case Unauthorized():
                    self._gate.shut(TOKEN_REFUSED)
                case Rejected() | Gone():
                    self._gate.open()
                case _:
                    pass
            raise
        self._gate.open()
        return said


def connect(
    session: ClientSession,
    *,
    token: str = "",
    api_url: str | None = None,
    team_id: str = "",
    repeats: bool = True,
    gate: Gate | None = None,
) -> AsyncWebClient:
    """Return a client that waits out short limits, and asks again once where Slack or the network fails.

    *team_id* names the workspace where a token speaks for a whole organization. Without *repeats*, it is for calls that
    must not be made twice unseen: a post whose reply was lost stands there. Clients of one token share its *gate*.
    """
    handlers: list[AsyncRetryHandler] = []
    if repeats:
        handlers += [AsyncConnectionErrorRetryHandler(), AsyncServerErrorRetryHandler(), ShortRateLimits()]
    given: dict[str, Any] = {
        "token": token or None,
        "base_url": (api_url or API).rstrip("/") + "/",
        "timeout": int(LONGEST_REQUEST),
        "session": session,
        "team_id": team_id or None,
        "retry_handlers": handlers,
    }
    return AsyncWebClient(**given) if gate is None else Client(gate, **given)


async def tell(
    client: AsyncWebClient,
    method: str,
    *,
    gone: Collection[str] = NO_MESSAGE,
    nonce: str | None = None,
    **arguments: object,
) -> Mapping[str, Any]:
    """Call a method that changes something, and return its response; arguments that are None are left out.

    With a *nonce*, a message bears it for any app of the workspace to read, so it holds no words. Raises
    `PostingFailed`.
    """
    if nonce is not None:
        arguments["metadata"] = {"event_type": EVENT_TYPE, "event_payload": {"nonce": nonce}}
    given = {name: value for name, value in arguments.items() if value is not None}
    return (await translated(cast("Any", client).api_call(method, json=given), gone=gone)).data


async def ask(client: AsyncWebClient, method: str, **arguments: object) -> Mapping[str, Any]:
    """Call a method that only reads, and return its response; these take no JSON. Raises `PostingFailed`."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return (await translated(cast("Any", client).api_call(method, http_verb="GET", params=given))).data


async def pages(
    retrying: Retrying,
    client: AsyncWebClient,
    method: str,
    key: str,
    most: int = PAGES,
    limit: int = PAGE,
    /,
    **arguments: object,
) -> AsyncGenerator[Sequence[Any]]:
    """Yield the first pages of what a method lists under a key, each with new tries. Raises `PostingFailed`."""
    cursor: str | None = None
    for _ in range(most):
        found = await retrying.call(lambda: ask(client, method, limit=limit, cursor=cursor, **arguments))  # noqa: B023 - it is called here and now
        yield cast("Sequence[Any]", found.get(key) or ())
        cursor = next_cursor(found)
        if not cursor:
            return


def next_cursor(found: Mapping[str, Any]) -> str:
    """Return where the next page of a list begins; empty after the last one."""
    return str(cast("Mapping[str, Any]", found.get("response_metadata") or {}).get("next_cursor") or "")


async def translated(call: Awaitable[Result], *, gone: Collection[str] = NO_MESSAGE) -> Result:
    """Return what a call returns; *gone* are the codes of what is not there any more. Raises `PostingFailed`."""
    try:
        async with asyncio.timeout(LONGEST_CALL):
            return await call
    except Exception as error:
        failure = meaning(error, gone=gone)
        if failure is None:
            raise
        raise failure from error


def meaning(error: Exception, *, gone: Collection[str] = NO_MESSAGE) -> PostingFailed | None:
    """Return what a failure of a client means; None for a mistake of ours."""
    if isinstance(error, ClientError | OSError):  # a time-out is one of these
        return Unreachable("time-out" if isinstance(error, TimeoutError) else "network error")
    if not isinstance(error, SlackApiError):
        return None
    return _refusal(error, gone)


def _refusal(error: SlackApiError, gone: Collection[str]) -> PostingFailed:
    """Return what it means that Slack does not do something."""
    response = cast("Any", error).response  # a response of the library, or of aiohttp where that could not be read
    status = int(getattr(response, "status_code", None) or getattr(response, "status", 0))
    said = getattr(response, "data", None)
    code = str(cast("Mapping[str, Any]", said).get("error", "")) if isinstance(said, Mapping) else ""
    if status == TOO_MANY_REQUESTS or code in LIMITED:
        return _limited(response.headers)
    if status >= FIRST_SERVER_ERROR or code in PASSING:
        return Unreachable(code or f"status {status}")
    if code in gone:
        return Gone("it is not there any more")
    if code in UNAUTHORIZED:
        return Unauthorized(code)
    kind = ThreadDenied if code == NO_THREAD else PlaceDenied if code in BARRED else Denied
    return kind(code)


def _limited(headers: Mapping[str, str]) -> RateLimited:
    wait = retry_after(headers)
    return RateLimited(USUAL_WAIT if wait is None else wait)


def never_arrived(failure: PostingFailed) -> bool:
    """Return whether there was not even a connection, so that the call has done nothing for certain."""
    return isinstance(failure.__cause__, ClientConnectorError)


async def respond(client: AsyncWebClient, url: str, body: Mapping[str, object]) -> None:
    """Post to a `response_url` in the way of a *client*, which is `Rejected` unless it is of Slack or of its own API.

    Raises `PostingFailed`.
    """
    session = client.session
    if session is None or origin(url) not in (*map(origin, HOOKS), origin(client.base_url)):
        raise Rejected("there is no way back")
    posting = session.post(url, json=dict(body), allow_redirects=False, proxy=client.proxy)
    async with await translated(posting) as response:
        if response.status == TOO_MANY_REQUESTS:
            raise _limited(response.headers)
        if response.status >= FIRST_SERVER_ERROR:
            raise Unreachable(f"status {response.status}")
        if not response.ok:
            raise Rejected(f"status {response.status}")
