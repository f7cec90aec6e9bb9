"""What keeps processes from doing anything twice, or missing it: notes of what was done, or is still to be removed.

They, and a cursor for each channel, hold ids and times, and no text that anybody wrote, so they are not encrypted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from adapters.redis.connection import ScriptRunner, newest, translated
from core.model import ChannelRef, MessageRef, WorkspaceRef

if TYPE_CHECKING:
    from redis.asyncio import Redis

KEPT = timedelta(days=30)  # since it was noted the last time
AGAIN = 60  # seconds after which a removal is given out once more
LASTING = timedelta(days=1)  # since the last removal was added
MOST = 10_000  # channels of a platform; of more, those are given up that have been quiet for longest


@dataclass
class RedisDedup:
    """Keeps notes: one value per key, which goes if it is not repeated for long.

    *pseudonym* returns the name under which a note speaks of a person: nobody looks for it to forget somebody.
    """

    client: Redis
    _: KW_ONLY
    pseudonym: Callable[[str], str]
    kept: timedelta = KEPT

    async def changed(self, key: str, value: str, *, person: str = "") -> bool:
        """Replace the note and look what it was, in one step."""
        key = f"{key}:{self.pseudonym(person)}" if person else key
        with translated():
            before = await self.client.set(f"footnote:memo:{key}", value, px=self.kept, get=True)
        return before != value.encode()

    async def forget(self, key: str) -> None:
        """Remove the note."""
        with translated():
            await self.client.delete(f"footnote:memo:{key}")

    async def hold(self, key: str, holder: str, *, seconds: float) -> bool:
        """Set it where nobody has, or have it end later; if it ends between the two steps, it is not held."""
        key, life = f"footnote:memo:{key}", timedelta(seconds=seconds)
        with translated():
            if await self.client.set(key, holder, px=life, nx=True):
                return True
            return await self.client.get(key) == holder.encode() and bool(await self.client.pexpire(key, life))


class RedisChannelCursor:
    """Keeps when each channel was heard last: one sorted set for each platform."""

    def __init__(self, client: Redis, *, most: int = MOST) -> None:
        self._client = client
        self._most = most
        self._run = ScriptRunner(client, "channels")

    async def note(self, channel: ChannelRef, at: datetime) -> None:
        """Move a channel to its time, and let go of what is too old or too much."""
        member = f"{quote(channel.home.workspace, safe='')} {quote(channel.channel, safe='')}"
        given = {"member": member, "at": at.timestamp(), "life": int(KEPT.total_seconds()), "most": self._most}
        await self._run("note_channel", f"footnote:heard:{channel.platform}", **given)

    async def channels(self, platform: str, *, limit: int) -> Sequence[tuple[ChannelRef, datetime]]:
        """Read from the end that was heard last."""
        if limit < 1:
            return ()
        heard = list[tuple[ChannelRef, datetime]]()
        for member, at in await newest(self._client, f"footnote:heard:{platform}", limit=limit):
            workspace, channel = map(unquote, member.split(" "))
            ref = ChannelRef(platform=platform, workspace=workspace, channel=channel)
            heard.append((ref, datetime.fromtimestamp(at, UTC)))
        return tuple(heard)

    async def forget_workspace(self, home: WorkspaceRef) -> None:
        """Remove the members that begin with the workspace."""
        workspace = f"{quote(home.workspace, safe='')} "
        await self._run("forget_channels", f"footnote:heard:{home.platform}", workspace=workspace)


class RedisRemovals:
    """Keeps what is to be removed: one sorted set for each platform."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._run = ScriptRunner(client, "removals")

    async def add(self, message: MessageRef, at: datetime) -> None:
        """Give the message its time."""
        given = {"member": str(message), "at": at.timestamp(), "life": int(LASTING.total_seconds())}
        await self._run("add_removal", _removals(message.thread.platform), **given)

    async def due(self, platform: str, now: datetime, *, limit: int) -> Sequence[MessageRef]:
        """Take the first ones, which come again later unless they are done."""
        found = await self._run("due_removals", _removals(platform), at=now.timestamp(), again=AGAIN, limit=limit)
        return tuple(MessageRef.parse(each.decode()) for each in found)

    async def done(self, message: MessageRef) -> None:
        """Take it out."""
        with translated():
            await self._client.zrem(_removals(message.thread.platform), str(message))


def _removals(platform: str) -> str:
    return f"footnote:removals:{platform}"
