"""The limits of an answer that comes all the time and yet gets nowhere."""

from __future__ import annotations

import time

from adapters.openai.client import Patience
from adapters.openai.failures import EndlessAnswer

LARGEST = 32 * 1024 * 1024  # bytes, most of them the framing of tokens


class Watch:
    """Is told of every piece; whoever sends nothing at all is met by the client's own time limit.

    Services keep a line open by comments, so that bytes alone are no sign of an answer.
    """

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._begun = self._heard = time.monotonic()
        self._size = 0

    def saw(self, piece: bytes, *, is_news: bool) -> None:
        """Take note of a piece. Raises `TimeoutError` or `EndlessAnswer` for one too many."""
        now = time.monotonic()
        self._size += len(piece)
        if self._size > LARGEST or now - self._begun > self._patience.whole:
            raise EndlessAnswer
        self._heard = now if is_news else self._heard
        if now - self._heard > self._patience.read:
            raise TimeoutError

    def resume(self) -> None:
        """Go on after a reader who took their time."""
        self._heard = time.monotonic()
