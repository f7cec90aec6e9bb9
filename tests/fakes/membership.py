"""Who belongs to a community, in memory."""

from __future__ import annotations

from collections.abc import Collection

from core.errors import PeopleUnavailable
from core.model import Question, Readership, WorkspaceRef


class MemoryMembership:
    """Knows the guests by their ids.

    Set `fails` to make every call raise `PeopleUnavailable`, as if the platform were away.
    """

    def __init__(self, guests: Collection[str] = ()) -> None:
        self.fails = False
        self._guests = frozenset(guests)

    async def readership(self, question: Question, among: Collection[WorkspaceRef]) -> Readership:
        """Look among the guests; everybody else is a member where they ask, and nowhere else."""
        if self.fails:
            raise PeopleUnavailable("Nobody says who asks. Try again in a moment.")
        if question.author.id in self._guests:
            return Readership(has_strangers=True)
        return Readership(communities=frozenset(question.message.thread.home.communities))
