"""Sleep that lasts until a test wakes the sleepers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Naps:
    """Keeps who sleeps; *changed* is told of each that falls asleep."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._naps: list[asyncio.Event] = []

    async def sleep(self, _: float) -> None:
        """Wait to be woken."""
        nap = asyncio.Event()
        self._naps.append(nap)
        self._changed()
        await nap.wait()

    @property
    def asleep(self) -> int:
        """How many sleep."""
        return len(self._naps)

    def wake(self) -> None:
        """Wake all."""
        naps, self._naps = self._naps, []
        for nap in naps:
            nap.set()
