"""Remembers for some minutes what was noted, in the memory of the process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

MINUTES = timedelta(minutes=5)  # within which people change what is wrong, so that it is worth another try


class Recent:
    """Names that were noted not long ago."""

    def __init__(self, now: Callable[[], datetime], lasting: timedelta = MINUTES) -> None:
        self._now = now
        self._lasting = lasting
        self._until: dict[str, datetime] = {}

    def add(self, name: str) -> bool:
        """Note a name; say whether it is a new one. One that is known lasts no longer for it."""
        now = self._now()
        self._until = {known: until for known, until in self._until.items() if until > now}
        is_new = name not in self._until
        self._until.setdefault(name, now + self._lasting)
        return is_new

    def __contains__(self, name: str) -> bool:
        """Say whether a name was noted not long ago."""
        until = self._until.get(name)
        return until is not None and until > self._now()
