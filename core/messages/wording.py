"""How lists and numbers are put into words, and how a platform shows names and times."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.model import Person

SHOWN_NAMES = 20


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a platform shows a line of the status, with times by each reader's clock; `resume` and `page` are typed."""

    plain: Callable[[str], str]
    moment: Callable[[datetime], str]
    bullet: str
    resume: str
    page: str
    channel: Callable[[str], str] = "<#{}>".format
    person: Callable[[str], str] = "<@{}>".format
    group: Callable[[str], str] = "<@&{}>".format

    def whose(self, person: Person) -> str:
        """Return who did something; of people on a platform only the id is kept, which it shows as a name."""
        return self.plain(person.name) or (self.person(person.id) if person.id else "a moderator")


def listed(names: Sequence[str]) -> str:
    """Name as many as people read."""
    more = [f"{len(names) - SHOWN_NAMES:,} more"] if len(names) > SHOWN_NAMES else []
    return joined([*names[:SHOWN_NAMES], *more])


def moment(at: datetime) -> str:
    """Return a moment with its time zone, the same for all readers."""
    return f"on {at.day} {at:%B} at {at:%H:%M} {at.tzname() or 'UTC'}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def joined(names: Sequence[str]) -> str:
    """Return names as a sentence has them."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def ago(passed: timedelta) -> str:
    """Return roughly how long ago something was."""
    spans = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
    seconds = passed.total_seconds()
    said = next((counted(int(seconds // size), name) for size, name in spans if seconds >= size), "less than a minute")
    return f"{said} ago"


def about(wait: timedelta) -> str:
    """Return how long something takes, as people say it."""
    seconds = max(math.ceil(wait.total_seconds()), 1)
    for least, unit, name in ((172_800, 86_400, "day"), (5_400, 3_600, "hour"), (90, 60, "minute")):
        if seconds >= least:
            return f"about {counted(round(seconds / unit), name)}"
    return f"about {counted(seconds, 'second')}"
