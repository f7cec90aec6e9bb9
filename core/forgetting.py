"""Removing what is kept of people."""

from __future__ import annotations

from dataclasses import dataclass

from core.model import WorkspaceRef
from core.ports import ConversationStore, PersonalData, PolicyStore, VoteStore


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much was removed of somebody."""

    turns: int = 0
    votes: int = 0


class Forgetting:
    """Knows every place where something of people is kept. Raises `StoreUnavailable`."""

    def __init__(
        self, conversations: ConversationStore, votes: VoteStore, waiting: PersonalData, policies: PolicyStore
    ) -> None:
        self._conversations = conversations
        self._votes = votes
        self._waiting = waiting
        self._policies = policies

    async def person(self, home: WorkspaceRef, person_id: str) -> Forgotten:
        """Remove all of a person in a workspace, beginning with what waits, which would be remembered later."""
        await self._waiting.forget_person(home, person_id)
        turns = await self._conversations.forget_person(home, person_id)
        return Forgotten(turns, await self._votes.forget_person(home, person_id))

    async def workspace(self, home: WorkspaceRef) -> int:
        """Remove all of everybody in a workspace; give the number of conversations. What is set there stays."""
        await self._waiting.forget_workspace(home)
        gone = await self._conversations.forget_workspace(home)
        await self._votes.forget_workspace(home)
        return gone

    async def farewell(self, home: WorkspaceRef) -> int:
        """Leave a workspace for good: remove also what moderators have set, and who set it."""
        gone = await self.workspace(home)
        await self._policies.remove(home)
        return gone
