"""What a client tries again by itself: calls that can be made twice."""

from __future__ import annotations

from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState

from adapters.retry import retry_after

LONGEST_WAIT = 10.0  # seconds; who is asked for more gives up, and says so


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
        headers = {name.lower(): str(values[0]) for name, values in response.headers.items()}
        wait = retry_after(headers)
        return wait is not None and wait.is_integer() and wait <= LONGEST_WAIT  # the library reads whole numbers only


def retry_handlers() -> list[AsyncRetryHandler]:
    """Give a new list, since whoever has a client may add to it."""
    return [AsyncConnectionErrorRetryHandler(), AsyncServerErrorRetryHandler(), ShortRateLimits()]
