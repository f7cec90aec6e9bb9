"""Keeps things in the order in which they came, of one kind among each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class KeyedLock:
    """Lets those with the same key in one after the other, first come, first served; others do not wait.

    Who calls first is who comes first, so it has to be asked for before anything else is awaited.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncGenerator[None]:
        """Wait for the lock of a key, and hold it while the block runs."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            yield
