"""Things that are costly to make and made at first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Once(Generic[Made]):
    """A thing made at its first use, once, whatever thread asks first; after a failure, the next use tries again."""

    def __init__(self, make: Callable[[], Made]) -> None:
        """Remember how to *make* it."""
        self._make = make
        self._lock = threading.Lock()
        self._made: list[Made] = []

    def get(self) -> Made:
        """Give the thing; threads that ask while it is being made wait for it."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]
