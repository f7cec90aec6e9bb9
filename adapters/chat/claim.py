"""The right to do what was promised, of which one process at a time has it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from core.errors import Unreachable
from core.ports import Promises

LONGEST_TRY = 2 / 3  # of the time of a claim, so that what is broken off has had its effect before others begin


class TakenOver(Exception):
    """Somebody else is about to do it, or has done it."""


class Claim:
    """Is renewed for each try to do it, and lost to others once it has ended.

    Whoever has noted what to do knows it, although a server that failed over may have lost the note; nobody else can
    have taken it over before the own claim has ended.
    """

    def __init__(
        self, promises: Promises, platform: str, key: str, *, by: str = "", since: float = float("-inf")
    ) -> None:
        """Begin with the claim that came with a note, *since* the moment before that, or with none."""
        self.key = key
        self._promises = promises
        self._platform = platform
        self._by = by
        self._since = since

    async def use(self, do: Callable[[], Awaitable[object]]) -> None:
        """Try to do it once. Raises `TakenOver`, `StoreUnavailable`, and `Unreachable` where it takes too long."""
        begun, lasting = time.monotonic(), self._promises.lasting
        is_ours = await self._promises.claim(self._platform, self.key, by=self._by)
        if is_ours:
            self._since = begun
        elif is_ours is False or begun >= self._since + lasting:
            raise TakenOver
        try:
            async with asyncio.timeout(lasting * LONGEST_TRY):
                await do()
        except TimeoutError as error:
            raise Unreachable("it took too long") from error
