"""Removing what is kept of people."""

from __future__ import annotations

from dataclasses import dataclass

from core.model import WorkspaceRef
from core.ports import ConversationStore, PersonalData, VoteStore


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much was removed of somebody."""

    turns: int = 0
    votes: int = 0


class Forgetting:
    """Knows every place where something of people is kept. Raises `StoreUnavailable`."""

    def __init__(self, conversations: ConversationStore, votes: VoteStore, waiting: PersonalData) -> None:
        self._conversations = conversations
        self._votes = votes
        self._waiting = waiting

    async def person(self, home: WorkspaceRef, person_id: str) -> Forgotten:
        """Remove all of a person in a workspace, beginning with what waits, which would be remembered later."""
        await self._waiting.forget_person(home, person_id)
        turns = await self._conversations.forget_person(home, person_id)
        return Forgotten(turns, await self._votes.forget_person(home, person_id))

    async def workspace(self, home: WorkspaceRef) -> int:
        """Remove every conversation of a workspace; give their number."""
        return await self._conversations.forget_workspace(home)
