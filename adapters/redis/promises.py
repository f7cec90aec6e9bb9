"""What was acknowledged and is not done yet, in Redis: a hash for each platform, sealed, and who is at it just now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, cast
from uuid import uuid4

from adapters.redis.connection import translated
from adapters.redis.failure import UNREACHABLE
from adapters.redis.seal import Seal
from core.errors import StoreUnavailable

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT = timedelta(minutes=30)  # after somebody was at it the last time; no way back to a person is open for longer
_KEPT = KEPT // timedelta(milliseconds=1)
LASTING = 30.0  # seconds
PAUSE = 0.1  # seconds between two tries, while somebody waits

PRELUDE = """
local promises, claims, field = KEYS[1], KEYS[2], ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function claim(holder, lasting, life)
  redis.call('HSET', claims, field, holder .. ' ' .. now + lasting)
  redis.call('PEXPIRE', promises, life)
  redis.call('PEXPIRE', claims, life)
end
local function claimed(name)
  local holder, ends = string.match(redis.call('HGET', claims, name) or '', '^(%S+) (%d+)$')
  return holder, tonumber(ends or '0')
end
local function drop(name)
  redis.call('HDEL', promises, name)
  redis.call('HDEL', claims, name)
end
"""
CLOCK = f"{PRELUDE} return now"
PUT = f"""{PRELUDE}
local sealed, latest = ARGV[5], tonumber(ARGV[6])
local kept = redis.call('HGET', promises, field)
if kept then return kept == sealed and 1 or 0 end
if now > latest then return -1 end
redis.call('HSET', promises, field, sealed)
claim(ARGV[2], ARGV[3], ARGV[4])
return 1
"""
"""Gives 1 if it is kept, also by a try before, 0 if another one is, and -1 if nobody waits for it any more.

A server that was frozen carries out what it was told before, which is why it is told until when, by its own clock.
"""
CLAIM = f"""{PRELUDE}
if not redis.call('HGET', promises, field) then return -1 end
local holder, ends = claimed(field)
if holder and holder ~= ARGV[2] and ends > now then return 0 end
claim(ARGV[2], ARGV[3], ARGV[4])
return 1
"""
REMOVE = f"{PRELUDE} drop(field)"
STANDING = f"""{PRELUDE}
local found, standing = redis.call('HGETALL', promises), {{}}
for i = 1, #found, 2 do
  local _, ends = claimed(found[i])
  if ends < now - tonumber(ARGV[2]) then
    drop(found[i])
  else
    table.insert(standing, found[i])
    table.insert(standing, found[i + 1])
  end
end
return standing
"""


class RedisPromises:
    """Keeps promises, each bound to its key: copied to another one, it cannot be read."""

    def __init__(self, client: Redis, *, seal: Seal, lasting: float = LASTING) -> None:
        self.lasting = lasting
        self._seal = seal
        self._holder = uuid4().hex
        self._put, self._clock = client.register_script(PUT), client.register_script(CLOCK)
        self._claim, self._remove = client.register_script(CLAIM), client.register_script(REMOVE)
        self._standing = client.register_script(STANDING)

    async def put(self, platform: str, key: str, text: str, *, within: float) -> bool:
        """Encrypt and write, again and again while there is time."""
        sealed = self._seal.encrypt(text, place=_place(platform, key))
        latest = asyncio.get_running_loop().time() + within
        with suppress(TimeoutError):
            async with asyncio.timeout_at(latest):
                while True:
                    with suppress(StoreUnavailable):
                        return await self._kept(platform, key, sealed, latest)
                    await asyncio.sleep(PAUSE)
        raise StoreUnavailable(UNREACHABLE)

    async def _kept(self, platform: str, key: str, sealed: bytes, latest: float) -> bool:
        with translated():
            now = cast("int", await self._clock(_keys(platform)))
            left = latest - asyncio.get_running_loop().time()
            words = [key, *self._hold(), sealed, now + _milliseconds(left)]
            done = await self._put(_keys(platform), words)
        if done == -1:
            raise StoreUnavailable(UNREACHABLE)
        return done == 1

    async def claim(self, platform: str, key: str, *, by: str = "") -> bool | None:
        """Write who is at it; of several, the server lets one."""
        with translated():
            claimed = cast("int", await self._claim(_keys(platform), [key, *self._hold(by)]))
        return None if claimed == -1 else claimed == 1

    async def remove(self, platform: str, key: str) -> None:
        """Take the field out."""
        with translated():
            await self._remove(_keys(platform), [key])

    async def standing(self, platform: str) -> Mapping[str, str]:
        """Read the hash; what cannot be decrypted any more is left out, and what is too old goes."""
        with translated():
            found = cast("list[bytes]", await self._standing(_keys(platform), ["", _KEPT]))
        named = {key.decode(): sealed for key, sealed in zip(found[::2], found[1::2], strict=True)}
        read = {key: self._seal.decrypt(sealed, place=_place(platform, key)) for key, sealed in named.items()}
        return {key: text for key, text in read.items() if text is not None}

    def _hold(self, by: str = "") -> tuple[str, int, int]:
        """Give who is at it, for how many milliseconds, and for how many it is kept."""
        return f"{self._holder}{by}", _milliseconds(self.lasting), _KEPT


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


def _keys(platform: str) -> list[str]:
    """Name both hashes, of which a cluster keeps those of a platform together."""
    return [f"footnote:promises:{{{platform}}}", f"footnote:promises:{{{platform}}}:claims"]


def _place(platform: str, key: str) -> str:
    return f"footnote:promises:{platform} {key}"
