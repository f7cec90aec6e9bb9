"""Posts to the addresses that Slack gives for answering a command, a button or a shortcut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adapters.retry import retry_after
from adapters.slack.api import FIRST_SERVER_ERROR, TOO_MANY_REQUESTS, USUAL_WAIT, translated
from core.errors import RateLimited, Rejected, Unreachable

if TYPE_CHECKING:
    from aiohttp import ClientSession

HOOKS = "https://hooks.slack.com"


async def respond(session: ClientSession, url: str, body: Mapping[str, object], *, api_url: str | None) -> None:
    """Post; only to Slack, or to whatever stands for it in the settings. Raises `PostingFailed`."""
    if _origin(url) not in {HOOKS, _origin(api_url or HOOKS)}:
        raise Rejected("there is no way back")
    async with await translated(session.post(url, json=dict(body), allow_redirects=False)) as response:
        if response.status == TOO_MANY_REQUESTS:
            wait = retry_after(response.headers)
            raise RateLimited(USUAL_WAIT if wait is None else wait)
        if response.status >= FIRST_SERVER_ERROR:
            raise Unreachable(f"status {response.status}")
        if not response.ok:
            raise Rejected(f"status {response.status}")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
