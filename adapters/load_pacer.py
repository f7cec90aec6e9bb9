"""How long to rest between two steps of one thing, when many others want their turn."""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager


class LoadPacer:
    """So many seconds *for_each* that is counted at the time, and never more than the *longest*."""

    def __init__(self, for_each: float = 0.0, longest: float = math.inf) -> None:
        self._for_each = for_each
        self._longest = longest
        self._counted = 0

    @property
    def seconds(self) -> float:
        """The rest as it is now."""
        return min(self._counted * self._for_each, self._longest)

    def begin(self) -> None:
        """Count one more."""
        self._counted += 1

    def end(self) -> None:
        """Count one less."""
        self._counted -= 1

    @contextmanager
    def counted(self) -> Generator[None]:
        """Count one more while the block runs."""
        self.begin()
        try:
            yield
        finally:
            self.end()
