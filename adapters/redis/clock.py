"""The clock by which a process knows how long it has been since it asked the server for something."""

from __future__ import annotations

import time
from typing import Final

_CLOCK: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def waking_time() -> float:
    """Return seconds that go on while the process is frozen and, where the system knows one, while it sleeps."""
    return time.clock_gettime(_CLOCK)
