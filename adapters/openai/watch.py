"""Sees to it that an answer comes: nothing may be silent for too long, and nothing may go on for ever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

from adapters.openai.client import OpenAILimits
from adapters.openai.refusals import EndlessAnswer

BEAT = 0.05  # seconds until it is looked again, while somebody is busy with the last piece
ENDLESS = "an answer without an end in sight"
LARGEST = 32 * 1024 * 1024  # bytes, most of them the framing of tokens


class Watch:
    """Hands on the pieces of an answer, and ends it where none comes in time.

    There is one timer for all of it, which looks again when its time is over: pieces come by the hundred a second, and
    each of them would cost one more. A line that is only kept open, by comments, is no silence; half a line is.
    """

    def __init__(self, limits: OpenAILimits, *, begun: float | None = None) -> None:
        """Begin to count, or have counted since it was *begun*."""
        self._limits = limits
        self._limit = limits.first
        self._begun = self.heard = time.monotonic() if begun is None else begun
        self._until = self._begun + min(limits.whole, limits.patience)
        self._size = 0
        self._reader: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_late = False

    def __enter__(self) -> Self:
        """Set the timer."""
        self._look()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the timer back."""
        if self._timer is not None:
            self._timer.cancel()

    async def next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        """Return the next piece; None at the end. Raises `TimeoutError` where it does not come in time."""
        reader = self._reader = asyncio.current_task()
        try:
            return await anext(pieces, None)
        except asyncio.CancelledError:
            if not self._is_late or reader is None or reader.uncancel():
                raise
            is_over = time.monotonic() - self._begun >= self._limits.whole
            raise (EndlessAnswer(ENDLESS) if is_over else TimeoutError()) from None
        finally:
            self._reader = None

    def saw(self, piece: bytes, *, is_life: bool, is_news: bool) -> None:
        """Count a piece, of which it is known whether a line of it is whole, and whether it is of the answer.

        Raises `EndlessAnswer` for one too many.
        """
        now = time.monotonic()
        self._size += len(piece)
        if self._size > LARGEST or now - self._begun > self._limits.whole:
            raise EndlessAnswer(ENDLESS)
        if is_life:
            self.heard = now
        later = self._limits.read, self._begun + self._limits.whole
        if is_news and (self._limit, self._until) != later:  # from now on, it is looked more often or less
            self._limit, self._until = later
            self._look()

    def _look(self) -> None:
        """End what waits for the next piece, if it is late, and look again when it may be."""
        if self._timer is not None:
            self._timer.cancel()
        now = time.monotonic()
        left = min(self.heard + self._limit, self._until) - now
        if left <= 0 and self._reader is not None:
            self._is_late = True
            self._reader.cancel()
            return
        self._timer = asyncio.get_running_loop().call_later(max(left, BEAT), self._look)
