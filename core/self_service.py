"""What people may do about what is remembered of them, without a moderator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.errors import NotAllowed
from core.model import Actor, Citation, ThreadRef, WorkspaceRef
from core.moderation import Moderation
from core.ports import ConversationStore, VoteStore

NOT_PART_OF_IT = "Only those who asked in this thread, or moderators, can have it forgotten."


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much of a person was removed."""

    turns: int = 0
    votes: int = 0


class PersonalData:
    """Shows people their sources, and forgets what they want forgotten. Raises `StoreUnavailable`."""

    def __init__(self, conversations: ConversationStore, votes: VoteStore, moderation: Moderation) -> None:
        self._conversations = conversations
        self._votes = votes
        self._moderation = moderation

    async def sources(self, thread: ThreadRef) -> Sequence[Citation]:
        """Give the sources of the last answer in a thread that has any."""
        conversation = await self._conversations.load(thread)
        turns = conversation.turns if conversation else ()
        return next((turn.citations for turn in reversed(turns) if turn.citations), ())

    async def forget_thread(self, actor: Actor, thread: ThreadRef) -> bool:
        """Remove a conversation for somebody who asked in it, or for a moderator, whose deed is noted.

        Say whether there was one. Raises `NotAllowed` for anybody else.
        """
        conversation = await self._conversations.load(thread)
        turns = conversation.turns if conversation else ()
        if thread.home == actor.home and any(turn.author_id == actor.person.id for turn in turns):
            return await self._conversations.forget(thread)
        if actor.may_moderate:
            return await self._moderation.forget_thread(actor, thread)
        if turns:
            raise NotAllowed(NOT_PART_OF_IT)
        return False

    async def forget_person(self, homes: Iterable[WorkspaceRef], person_id: str) -> Forgotten:
        """Remove what somebody asked, and the votes, in all of these places; each is named once."""
        turns = votes = 0
        for home in homes:
            turns += await self._conversations.forget_person(home, person_id)
            votes += await self._votes.forget_person(home, person_id)
        return Forgotten(turns, votes)
