"""Who belongs to a community, in memory."""

from __future__ import annotations

from collections.abc import Collection

from core.errors import PeopleUnavailable
from core.model import Question, Readership, WorkspaceRef


class MemoryMembership:
    """Knows the guests by their ids, and in which `homes` people are who ask `nowhere`, such as in direct messages.

    Set `fails` to make every call raise `PeopleUnavailable`, as if the platform were away.
    """

    def __init__(self, guests: Collection[str] = ()) -> None:
        self.fails = False
        self.homes: dict[str, frozenset[WorkspaceRef]] = {}
        self.nowhere: frozenset[WorkspaceRef] = frozenset()
        self._guests = frozenset(guests)

    async def readership(self, question: Question, among: Collection[WorkspaceRef]) -> Readership:
        """Look among the guests; in a community, everybody else belongs to that, and elsewhere to those in `homes`."""
        if self.fails:
            raise PeopleUnavailable("Nobody says who asks. Try again in a moment.")
        home = question.message.thread.home
        found = self.homes.get(question.author.id, frozenset()).intersection(among) if home in self.nowhere else [home]
        return Readership(communities=frozenset(found), has_strangers=question.author.id in self._guests)
