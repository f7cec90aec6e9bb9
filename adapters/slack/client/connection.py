"""The way to Slack: clients with safe defaults that share one session, at the address that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from adapters.chat.wire import traced
from core.events import unobserved

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from slack_sdk.web.async_client import AsyncWebClient

API = "https://slack.com/api/"
LONGEST_REQUEST = 30.0  # seconds
LONGEST_CONNECT = 10.0  # seconds


def open_session(waited: Callable[[float], object] = unobserved) -> ClientSession:
    """Give what all clients of a process share, as each call would shake hands anew otherwise; it has to be closed.

    *waited* hears for how many seconds Slack wants to be left alone.
    """
    from aiohttp import ClientSession, ClientTimeout

    limits = ClientTimeout(total=LONGEST_REQUEST, connect=LONGEST_CONNECT)
    return ClientSession(timeout=limits, trace_configs=[traced(waited)])


def connect(
    session: ClientSession, *, token: str = "", api_url: str | None = None, team_id: str = ""
) -> AsyncWebClient:
    """Make a client that waits out short limits, and asks again once where Slack or the network fails.

    *team_id* names the workspace where a token speaks for a whole organization.
    """
    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.client.retrying import retry_handlers

    return AsyncWebClient(
        token=token or None,
        base_url=base_url(api_url),
        timeout=int(LONGEST_REQUEST),
        session=session,
        team_id=team_id or None,
        retry_handlers=retry_handlers(),
    )


def once(client: AsyncWebClient) -> AsyncWebClient:
    """Give the same client for calls that must not be made twice unseen: a post whose reply was lost stands there."""
    from slack_sdk.web.async_client import AsyncWebClient

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
    """Give the address below which Slack's methods are."""
    return (api_url or API).rstrip("/") + "/"
