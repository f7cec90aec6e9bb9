"""One part of the product that `footnote doctor` looks at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


class Advice(str):
    """A line about something that works, and that somebody should see to."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A part to look at: `look` gives a line about it, or raises an error whose sentence says what to do.

    `setting` says where the part is, unless it is in this process. Where the part that it *needs* is missing, nothing
    is said of this one.
    """

    name: str
    look: Callable[[], Awaitable[str]]
    setting: str | None = None
    needs: str | None = None
