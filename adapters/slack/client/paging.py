"""Reads what Slack gives page by page, without haste."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from adapters.slack.client.failures import ask

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.retry import Retrying

PAGE = 100  # things, or as many as Slack gives
PAGES = 3


async def pages(
    retrying: Retrying, client: AsyncWebClient, method: str, key: str, **arguments: object
) -> AsyncGenerator[Sequence[Mapping[str, Any]]]:
    """Return the first pages of what a method lists under a key. Raises `PostingFailed`."""
    cursor: str | None = None
    for _ in range(PAGES):
        found = await retrying.call(lambda: ask(client, method, limit=PAGE, cursor=cursor, **arguments))  # noqa: B023 - it is called here and now
        yield cast("Sequence[Mapping[str, Any]]", found.get(key) or ())
        cursor = str(cast("Mapping[str, Any]", found.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return
