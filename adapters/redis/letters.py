"""What whoever runs the bot sees of the inbox: how much there is to do, and what was given up."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from adapters.redis import queue_scripts, signal_scripts
from adapters.redis.connection import translated
from adapters.redis.scribe import PREFIX, Scribe
from core.model import Backlog, DeadLetter, MessageRef, Question


class Letters:
    """Implements `DeadLetters` and `Backlogged` over what the inbox has written down."""

    def __init__(self, scribe: Scribe, *, lease: float) -> None:
        self._scribe = scribe
        self._lease_time = int(lease * 1000)  # ms; a question that nobody has renewed for longer waits for a worker
        self._backlog, self._drop = scribe.script(queue_scripts.BACKLOG), scribe.script(queue_scripts.DROP)
        self._retry = scribe.script(signal_scripts.RETRY)

    async def backlog(self) -> Backlog:
        """Count what waits, what is worked on and what was given up."""
        waiting, running, dead, oldest = cast("list[int]", await self._backlog(self._lease_time))
        return Backlog(waiting, running, dead, oldest / 1000)

    async def dead(self, *, limit: int) -> Sequence[DeadLetter]:
        """Return what was given up, newest first."""
        with translated():
            found = await self._scribe.client.zrange(f"{PREFIX}dead", 0, limit - 1, desc=True, withscores=True)  # pyright: ignore[reportUnknownMemberType] - an option of it is untyped
        named = cast("list[tuple[bytes, float]]", found)
        return [await self._letter(MessageRef.parse(ref.decode()), died_at) for ref, died_at in named]

    async def letter(self, message: MessageRef) -> DeadLetter | None:
        """Return what is known of one question that was given up."""
        with translated():
            died_at = await self._scribe.client.zscore(f"{PREFIX}dead", str(message))
        return None if died_at is None else await self._letter(message, died_at)

    async def revive(self, message: MessageRef) -> bool:
        """Have a question tried again."""
        return (
            await self.letter(message) is not None and await self._retry(str(message), str(message.thread), 0, 0) == 1
        )

    async def drop(self, message: MessageRef) -> bool:
        """Remove a question with its words."""
        return await self._drop(str(message)) == 1

    async def _letter(self, message: MessageRef, died_at: float) -> DeadLetter:
        client = self._scribe.client
        with translated():
            about = client.hmget(f"{PREFIX}question:{message}", ["attempts", "reason"])
            attempts, reason = await cast("Awaitable[list[Any]]", about)
            words = await cast("Awaitable[bytes | None]", client.get(f"{PREFIX}retry:{message}"))
        return DeadLetter(
            message,
            datetime.fromtimestamp(died_at / 1000, UTC),
            int(attempts or 0),
            (reason or b"").decode(),
            can_be_retried=words is not None,
            question=self._scribe.unsealed(message, "text", words, Question),
        )
