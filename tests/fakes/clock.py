"""Time that passes when the test says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class Clock:
    """Starts at noon. Call it for seconds, as one calls a monotonic clock; each reading takes *step* seconds."""

    def __init__(self, *, step: float = 0.0) -> None:
        self._start = datetime(2026, 1, 1, 12, tzinfo=UTC)
        self._step = step
        self._seconds = 0.0

    def __call__(self) -> float:
        """Read the seconds since the start."""
        seconds = self._seconds
        self._seconds += self._step
        return seconds

    def now(self) -> datetime:
        """Read the time of day."""
        return self._start + timedelta(seconds=self())

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._seconds += seconds
