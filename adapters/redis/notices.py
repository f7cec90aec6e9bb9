"""Which words stand below questions until these are answered, in Redis: one hash for each platform."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from adapters.redis.connection import translated
from core.model import Notice

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT = timedelta(days=1)  # after the newest one of the platform

PUT = """
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
"""


class RedisNotices:
    """Keeps notices by their questions. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._put = client.register_script(PUT)

    async def put(self, notice: Notice) -> None:
        """Write the notice, and let the platform's notices live longer."""
        with translated():
            await self._put(
                [_key(notice.question.thread.platform)],
                [str(notice.question), notice.model_dump_json(), int(KEPT.total_seconds())],
            )

    async def remove(self, notice: Notice) -> None:
        """Take the field out."""
        with translated():
            await self._client.hdel(_key(notice.question.thread.platform), str(notice.question))

    async def standing(self, platform: str) -> Sequence[Notice]:
        """Read the hash."""
        with translated():
            found = await self._client.hvals(_key(platform))
        return tuple(map(Notice.model_validate_json, cast("list[bytes]", found)))


def _key(platform: str) -> str:
    return f"footnote:notices:{platform}"
