"""Notes in Redis: one value per key, which goes if it is not repeated for long."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from adapters.redis.connection import translated

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT = timedelta(days=30)  # since it was noted the last time


class RedisMemo:
    """Keeps notes. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis, *, kept: timedelta = KEPT) -> None:
        self._client = client
        self._kept = kept

    async def changed(self, key: str, value: str) -> bool:
        """Replace the note and look what it was, in one step."""
        with translated():
            before = await self._client.set(_key(key), value, px=self._kept, get=True)
        return before != value.encode()

    async def forget(self, key: str) -> None:
        """Remove the note."""
        with translated():
            await self._client.delete(_key(key))


def _key(key: str) -> str:
    return f"footnote:memo:{key}"
