"""The server's time, and the timestamps and ids that it gives."""

from __future__ import annotations

import time
from itertools import count


class ServerClock:
    """Tells the real time, and as much more as a test lets pass; `ahead` is only the latter.

    A frozen clock tells nothing but what a test lets pass.
    """

    def __init__(self) -> None:
        self.ahead = 0.0
        self._frozen_at: float | None = None

    def time(self) -> float:
        """Seconds since 1970."""
        return (self._frozen_at or time.time()) + self.ahead

    def freeze(self) -> None:
        """Let no more time pass by itself."""
        self._frozen_at = time.time()

    def advance(self, seconds: float) -> None:
        """Let time pass for the server, at once."""
        self.ahead += seconds


class Timestamps:
    """Gives the timestamps that name messages; they rise."""

    def __init__(self, clock: ServerClock) -> None:
        self._clock = clock
        self._last = 0

    def __call__(self) -> str:
        """Give the next timestamp."""
        self._last = max(self._last + 1, int(self._clock.time() * 1_000_000))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"


class Ids:
    """Gives ids such as `U0000002A`, of which the first letter says what they name."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def __call__(self, letter: str) -> str:
        """Give the next id of a kind."""
        return f"{letter}0{next(self._numbers):08X}"
