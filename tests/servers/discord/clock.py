"""The server's time, and the ids that hold it."""

from __future__ import annotations

import time
from datetime import UTC, datetime

EPOCH = 1_420_070_400_000  # ms: the first second of 2015, from which ids count


class ServerClock:
    """Tells the real time, and as much more as a test lets pass."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def time(self) -> float:
        """Seconds since 1970."""
        return time.time() + self._ahead

    def now(self) -> datetime:
        """The time of day."""
        return datetime.fromtimestamp(self.time(), UTC)

    def advance(self, seconds: float) -> None:
        """Let time pass for the server, at once."""
        self._ahead += seconds


class Snowflakes:
    """Gives ids that rise and hold the time at which they were given."""

    def __init__(self, clock: ServerClock) -> None:
        self._clock = clock
        self._last = 0

    def __call__(self) -> int:
        """Give the next id."""
        self._last = max(self._last + 1, (int(self._clock.time() * 1000) - EPOCH) << 22)
        return self._last
