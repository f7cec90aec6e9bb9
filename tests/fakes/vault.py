"""Secrets in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from core.errors import StoreUnavailable


class MemoryVault:
    """Keeps secrets as they are.

    Set `fails` to make every call raise `StoreUnavailable`, as if the server were gone.
    """

    def __init__(self, now: Callable[[], datetime] | None = None) -> None:
        self.fails = False
        self._now = now or (lambda: datetime.now(UTC))
        self._kept: dict[str, tuple[str, datetime | None]] = {}

    async def load(self, key: str) -> str | None:
        """Give the text, unless its time is over."""
        self._check()
        text, end = self._kept.get(key, (None, None))
        return text if end is None or self._now() < end else None

    async def keys(self, beginning: str) -> Sequence[str]:
        """Look at those whose time is not over."""
        return sorted([key for key in self._kept if key.startswith(beginning) and await self.load(key) is not None])

    async def save(self, key: str, text: str, ttl: timedelta | None = None) -> None:
        """Keep the text."""
        self._check()
        self._kept[key] = text, None if ttl is None else self._now() + ttl

    async def remove(self, key: str) -> None:
        """Throw the text away."""
        self._check()
        self._kept.pop(key, None)

    def _check(self) -> None:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
