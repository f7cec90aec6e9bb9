"""Keeping a task that somebody works on, and hearing what happens to it meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from adapters.redis.ledger import Hold, Ledger
from core.errors import StoreUnavailable
from core.model import Cancellation, Interruption

RENEWED_AFTER = 1 / 3  # of the time of a lease
TRUSTED_FOR = 1 / 2  # of the time of a lease, without asking
_CLOCK: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def waking_time() -> float:
    """Give seconds that go on while the process is frozen and, where the system knows one, while it sleeps."""
    return time.clock_gettime(_CLOCK)


class Lease:
    """Renews a hold three times in its time, and looks at once when it is nudged.

    Whoever could not renew for the whole time has to take it for lost, as another may have taken the task over.
    """

    def __init__(
        self,
        ledger: Ledger,
        hold: Hold,
        cancelled: Cancellation,
        *,
        consumer: str,
        seconds: float,
        now: Callable[[], float] = waking_time,
    ) -> None:
        self.hold = hold
        self._ledger = ledger
        self._cancelled = cancelled
        self._consumer = consumer
        self._seconds = seconds
        self._nudged = asyncio.Event()
        self._now = now
        self._renewed = now()

    def nudge(self) -> None:
        """Say that something has happened."""
        self._nudged.set()

    async def keep(self) -> None:
        """Renew until the hold is lost, or for ever."""
        while self._age < self._seconds and self._cancelled.reason is not Interruption.LOST:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds * RENEWED_AFTER):
                    await self._nudged.wait()
            self._nudged.clear()
            with suppress(StoreUnavailable):
                await self._renew()
        self._cancelled.set(Interruption.LOST)

    async def is_held(self) -> bool:
        """Say whether nobody else can have taken the task; a process that was frozen asks the server."""
        if self._age > self._seconds * TRUSTED_FOR:
            with suppress(StoreUnavailable):
                await self._renew()
        if self._age >= self._seconds:
            self._cancelled.set(Interruption.LOST)
        return self._cancelled.reason is not Interruption.LOST

    @property
    def _age(self) -> float:
        """The seconds since the server was last known to be about to renew."""
        return self._now() - self._renewed

    async def _renew(self) -> None:
        begun = self._now()
        interruption = await self._ledger.renew(self.hold, self._consumer, lease=self._seconds)
        if interruption:
            self._cancelled.set(interruption)
        if interruption is not Interruption.LOST:
            self._renewed = max(begun, self._renewed)
