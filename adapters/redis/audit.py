"""What moderators did, in Redis: one list per workspace, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from adapters.redis.connection import translated
from core.model import Deed, WorkspaceRef

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT_DEEDS = 1_000
KEPT = timedelta(days=90)  # after the last one

RECORD = """
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, tonumber(ARGV[2]) - 1)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
"""


class RedisAudit:
    """Remembers deeds. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._record = client.register_script(RECORD)

    async def record(self, home: WorkspaceRef, deed: Deed) -> None:
        """Put a deed in front of those before."""
        arguments = [deed.model_dump_json(), KEPT_DEEDS, KEPT // timedelta(milliseconds=1)]
        with translated():
            await self._record([_key(home)], arguments)

    async def recent(self, home: WorkspaceRef, *, limit: int) -> Sequence[Deed]:
        """Give the newest deeds; one that cannot be read any more is left out."""
        if limit < 1:
            return ()
        with translated():
            entries = cast("list[bytes]", await self._client.lrange(_key(home), 0, limit - 1))
        return tuple(deed for entry in entries if (deed := _read(entry)))


def _read(entry: bytes) -> Deed | None:
    try:
        return Deed.model_validate_json(entry)
    except ValidationError:
        return None


def _key(home: WorkspaceRef) -> str:
    return f"footnote:audit:{{{home}}}"
