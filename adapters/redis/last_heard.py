"""When each channel was heard last, in Redis: one sorted set for each platform."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

from adapters.redis.connection import translated
from core.model import ChannelRef, WorkspaceRef

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT = timedelta(days=30)
MOST = 10_000  # channels of a platform; of more, those are given up that have been quiet for longest

# The members are `<workspace> <channel>`, both percent-encoded, by the time of each in seconds.
NOTE = """
local key, at, life = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[3])
redis.call('ZADD', key, 'GT', at, ARGV[2])
redis.call('ZREMRANGEBYSCORE', key, '-inf', at - life)
redis.call('ZREMRANGEBYRANK', key, 0, -1 - ARGV[4])
redis.call('PEXPIRE', key, 1000 * life)
"""

FORGET = """
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if string.sub(member, 1, #ARGV[1]) == ARGV[1] then redis.call('ZREM', KEYS[1], member) end
end
"""


class RedisLastHeard:
    """Keeps ids of channels and times. They hold no text that anybody wrote, so they are not encrypted."""

    def __init__(self, client: Redis, *, most: int = MOST) -> None:
        self._client = client
        self._most = most
        self._note = client.register_script(NOTE)
        self._forget = client.register_script(FORGET)

    async def note(self, channel: ChannelRef, at: datetime) -> None:
        """Move a channel to its time, and let go of what is too old or too much."""
        member = f"{_prefix(channel.home)}{quote(channel.channel, safe='')}"
        with translated():
            await self._note([_key(channel.platform)], [at.timestamp(), member, int(KEPT.total_seconds()), self._most])

    async def channels(self, platform: str, *, limit: int) -> Sequence[tuple[ChannelRef, datetime]]:
        """Read from the end that was heard last."""
        if limit < 1:
            return ()
        with translated():
            found = await self._client.zrange(_key(platform), 0, limit - 1, desc=True, withscores=True)  # pyright: ignore[reportUnknownMemberType] - an option of it is untyped
        return tuple(_read(platform, member, at) for member, at in cast("list[tuple[bytes, float]]", found))

    async def forget_workspace(self, home: WorkspaceRef) -> None:
        """Remove the members that begin with the workspace."""
        with translated():
            await self._forget([_key(home.platform)], [_prefix(home)])


def _key(platform: str) -> str:
    return f"footnote:heard:{platform}"


def _prefix(home: WorkspaceRef) -> str:
    return f"{quote(home.workspace, safe='')} "


def _read(platform: str, member: bytes, at: float) -> tuple[ChannelRef, datetime]:
    workspace, channel = map(unquote, member.decode().split(" "))
    return ChannelRef(platform=platform, workspace=workspace, channel=channel), datetime.fromtimestamp(at, UTC)
