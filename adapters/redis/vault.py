"""Secrets in Redis: each is sealed, so that only whoever has the secret key can use them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, cast

from adapters.redis.connection import translated

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from adapters.redis.seal import Seal

PREFIX = "footnote:vault:"


class RedisVault:
    """Keeps secrets, each bound to its key: copied to another one, it cannot be read."""

    def __init__(self, client: Redis, *, seal: Seal) -> None:
        self._client = client
        self._seal = seal

    async def load(self, key: str) -> str | None:
        """Read and decrypt."""
        place = PREFIX + key
        with translated():
            sealed = cast("bytes | None", await self._client.get(place))
        return self._opened(sealed, place)

    async def save(self, key: str, text: str, ttl: timedelta | None = None) -> None:
        """Encrypt and write; what was there goes, with its time."""
        place = PREFIX + key
        with translated():
            await self._client.set(place, self._seal.encrypt(text, place=place), px=ttl)

    async def take(self, key: str) -> str | None:
        """Read, remove and decrypt."""
        place = PREFIX + key
        with translated():
            sealed = cast("bytes | None", await self._client.getdel(place))
        return self._opened(sealed, place)

    async def remove(self, key: str) -> None:
        """Remove it, whether or not it could be read."""
        with translated():
            await self._client.delete(PREFIX + key)

    def _opened(self, sealed: bytes | None, place: str) -> str | None:
        return None if sealed is None else self._seal.decrypt(sealed, place=place)
