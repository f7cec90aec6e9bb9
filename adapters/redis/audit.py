"""What moderators did, in Redis: each deed expires by itself."""

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
KEPT = timedelta(days=90)

# The keys of a workspace share a hash tag, so they are on one node of a cluster:
#
#     deed:<number>   one deed, whole
#     order           the numbers of the deeds, newest first, also of some that have expired
RECORD = """
local PREFIX, most, life = KEYS[1], tonumber(ARGV[2]), ARGV[3]
local order = PREFIX .. 'order'
local number = (redis.call('LINDEX', order, 0) or 0) + 1
redis.call('SET', PREFIX .. 'deed:' .. number, ARGV[1], 'PX', life)
if redis.call('LPUSH', order, number) > most then
  redis.call('DEL', PREFIX .. 'deed:' .. redis.call('RPOP', order))
end
redis.call('PEXPIRE', order, life)
"""

RECENT = """
local found = {}
for _, number in ipairs(redis.call('LRANGE', KEYS[1] .. 'order', 0, ARGV[1] - 1)) do
  local deed = redis.call('GET', KEYS[1] .. 'deed:' .. number)
  if not deed then break end
  table.insert(found, deed)
end
return found
"""


class RedisAudit:
    """Remembers deeds. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis, *, most: int = KEPT_DEEDS) -> None:
        self._most = most
        self._record = client.register_script(RECORD)
        self._recent = client.register_script(RECENT)

    async def record(self, home: WorkspaceRef, deed: Deed) -> None:
        """Put a deed in front of those before."""
        with translated():
            await self._record([_prefix(home)], [deed.model_dump_json(), self._most, KEPT // timedelta(milliseconds=1)])

    async def recent(self, home: WorkspaceRef, *, limit: int) -> Sequence[Deed]:
        """Give the newest deeds; one that cannot be read any more is left out."""
        if limit < 1:
            return ()
        with translated():
            entries = cast("list[bytes]", await self._recent([_prefix(home)], [limit]))
        return tuple(deed for entry in entries if (deed := _read(entry)))


def _read(entry: bytes) -> Deed | None:
    try:
        return Deed.model_validate_json(entry)
    except ValidationError:
        return None


def _prefix(home: WorkspaceRef) -> str:
    return f"footnote:audit:{{{home}}}:"
