"""Threads that the server has given to this process, until somebody here has taken them."""

from __future__ import annotations

from collections import deque
from collections.abc import Set as AbstractSet
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Given:
    """A thread that has something to do, by its entry; *is_over* says whether its worker is gone."""

    entry: str
    thread: str
    is_over: bool = False


class Supply:
    """What was given, first come first served."""

    def __init__(self) -> None:
        self._waiting = deque[Given]()
        self._taking = set[str]()

    def __bool__(self) -> bool:
        """Whether anything waits for somebody to take it."""
        return bool(self._waiting)

    @property
    def entries(self) -> AbstractSet[str]:
        """Those that are ours at the server although nobody works on them yet."""
        return {each.entry for each in self._waiting} | self._taking

    def add(self, given: Given) -> None:
        """Let something wait."""
        self._waiting.append(given)

    def next(self) -> Given | None:
        """Return what somebody is to take now, who says when that is `over`; None if nothing waits."""
        if not self._waiting:
            return None
        given = self._waiting.popleft()
        self._taking.add(given.entry)
        return given

    def over(self, given: Given) -> None:
        """Take note that it was taken, or could not be."""
        self._taking.discard(given.entry)

    def clear(self) -> None:
        """Know of nothing any more that waits."""
        self._waiting.clear()
