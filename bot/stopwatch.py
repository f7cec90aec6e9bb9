"""Times what readers wait for."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from bot.metrics import Metrics
from core.model import (
    Answer,
    Claim,
    Delivery,
    Message,
    MessageRef,
    Progress,
    Reaction,
    TextDelta,
    ThreadRef,
    Withdrawal,
)
from core.ports import ChatSurface


class Stopwatch:
    """A surface that notes when an answer begins, and when there are the first words of it."""

    def __init__(self, surface: ChatSurface, metrics: Metrics) -> None:
        self._surface = surface
        self._metrics = metrics

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Draw an answer."""
        self._metrics.waited(claim)
        async with aclosing(self._watched(progress)) as watched:
            return await self._surface.reply(claim, watched)

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message."""
        await self._surface.react(to, reaction)

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Take a mark away."""
        await self._surface.unreact(to, reaction)

    async def recall(self, thread: ThreadRef, *, limit: int) -> Sequence[Message]:
        """Read a thread."""
        return await self._surface.recall(thread, limit=limit)

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take back what was posted."""
        await self._surface.withdraw(withdrawal)

    async def _watched(self, progress: AsyncIterator[Progress]) -> AsyncGenerator[Progress, None]:
        """Pass the progress on."""
        start, is_silent = time.monotonic(), True
        async for item in progress:
            if is_silent and _is_text(item):
                is_silent = False
                self._metrics.took("first_text", time.monotonic() - start)
            yield item


def _is_text(item: Progress) -> bool:
    """Say whether there is something to read; a refusal was no work."""
    return isinstance(item, TextDelta) or (isinstance(item, Answer) and item.total_time_ms > 0)
