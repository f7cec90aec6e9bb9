"""What was acknowledged and is not done yet, in Redis: one hash for each platform, sealed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from adapters.redis.connection import translated
from adapters.redis.fields import PUT_FIELD
from adapters.redis.seal import Seal

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from redis.asyncio import Redis

KEPT = timedelta(minutes=30)  # after the newest one of the platform; no way back to a person is open for longer


class RedisPromises:
    """Keeps promises, each bound to its key: copied to another one, it cannot be read."""

    def __init__(self, client: Redis, *, seal: Seal) -> None:
        self._client = client
        self._seal = seal
        self._put = client.register_script(PUT_FIELD)

    async def put(self, platform: str, key: str, text: str) -> None:
        """Encrypt and write, and let the platform's promises live longer."""
        sealed = self._seal.encrypt(text, place=_place(platform, key))
        with translated():
            await self._put([_key(platform)], [key, sealed, KEPT // timedelta(milliseconds=1)])

    async def remove(self, platform: str, key: str) -> None:
        """Take the field out."""
        with translated():
            await self._client.hdel(_key(platform), key)

    async def standing(self, platform: str) -> Mapping[str, str]:
        """Read the hash; what cannot be decrypted any more is left out."""
        with translated():
            found = await cast("Awaitable[dict[bytes, bytes]]", self._client.hgetall(_key(platform)))
        named = {key.decode(): sealed for key, sealed in found.items()}
        read = {key: self._seal.decrypt(sealed, place=_place(platform, key)) for key, sealed in named.items()}
        return {key: text for key, text in read.items() if text is not None}


def _key(platform: str) -> str:
    return f"footnote:promises:{platform}"


def _place(platform: str, key: str) -> str:
    return f"{_key(platform)} {key}"
