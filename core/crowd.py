"""What people are told who ask while many others wait."""

from __future__ import annotations

import math
from dataclasses import dataclass

BUSY = "I'm busy"
FULL_HOUSE = 64  # questions that wait
ROUND = 10  # seconds: nobody can say it more exactly


@dataclass(frozen=True, slots=True)
class Crowd:
    """Knows how long one question takes when many wait, and how many may wait before anybody is told."""

    seconds_each: float
    bound: int = FULL_HOUSE

    def sentence(self, waiting: int) -> str | None:
        """Say when the last of those who wait will be answered; None if that will be soon."""
        if waiting <= self.bound:
            return None
        seconds = max(ROUND, math.ceil(waiting * self.seconds_each / ROUND) * ROUND)
        return f"{BUSY}; your answer comes in about {seconds} seconds."
