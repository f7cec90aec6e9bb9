"""Lets the edits of an answer that is still being written come seldom, and none hold up its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from math import inf
from typing import TypeVar

from adapters.chat.posting import Controls, Part, Posted, Poster
from adapters.slack.client.budget import Budget, Growth
from core.errors import RateLimited
from core.model import Answer, Progress

Result = TypeVar("Result")


class Leisure:
    """Gives drafts their turns, so many seconds *apart*, until the answer is there and no draft is wanted any more."""

    def __init__(self, apart: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._apart = apart
        self._clock = clock
        self._next = -inf
        self._over = asyncio.Event()

    def end(self) -> None:
        """Drop what waits: something better comes."""
        self._over.set()

    def rest(self) -> None:
        """Return no more turns."""
        self._next = inf

    async def turn(self) -> None:
        """Wait for the turn of a draft. Raises `RateLimited` for one that is not to be shown any more."""
        seconds = self._next - self._clock()
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(None if seconds == inf else seconds):
                    await self._over.wait()
        if self._over.is_set():
            raise RateLimited(0.0)
        self._next = max(self._next, self._clock() + self._apart)


class Unhurried:
    """A `Poster` whose drafts wait for their turns; where they are or would be too many, only the answer is shown."""

    def __init__(self, poster: Poster, leisure: Leisure, growth: Growth | None = None, *, workspace: str = "") -> None:
        self._poster = poster
        self._leisure = leisure
        self._growth = growth or Growth()
        self._workspace = workspace

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message."""
        if part.controls is not Controls.STOP:
            return await self._poster.post(part, nonce)
        return await self._at_leisure(self._growth.posts, lambda: self._poster.post(part, nonce))

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace what a message shows."""
        if part.controls is not Controls.STOP:
            return await self._poster.edit(message_id, part)
        return await self._at_leisure(self._growth.edits, lambda: self._poster.edit(message_id, part))

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        await self._poster.delete(message_id)

    async def _at_leisure(self, budget: Budget, call: Callable[[], Awaitable[Result]]) -> Result:
        await self._leisure.turn()
        if not budget.take(self._workspace):
            self._leisure.rest()
            raise RateLimited(0.0)
        try:
            return await call()
        except RateLimited:
            self._leisure.rest()
            raise


async def until_answered(progress: AsyncIterator[Progress], leisure: Leisure) -> AsyncIterator[Progress]:
    """Return the progress; with the answer the leisure is over, so that no draft of before holds it up."""
    async for item in progress:
        if isinstance(item, Answer):
            leisure.end()
        yield item
