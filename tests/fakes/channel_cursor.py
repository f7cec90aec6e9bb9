"""When each channel was heard last, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from core.errors import StoreUnavailable
from core.model import ChannelRef, WorkspaceRef


class MemoryChannelCursor:
    """Keeps every channel, and for ever. Set `fails` to make every call raise `StoreUnavailable`."""

    def __init__(self) -> None:
        self.fails = False
        self.notes: dict[ChannelRef, datetime] = {}

    async def note(self, channel: ChannelRef, at: datetime) -> None:
        """Keep the later time."""
        self._check()
        self.notes[channel] = max(at, self.notes.get(channel, at))

    async def channels(self, platform: str, *, limit: int) -> Sequence[tuple[ChannelRef, datetime]]:
        """Sort them."""
        self._check()
        found = [(channel, at) for channel, at in self.notes.items() if channel.platform == platform]
        return tuple(sorted(found, key=lambda each: each[1], reverse=True)[:limit])

    async def forget_workspace(self, home: WorkspaceRef) -> None:
        """Take them out."""
        self._check()
        self.notes = {channel: at for channel, at in self.notes.items() if channel.home != home}

    def _check(self) -> None:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
