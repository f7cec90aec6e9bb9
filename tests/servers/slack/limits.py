"""Rate limits: by method and workspace, and for posts also by channel."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import ceil

from tests.servers.slack.clock import ServerClock

POST = "chat.postMessage"
BURST = 4  # posts at once in one channel, of which one a second comes back


@dataclass(frozen=True, slots=True)
class Limited:
    """A call that came too early, and how long it was told to wait."""

    method: str
    place: str
    retry_after: int


@dataclass
class Limits:
    """Counts calls. `on` turns the platform's tiers on; what a test sets or exhausts counts anyway.

    `refused` holds the calls that came too early.
    """

    clock: ServerClock
    on: bool = False
    refused: list[Limited] = field(default_factory=list[Limited])
    _set: dict[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])
    _exhausted: dict[tuple[str, str | None], float] = field(default_factory=dict[tuple[str, str | None], float])
    _taken: dict[tuple[str, str], deque[float]] = field(default_factory=dict[tuple[str, str], deque[float]])

    def set(self, method: str, calls: int, seconds: float = 60.0) -> None:
        """Allow so many calls of a method in so many seconds, in each workspace; posts are counted by channel."""
        self._set[method] = (calls, seconds)

    def exhaust(self, method: str, seconds: float, place: str | None = None) -> None:
        """Let no call of a method pass for so many seconds, in one workspace or channel, or everywhere."""
        self._exhausted[method, place] = self.clock.time() + seconds

    def take(self, method: str, tier: int, place: str) -> Limited | None:
        """Count a call; give why it is refused, if it is."""
        now = self.clock.time()
        ends = max(self._exhausted.get((method, place), 0.0), self._exhausted.get((method, None), 0.0))
        if ends > now:
            return self._refuse(method, place, ends - now)
        allowed = self._allowed(method, tier)
        if allowed is None:
            return None
        calls, seconds = allowed
        taken = self._taken.setdefault((method, place), deque())
        while taken and taken[0] <= now - seconds:
            taken.popleft()
        if len(taken) >= calls:
            return self._refuse(method, place, taken[0] + seconds - now)
        taken.append(now)
        return None

    def _allowed(self, method: str, tier: int) -> tuple[int, float] | None:
        if method in self._set:
            return self._set[method]
        if not self.on or not tier:
            return None
        return (BURST, float(BURST)) if method == POST else (tier, 60.0)

    def _refuse(self, method: str, place: str, seconds: float) -> Limited:
        limited = Limited(method, place, max(1, ceil(seconds)))
        self.refused.append(limited)
        return limited
