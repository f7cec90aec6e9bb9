"""Votes in memory."""

from __future__ import annotations

from core.errors import StoreUnavailable
from core.model import Tally, Vote, WorkspaceRef


class MemoryVotes:
    """Keeps votes by workspace, answer and person, and for ever.

    Set `fails` to make every call raise `StoreUnavailable`, as if the server were gone.
    """

    def __init__(self) -> None:
        self.fails = False
        self._votes: dict[tuple[str, str, str], Vote] = {}

    async def cast(self, home: WorkspaceRef, vote: Vote) -> None:
        """Keep the vote, or replace it."""
        self._check()
        self._votes[str(home), vote.answer_id, vote.person_id] = vote

    async def count(self, home: WorkspaceRef) -> Tally:
        """Count both kinds."""
        self._check()
        votes = self.of(home)
        helpful = sum(vote.is_helpful for vote in votes)
        return Tally(helpful=helpful, unhelpful=len(votes) - helpful)

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove what a person has thought."""
        self._check()
        gone = [key for key in self._votes if (key[0], key[2]) == (str(home), person_id)]
        for key in gone:
            del self._votes[key]
        return len(gone)

    async def count_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Count what a person has thought."""
        self._check()
        return sum(vote.person_id == person_id for vote in self.of(home))

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Remove what everybody has thought."""
        self._check()
        gone = [key for key in self._votes if key[0] == str(home)]
        for key in gone:
            del self._votes[key]
        return len(gone)

    def of(self, home: WorkspaceRef) -> tuple[Vote, ...]:
        """Give the votes of a workspace, for a test to look at."""
        return tuple(vote for key, vote in self._votes.items() if key[0] == str(home))

    def _check(self) -> None:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
