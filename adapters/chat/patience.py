"""How to go on while a platform cannot be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat


def delays() -> Iterator[float]:
    """Give the seconds to wait before each new try: up to a minute, then a minute each time."""
    return chain((1.0, 2.0, 5.0, 10.0, 30.0), repeat(60.0))


def unnoticed(attempt: int, reason: str) -> None:
    """Take no note of a try that failed."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How to go on after a try that failed: the waits in their order, how one waits, and who is told of it."""

    waits: Callable[[], Iterator[float]] = delays
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    retrying: Callable[[int, str], None] = unnoticed


PATIENCE = Patience()
