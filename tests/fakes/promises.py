"""Promises in memory."""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import StoreUnavailable


class MemoryPromises:
    """Keeps every promise until it is removed. Set `fails` to make every call raise `StoreUnavailable`."""

    def __init__(self) -> None:
        self.fails = False
        self.kept: dict[tuple[str, str], str] = {}

    async def put(self, platform: str, key: str, text: str, *, within: float) -> bool:
        """Keep it at once, or not at all."""
        self._check()
        assert within > 0
        is_new = (platform, key) not in self.kept
        self.kept.setdefault((platform, key), text)
        return is_new

    async def remove(self, platform: str, key: str) -> None:
        """Take it out."""
        self._check()
        self.kept.pop((platform, key), None)

    async def standing(self, platform: str) -> Mapping[str, str]:
        """Give those of the platform."""
        self._check()
        return {key: text for (of, key), text in self.kept.items() if of == platform}

    def _check(self) -> None:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
