"""Notes in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from core.errors import StoreUnavailable


class MemoryDedup:
    """Keeps the last value of each key, and for ever.

    Set `fails` to make every call raise `StoreUnavailable`, as if the server were gone, and `hangs` to make none end.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.fails = self.hangs = False
        self.notes: dict[str, str] = {}
        self._clock = clock
        self._holds: dict[str, tuple[str, float]] = {}

    async def changed(self, key: str, value: str, *, person: str = "") -> bool:
        """Note the value."""
        await self._check()
        key = f"{key}:{person}" if person else key
        before, self.notes[key] = self.notes.get(key), value
        return before != value

    async def forget(self, key: str) -> None:
        """Take the note back."""
        await self._check()
        self.notes.pop(key, None)
        self._holds.pop(key, None)

    async def hold(self, key: str, holder: str, *, seconds: float) -> bool:
        """Hold it, unless another does."""
        await self._check()
        held_by, until = self._holds.get(key, (holder, 0.0))
        if held_by != holder and self._clock() < until:
            return False
        self._holds[key] = holder, self._clock() + seconds
        return True

    async def _check(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
