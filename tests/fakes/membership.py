"""Who belongs to a community, in memory."""

from __future__ import annotations

from collections.abc import Collection

from core.errors import PeopleUnavailable
from core.model import Question


class MemoryMembership:
    """Knows the guests by their ids.

    Set `fails` to make every call raise `PeopleUnavailable`, as if the platform were away.
    """

    def __init__(self, guests: Collection[str] = ()) -> None:
        self.fails = False
        self._guests = frozenset(guests)

    async def is_guest(self, question: Question) -> bool:
        """Look among the guests."""
        if self.fails:
            raise PeopleUnavailable("Nobody says who asks. Try again in a moment.")
        return question.author.id in self._guests
