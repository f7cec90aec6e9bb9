"""Does what nobody waits for, as soon as a platform or a store lets it be done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from adapters.chat.posting import TooFast, Unreachable
from core.errors import StoreUnavailable

Result = TypeVar("Result")

LONGEST = 600.0  # seconds that are waited in all
BRIEFLY = 10.0  # seconds, where somebody waits to hear how it ends
PAUSE = 5.0  # seconds after which something that cannot be reached is tried again
NOT_NOW = (Unreachable, StoreUnavailable, TooFast)
"""How a call fails that may work later."""


class Perseverance:
    """Waits as long as others want to be left alone, until it has waited for so many seconds in all."""

    def __init__(self, sleep: Callable[[float], Awaitable[object]], seconds: float = LONGEST) -> None:
        self._sleep = sleep
        self._left = seconds

    async def done(self, call: Callable[[], Awaitable[Result]]) -> Result:
        """Give what a call gives at last, which may be made several times; raises how the last one failed."""
        while True:
            try:
                return await call()
            except NOT_NOW as failure:
                wait = failure.wait if isinstance(failure, TooFast) else PAUSE
                self._left -= wait
                if self._left < 0:
                    raise
            await self._sleep(wait)


def reason_of(failure: Exception) -> str:
    """Say in a few words why something could not be done."""
    return "rate limit" if isinstance(failure, TooFast) else str(failure)
