"""Has the messages of an answer noted as they are posted, so that a crash leaves none that nobody knows of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self, TypeAlias

from adapters.chat.posting import Part, Posted, Poster
from core.errors import StoreUnavailable

Note: TypeAlias = Callable[[Sequence[str]], Awaitable[object]]


class Noted:
    """A `Poster`; the ids of all messages are noted beside the posting, which waits for it only when it ends.

    *showing* is called each time before something appears. A note that cannot be written now is left out.
    """

    def __init__(self, poster: Poster, note: Note, showing: Callable[[], object], *, noted: Sequence[str] = ()) -> None:
        self._poster = poster
        self._note = note
        self._showing = showing
        self._ids = list(noted)
        self._writing: asyncio.Task[None] | None = None
        self._is_old = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writing is not None:
            await self._writing  # what is noted after this has to come after it

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message, and have it noted."""
        self._showing()
        posted = await self._poster.post(part, nonce)
        self._add(posted.id)
        return posted

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace what a message shows, and have it noted if it is not."""
        self._showing()
        self._add(message_id)
        await self._poster.edit(message_id, part)

    async def delete(self, message_id: str) -> None:
        """Remove a message; its note stays until the end."""
        await self._poster.delete(message_id)

    def _add(self, message_id: str) -> None:
        if message_id in self._ids:
            return
        self._ids.append(message_id)
        self._is_old = True
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._is_old:
            self._is_old = False
            with suppress(StoreUnavailable):
                await self._note(tuple(self._ids))
