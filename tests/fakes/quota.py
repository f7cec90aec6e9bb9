"""A quota in memory."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from core.errors import StoreUnavailable
from core.model import Question

Limit = tuple[int, float]


class MemoryQuota:
    """Counts questions by person and by thread; each limit is a number of questions and the seconds it is for.

    Set `fails` to make every call raise `StoreUnavailable`, as if the server were gone.
    """

    def __init__(self, *, per_person: Limit, per_thread: Limit, now: Callable[[], datetime]) -> None:
        self.fails = False
        self._limits = (per_person, per_thread)
        self._now = now
        self._spent: dict[str, dict[str, datetime]] = {}

    async def spend(self, question: Question) -> float:
        """Count a question in both windows, or in neither."""
        self._check()
        asked = f"{question.message} {question.revision}"
        person = f"person {question.message.thread.home} {question.author.id}"
        windows = [
            (self._spent.setdefault(key, {}), *limit)
            for key, limit in zip((person, f"thread {question.message.thread}"), self._limits, strict=True)
        ]
        waits = [self._wait(*each) for each in windows]
        if any(asked in spent for spent, _, _ in windows):
            return 0.0
        if wait := max(waits):
            return wait
        for spent, _, _ in windows:
            spent[asked] = self._now()
        return 0.0

    def _wait(self, spent: dict[str, datetime], count: int, seconds: float) -> float:
        """Forget what is long ago; give the seconds until there is room for one more."""
        window = timedelta(seconds=seconds)
        for asked, at in list(spent.items()):
            if at <= self._now() - window:
                del spent[asked]
        if len(spent) < count:
            return 0.0
        oldest = sorted(spent.values())[-count]
        return (oldest + window - self._now()).total_seconds()

    def _check(self) -> None:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
