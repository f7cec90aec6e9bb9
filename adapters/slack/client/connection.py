"""The way to Slack: clients with safe defaults that share one session, at the address that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from aiohttp import ClientSession, ClientTimeout
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

from adapters.chat.delivery_log import traced
from adapters.retry import retry_after
from core.events import unobserved

API = "https://slack.com/api/"
LONGEST_REQUEST = 30.0  # seconds
LONGEST_CONNECT = 10.0  # seconds
LONGEST_LIMIT = 10.0  # seconds that a client waits; who is asked for more gives up, and says so


def open_session(waited: Callable[[float], object] = unobserved) -> ClientSession:
    """Return what all clients of a process share, as each call would shake hands anew otherwise; it has to be closed.

    *waited* hears for how many seconds Slack wants to be left alone.
    """
    limits = ClientTimeout(total=LONGEST_REQUEST, connect=LONGEST_CONNECT)
    return ClientSession(timeout=limits, trace_configs=[traced(waited)])


def connect(
    session: ClientSession, *, token: str = "", api_url: str | None = None, team_id: str = ""
) -> AsyncWebClient:
    """Make a client that waits out short limits, and asks again once where Slack or the network fails.

    *team_id* names the workspace where a token speaks for a whole organization.
    """
    return AsyncWebClient(
        token=token or None,
        base_url=base_url(api_url),
        timeout=int(LONGEST_REQUEST),
        session=session,
        team_id=team_id or None,
        retry_handlers=retry_handlers(),
    )


def once(client: AsyncWebClient) -> AsyncWebClient:
    """Return the same client for calls that must not be made twice unseen: a post whose reply was lost stands there."""
    usual = cast("dict[str, str]", cast("Any", client).default_params)
    return AsyncWebClient(
        token=client.token,
        base_url=client.base_url,
        timeout=client.timeout,
        session=client.session,
        team_id=usual.get("team_id"),
        retry_handlers=[],
    )


def base_url(api_url: str | None) -> str:
    """Return the address below which Slack's methods are."""
    return (api_url or API).rstrip("/") + "/"


def retry_handlers() -> list[AsyncRetryHandler]:
    """Return what a client tries again by itself, in a new list, since whoever has a client may add to it."""
    return [AsyncConnectionErrorRetryHandler(), AsyncServerErrorRetryHandler(), ShortRateLimits()]


class ShortRateLimits(AsyncRateLimitErrorRetryHandler):
    """Waits as long as Slack wants it, unless that is long."""

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
