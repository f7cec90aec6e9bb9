"""An event loop whose time passes at once: all waiting is over as soon as everything is done that can be done."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class _Leaping(selectors.DefaultSelector):
    """Waits for nothing, and keeps account of what it should have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Look once."""
        self.passed += max(timeout or 0.0, 0.0)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._leaping = _Leaping()
        super().__init__(self._leaping)

    def time(self) -> float:
        """Tell the time that would have passed."""
        return self._leaping.passed


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run what waits for timers only; a network would never be waited for."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work)
