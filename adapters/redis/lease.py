"""Keeping a task that somebody works on, and hearing what happens to it meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from adapters.redis.clock import waking_time
from adapters.redis.ledger import Ledger, Taken
from core.errors import StoreUnavailable
from core.model import Delivery, Interruption

RENEWED_AFTER = 1 / 3  # of the time of a lease
TRUSTED_FOR = 1 / 2  # of the time of a lease, without asking


class Lease:
    """Renews a hold three times in its time, and looks at once when it is nudged.

    Whoever could not renew for the whole time has to take it for lost, as another may have taken the task over.
    """

    def __init__(
        self,
        ledger: Ledger,
        taken: Taken,
        *,
        consumer: str,
        seconds: float,
        now: Callable[[], float] = waking_time,
    ) -> None:
        self.hold = taken.hold
        self._ledger = ledger
        self._cancelled = taken.task.cancelled
        self._consumer = consumer
        self._seconds = seconds
        self._nudged = asyncio.Event()
        self._now = now
        self._renewed = taken.since
        self._noted: Delivery | None = None

    def nudge(self) -> None:
        """Say that something has happened."""
        self._nudged.set()

    async def keep(self) -> None:
        """Renew until the hold is lost, or for ever."""
        while not self._is_lost:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds * RENEWED_AFTER):
                    await self._nudged.wait()
            self._nudged.clear()
            await self._look()

    async def is_held(self) -> bool:
        """Return whether nobody else can have taken the task; a process that was frozen asks the server."""
        if self._age > self._seconds * TRUSTED_FOR:
            await self._look()
        return not self._is_lost

    async def record(self, delivery: Delivery) -> bool:
        """Keep which messages belong to the task, if it is still ours; what is kept already is not written again."""
        if delivery == self._noted:
            return await self.is_held()
        self._noted = None
        is_kept = await self._ledger.record(self.hold, delivery)
        self._noted = delivery if is_kept else None
        return is_kept

    async def _look(self) -> None:
        with suppress(StoreUnavailable):
            await self._renew()
        if self._age >= self._seconds:
            self._cancelled.set(Interruption.LOST)

    @property
    def _is_lost(self) -> bool:
        return self._cancelled.reason is Interruption.LOST

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
