"""What is to be removed, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from core.errors import StoreUnavailable
from core.model import MessageRef

AGAIN = timedelta(minutes=1)


class MemoryRemovals:
    """Keeps every message with its time. Set `fails` to make every call raise `StoreUnavailable`."""

    def __init__(self) -> None:
        self.fails = False
        self.notes: dict[MessageRef, datetime] = {}

    async def add(self, message: MessageRef, at: datetime) -> None:
        """Keep it."""
        self._check()
        self.notes[message] = at

    async def due(self, platform: str, now: datetime, *, limit: int) -> Sequence[MessageRef]:
        """Look at the times."""
        self._check()
        due = [each for each, at in self.notes.items() if at <= now and each.thread.platform == platform]
        found = sorted(due, key=lambda each: self.notes[each])[:limit]
        self.notes |= dict.fromkeys(found, now + AGAIN)
        return tuple(found)

    async def done(self, message: MessageRef) -> None:
        """Take it out."""
        self._check()
        self.notes.pop(message, None)

    def _check(self) -> None:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
