"""Notices in memory."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import StoreUnavailable
from core.model import MessageRef, Notice


class MemoryNotices:
    """Keeps every notice until it is removed. Set `fails` to make every call raise `StoreUnavailable`."""

    def __init__(self) -> None:
        self.fails = False
        self.kept: dict[MessageRef, Notice] = {}

    async def put(self, notice: Notice) -> None:
        """Keep it."""
        self._check()
        self.kept[notice.question] = notice

    async def remove(self, notice: Notice) -> None:
        """Take it out."""
        self._check()
        self.kept.pop(notice.question, None)

    async def standing(self, platform: str) -> Sequence[Notice]:
        """Give those of the platform."""
        self._check()
        return tuple(each for each in self.kept.values() if each.question.thread.platform == platform)

    def _check(self) -> None:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
