"""How many streams may be started, which Slack counts by workspace."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

STARTS = 15  # in a minute; Slack allows 20, and counts the streams of all processes
MINUTE = 60.0  # seconds
LONG = 3600.0  # seconds after which a workspace that knows no streams is asked again


class Budget:
    """Counts the streams that were started in the last minute in each workspace."""

    def __init__(self, starts: int = STARTS, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._starts = starts
        self._clock = clock
        self._started: dict[str, deque[float]] = {}
        self._rests_until: dict[str, float] = {}

    def take(self, workspace: str) -> bool:
        """Say whether a stream may be started now, and count it if so."""
        now = self._clock()
        started = self._started.setdefault(workspace, deque())
        while started and started[0] <= now - MINUTE:
            started.popleft()
        if len(started) >= self._starts or now < self._rests_until.get(workspace, now):
            return False
        started.append(now)
        return True

    def rest(self, workspace: str, seconds: float = LONG) -> None:
        """Start none for a while, as Slack said so."""
        self._rests_until[workspace] = self._clock() + seconds
