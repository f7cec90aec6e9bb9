"""Makes calls to Slack, and says what their failures mean for whoever wants them done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from adapters.chat.platform import Barred, QuestionGone
from adapters.retry import retry_after
from core.errors import Gone, PostingFailed, RateLimited, Rejected, Unreachable

if TYPE_CHECKING:
    from slack_sdk.errors import SlackApiError
    from slack_sdk.web.async_client import AsyncWebClient

Result = TypeVar("Result")

LONGEST_CALL = 45.0  # seconds, with all waits and new tries of the client
USUAL_WAIT = 1.0  # seconds, where Slack does not say how long
FIRST_SERVER_ERROR = 500
TOO_MANY_REQUESTS = 429
NO_MESSAGE = frozenset({"message_not_found", "thread_not_found"})
NOTHING = frozenset[str]()
NO_THREAD = "thread_not_found"
BARRED = frozenset(
    {"channel_not_found", "is_archived", "not_in_channel", "restricted_action", "restricted_action_read_only_channel"}
)
LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
PASSING = frozenset(
    {"", "fatal_error", "internal_error", "request_timeout", "service_unavailable", "team_added_to_org"}
)


class Denied(Rejected):
    """Slack will not do it; `code` is Slack's own word for the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(f"code {code}")
        self.code = code


class PlaceDenied(Denied, Barred):
    """Slack will not do it in this place, whatever it is."""


class ThreadDenied(Denied, QuestionGone):
    """Somebody has deleted the question, and with it the thread."""


async def tell(
    client: AsyncWebClient, method: str, *, gone: Collection[str] = NO_MESSAGE, **arguments: object
) -> Mapping[str, Any]:
    """Have Slack do something; arguments that are None are left out. Raises `PostingFailed`."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return (await translated(cast("Any", client).api_call(method, json=given), gone=gone)).data


async def ask(client: AsyncWebClient, method: str, **arguments: object) -> Mapping[str, Any]:
    """Ask Slack something, which takes no JSON. Raises `PostingFailed`."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return (await translated(cast("Any", client).api_call(method, http_verb="GET", params=given))).data


async def translated(call: Awaitable[Result], *, gone: Collection[str] = NO_MESSAGE) -> Result:
    """Make a call, and say what its failure means; *gone* are the codes of what is gone."""
    try:
        async with asyncio.timeout(LONGEST_CALL):
            return await call
    except Exception as error:
        failure = meaning(error, gone=gone)
        if failure is None:
            raise
        raise failure from error


def meaning(error: Exception, *, gone: Collection[str] = NO_MESSAGE) -> PostingFailed | None:
    """Say what a failure of the client means; None for a mistake of ours."""
    from aiohttp import ClientError
    from slack_sdk.errors import SlackApiError

    match error:
        case SlackApiError():
            return _refusal(error, gone)
        case ClientError() | OSError() | TimeoutError():
            return Unreachable(type(error).__name__)
        case _:
            return None


def never_arrived(failure: PostingFailed) -> bool:
    """Return whether there was not even a connection, so that the call has done nothing for certain."""
    from aiohttp import ClientConnectorError

    return isinstance(failure.__cause__, ClientConnectorError)


def _refusal(error: SlackApiError, gone: Collection[str]) -> PostingFailed:
    response = cast("Any", error).response  # a response of the library, or of aiohttp where that could not be read
    status = int(getattr(response, "status_code", None) or getattr(response, "status", 0))
    said = getattr(response, "data", None)
    code = str(cast("Mapping[str, Any]", said).get("error", "")) if isinstance(said, Mapping) else ""
    if status == TOO_MANY_REQUESTS or code in LIMITED:
        wait = retry_after(response.headers)
        return RateLimited(USUAL_WAIT if wait is None else wait)
    if status >= FIRST_SERVER_ERROR or code in PASSING:
        return Unreachable(code or f"status {status}")
    if code in gone:
        return Gone("it is not there any more")
    kind = ThreadDenied if code == NO_THREAD else PlaceDenied if code in BARRED else Denied
    return kind(code)
