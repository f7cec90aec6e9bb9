"""Keeps things in the order in which they came, of one kind among each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class Order:
    """Gives turns: those with the same key one after the other, first come, first served; others do not wait.

    Who calls first is who comes first, so a turn has to be asked for before anything else is awaited.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncGenerator[None]:
        """Wait for the turn, and hold it while the block runs."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            yield
