"""Whether anybody could hear a command: platforms tell of one once, and want a sign of life within seconds."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from dataclasses import dataclass, field

from tests.faults.community import LATEST

LATE = LATEST + 0.5  # seconds after a command in which a listener may have been broken before it could answer


@dataclass
class Attention:
    """When the listeners of platforms were broken, and which commands were used while one was there."""

    _broken: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    _away: set[str] = field(default_factory=set[str])
    _asked: dict[int, tuple[str, float, bool]] = field(default_factory=dict[int, tuple[str, float, bool]])

    def disturb(self, platform: str) -> None:
        """Take note that something happens to a process."""
        self._broken.setdefault(platform, []).append(time.monotonic())

    @contextlib.contextmanager
    def lapse(self, platform: str) -> Generator[None]:
        """Expect nothing while the block runs."""
        self.disturb(platform)
        self._away.add(platform)
        try:
            yield
        finally:
            self._away.discard(platform)
            self.disturb(platform)

    def asked(self, number: int, platform: str, *, is_heard: bool) -> None:
        """Take note of a command."""
        self._asked[number] = platform, time.monotonic(), is_heard and platform not in self._away

    def at(self, number: int) -> float:
        """Say when it was used."""
        return self._asked[number][1]

    def lapsed(self, number: int) -> bool:
        """Say whether nobody needs to have heard it."""
        platform, at, is_heard = self._asked[number]
        return not is_heard or any(at <= each <= at + LATE for each in self._broken.get(platform, ()))
