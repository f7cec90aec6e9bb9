"""How often the bot may do what Slack counts by workspace, so that the words of answers are never too many."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

STARTS = 15  # in a minute; Slack allows 20, and counts the streams of all processes
GROWING = 20  # posts in a minute that grow, each of which is edited when it is whole; Slack allows 50 edits
EDITS = 20  # edits in a minute before posts are whole
MINUTE = 60.0  # seconds
LONG = 3600.0  # seconds after which a workspace that knows no streams is asked again


class Budget:
    """Counts what was begun in the last minute in each workspace, such as streams."""

    def __init__(self, starts: int = STARTS, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._starts = starts
        self._clock = clock
        self._started: dict[str, deque[float]] = {}
        self._rests_until: dict[str, float] = {}

    def take(self, workspace: str) -> bool:
        """Return whether another may be begun now, and count it if so."""
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


@dataclass(frozen=True, slots=True)
class Growth:
    """What posts that grow may cost, with room for the last edit of each; beyond it, answers are posted whole."""

    posts: Budget = field(default_factory=lambda: Budget(GROWING))
    edits: Budget = field(default_factory=lambda: Budget(EDITS))
