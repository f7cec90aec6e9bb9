"""Keeping a task that somebody works on, and hearing what happens to it meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from adapters.redis.ledger import Hold, Ledger
from core.errors import StoreUnavailable
from core.model import Cancellation, Interruption


class Lease:
    """Renews a hold three times in its time, and looks at once when it is nudged.

    Whoever could not renew for the whole time has to take it for lost, as another may have taken the task over.
    """

    def __init__(self, ledger: Ledger, hold: Hold, cancelled: Cancellation, *, consumer: str, seconds: float) -> None:
        self.hold = hold
        self._ledger = ledger
        self._cancelled = cancelled
        self._consumer = consumer
        self._seconds = seconds
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        """Say that something has happened."""
        self._nudged.set()

    async def keep(self) -> None:
        """Renew until the hold is lost, or for ever."""
        loop = asyncio.get_running_loop()
        renewed = loop.time()
        while loop.time() - renewed < self._seconds:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds / 3):
                    await self._nudged.wait()
            self._nudged.clear()
            with suppress(StoreUnavailable):
                begun = loop.time()
                if interruption := await self._ledger.renew(self.hold, self._consumer):
                    self._cancelled.set(interruption)
                if interruption is Interruption.LOST:
                    return
                renewed = begun
        self._cancelled.set(Interruption.LOST)
