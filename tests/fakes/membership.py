"""Who belongs to a community, in memory."""

from __future__ import annotations

from collections.abc import Collection

from core.errors import PeopleUnavailable
from core.model import Asker, Readership, WorkspaceRef


class MemoryMembership:
    """Knows the guests by their ids, and the *members* of communities.

    Set `fails` to make every call raise `PeopleUnavailable`, as if the platform were away, and `is_unsure` to have
    nobody know whether guests read along, or outside of all communities, whether somebody is a member of more.
    """

    def __init__(self, guests: Collection[str] = (), members: Collection[tuple[WorkspaceRef, str]] = ()) -> None:
        self.fails = self.is_unsure = False
        self._guests = frozenset(guests)
        self._members = frozenset(members)

    async def readership(self, asker: Asker, among: Collection[WorkspaceRef]) -> Readership:
        """Look among the guests; everybody else is a member where they ask, or of some outside of all."""
        if self.fails:
            raise PeopleUnavailable("Nobody says who asks. Try again in a moment.")
        there = frozenset(asker.home.communities)
        known = frozenset(each for each in among if (each, asker.person_id) in self._members)
        has_strangers = (self.is_unsure and bool(there)) or asker.person_id in self._guests
        return Readership(communities=there or known, has_strangers=has_strangers, is_unsure=self.is_unsure)
