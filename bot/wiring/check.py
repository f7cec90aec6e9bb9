"""One part of the product that `footnote doctor` looks at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """A part to look at: `look` gives a line about it, or raises an error whose sentence says what to do.

    `setting` says where the part is, unless it is in this process.
    """

    name: str
    look: Callable[[], Awaitable[str]]
    setting: str | None = None
