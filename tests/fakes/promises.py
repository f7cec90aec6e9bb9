"""Promises in memory."""

from __future__ import annotations

import time
from collections.abc import Mapping

from core.errors import StoreUnavailable


class MemoryPromises:
    """Keeps every promise until it is removed; those of a process *beside* are the same ones.

    Set `fails` to make every call raise `StoreUnavailable`.
    """

    def __init__(self, *, beside: MemoryPromises | None = None, lasting: float = 30.0) -> None:
        self.fails = False
        self.lasting = lasting
        self.kept: dict[tuple[str, str], str] = beside.kept if beside else {}
        self.claims: dict[tuple[str, str], tuple[tuple[int, str], float]] = beside.claims if beside else {}

    async def put(self, platform: str, key: str, text: str, *, within: float) -> bool:
        """Keep it at once, or not at all."""
        self._check()
        assert within > 0
        is_new = (platform, key) not in self.kept
        self.kept.setdefault((platform, key), text)
        return is_new and bool(await self.claim(platform, key))

    async def claim(self, platform: str, key: str, *, by: str = "") -> bool | None:
        """Take it, if it is there and nobody else has it."""
        self._check()
        if (platform, key) not in self.kept:
            return None
        now, who = time.monotonic(), (id(self), by)
        holder, ends = self.claims.get((platform, key), (who, now))
        is_free = holder == who or ends <= now
        if is_free:
            self.claims[platform, key] = who, now + self.lasting
        return is_free

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
