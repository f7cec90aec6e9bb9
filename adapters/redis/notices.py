"""Which words stand below questions until these are answered, in Redis: one hash for each platform."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from adapters.redis.connection import translated
from core.model import Notice

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT = timedelta(days=1)

PUT = """
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
"""


class RedisNotices:
    """Keeps notices by their questions. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis, *, now: Callable[[], datetime] | None = None) -> None:
        self._client = client
        self._now = now or partial(datetime.now, UTC)
        self._put = client.register_script(PUT)

    async def put(self, notice: Notice) -> None:
        """Write the notice, and let the platform's notices live longer."""
        key, life = _key(notice.question.thread.platform), KEPT // timedelta(milliseconds=1)
        with translated():
            await self._put([key], [str(notice.question), notice.model_dump_json(), life])

    async def remove(self, notice: Notice) -> None:
        """Take the field out."""
        await self._drop(_key(notice.question.thread.platform), str(notice.question))

    async def standing(self, platform: str) -> Sequence[Notice]:
        """Read the hash, and drop what is too old, or what another version wrote."""
        key = _key(platform)
        with translated():
            found = await cast("Awaitable[dict[bytes, bytes]]", self._client.hgetall(key))
        notices = {field: _read(value) for field, value in found.items()}
        standing = {field: each for field, each in notices.items() if each and self._now() - each.at < KEPT}
        if gone := [field for field in notices if field not in standing]:
            await self._drop(key, *gone)
        return tuple(standing.values())

    async def _drop(self, key: str, *fields: bytes | str) -> None:
        with translated():
            await self._client.hdel(key, *cast("tuple[str, ...]", fields))


def _read(value: bytes) -> Notice | None:
    with suppress(ValidationError):
        return Notice.model_validate_json(value)
    return None


def _key(platform: str) -> str:
    return f"footnote:notices:{platform}"
