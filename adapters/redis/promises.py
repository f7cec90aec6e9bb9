"""What was acknowledged and is not done yet, in Redis: one hash for each platform, sealed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from adapters.redis.connection import translated
from adapters.redis.failure import UNREACHABLE
from adapters.redis.seal import Seal
from core.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from redis.asyncio import Redis

KEPT = timedelta(minutes=30)  # after the newest one of the platform; no way back to a person is open for longer
PAUSE = 0.1  # seconds between two tries, while somebody waits

NOW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
CLOCK = f"{NOW} return now"
PUT = f"""{NOW}
local field, sealed, life, latest = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local kept = redis.call('HGET', KEYS[1], field)
if kept then return kept == sealed and 1 or 0 end
if now > latest then return -1 end
redis.call('HSET', KEYS[1], field, sealed)
redis.call('PEXPIRE', KEYS[1], life)
return 1
"""
"""Gives 1 if it is kept, also by a try before, 0 if another one is, and -1 if nobody waits for it any more.

A server that was frozen carries out what it was told before, which is why it is told until when, by its own clock.
"""


class RedisPromises:
    """Keeps promises, each bound to its key: copied to another one, it cannot be read."""

    def __init__(self, client: Redis, *, seal: Seal) -> None:
        self._client = client
        self._seal = seal
        self._put = client.register_script(PUT)
        self._clock = client.register_script(CLOCK)

    async def put(self, platform: str, key: str, text: str, *, within: float) -> bool:
        """Encrypt and write, again and again while there is time, and let the platform's promises live longer."""
        field, sealed = key, self._seal.encrypt(text, place=_place(platform, key))
        latest = asyncio.get_running_loop().time() + within
        with suppress(TimeoutError):
            async with asyncio.timeout_at(latest):
                while True:
                    with suppress(StoreUnavailable):
                        return await self._kept(_key(platform), field, sealed, latest)
                    await asyncio.sleep(PAUSE)
        raise StoreUnavailable(UNREACHABLE)

    async def _kept(self, key: str, field: str, sealed: bytes, latest: float) -> bool:
        with translated():
            now = int(cast("int", await self._clock([key])))
            left = latest - asyncio.get_running_loop().time()
            life = KEPT // timedelta(milliseconds=1)
            done = await self._put([key], [field, sealed, life, now + int(left * 1000)])
        if done == -1:
            raise StoreUnavailable(UNREACHABLE)
        return done == 1

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
