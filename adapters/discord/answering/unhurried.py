"""Lets the edits of an answer that is still being written come after everything that a reader waits for."""

from __future__ import annotations

from collections.abc import AsyncIterator

from adapters.chat.posting import Part, Posted, Poster
from adapters.discord.client.throttle import Leisure
from core.model import Answer, Progress


class Unhurried:
    """A `Poster` whose edits wait for a quiet moment, until the leisure is over."""

    def __init__(self, poster: Poster, leisure: Leisure) -> None:
        self._poster = poster
        self._leisure = leisure

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message: words that are not to be read yet."""
        return await self._poster.post(part, nonce)

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace what a message shows."""
        with self._leisure.applies():
            await self._poster.edit(message_id, part)

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        await self._poster.delete(message_id)


async def until_answered(progress: AsyncIterator[Progress], leisure: Leisure) -> AsyncIterator[Progress]:
    """Return the progress; with the answer the leisure is over, so that no edit of before holds it up."""
    async for item in progress:
        if isinstance(item, Answer):
            leisure.end()
        yield item
