"""Notes in memory."""

from __future__ import annotations

import asyncio

from core.errors import StoreUnavailable


class MemoryDedup:
    """Keeps the last value of each key, and for ever.

    Set `fails` to make every call raise `StoreUnavailable`, as if the server were gone, and `hangs` to make none end.
    """

    def __init__(self) -> None:
        self.fails = self.hangs = False
        self.notes: dict[str, str] = {}

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

    async def _check(self) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
