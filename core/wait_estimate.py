"""What people are told who ask while many others wait."""

from __future__ import annotations

import math
from dataclasses import dataclass

BUSY = "I'm busy"
USUAL_ANSWER = 6.0  # seconds; a guess
ROUND = 10  # seconds: nobody can say it more exactly


@dataclass(frozen=True, slots=True)
class WaitEstimate:
    """Knows how long the last of those who wait has to, where workers answer at least *seats* questions at once."""

    seats: int

    def sentence(self, waiting: int, running: int) -> str | None:
        """Return when the last of those who wait will be answered; None if that will be soon.

        Of several workers nobody knows the seats, but when many wait, as many run as there are.
        """
        at_once = max(self.seats, running)
        if waiting <= 2 * at_once:
            return None
        seconds = max(ROUND, math.ceil(waiting * USUAL_ANSWER / at_once / ROUND) * ROUND)
        return f"{BUSY}; your answer comes in about {seconds} seconds."
