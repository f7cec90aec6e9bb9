"""Reads what Slack gives page by page, without haste."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from adapters.chat.posting import TooFast, Unreachable
from adapters.slack.client.failures import ask
from core.errors import StoreUnavailable

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

Result = TypeVar("Result")

PAGE = 100  # things, or as many as Slack gives
PAGES = 3
PAUSE = 5.0  # seconds after which something that cannot be reached is tried again


class Unhurried:
    """Waits as long as Slack, or a store, wants to be left alone, until it has waited for so many seconds in all."""

    def __init__(self, seconds: float, sleep: Callable[[float], Awaitable[object]]) -> None:
        self._left = seconds
        self._sleep = sleep

    async def patiently(self, call: Callable[[], Awaitable[Result]]) -> Result:
        """Give what a call gives at last; raises how the last one failed."""
        while True:
            try:
                return await call()
            except (Unreachable, StoreUnavailable, TooFast) as failure:
                wait = failure.wait if isinstance(failure, TooFast) else PAUSE
                self._left -= wait
                if self._left < 0:
                    raise
            await self._sleep(wait)

    async def pages(
        self, client: AsyncWebClient, method: str, key: str, **arguments: object
    ) -> AsyncGenerator[Sequence[Mapping[str, Any]]]:
        """Give the first pages of what a method lists under a key. Raises `PostingFailed`."""
        cursor: str | None = None
        for _ in range(PAGES):
            found = await self.patiently(lambda: ask(client, method, limit=PAGE, cursor=cursor, **arguments))  # noqa: B023 - it is called here and now
            yield cast("Sequence[Mapping[str, Any]]", found.get(key) or ())
            cursor = str(cast("Mapping[str, Any]", found.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return
