"""What people may do about what is remembered of them, without a moderator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.errors import NotAllowed
from core.forgetting import Forgetting, Forgotten
from core.model import Actor, Citation, ThreadRef, WorkspaceRef
from core.moderation import Moderation
from core.ports import ConversationStore

NOT_PART_OF_IT = "Only those who asked in this thread, or moderators, can have it forgotten."


class SelfHelp:
    """Shows people their sources, and forgets what they want forgotten. Raises `StoreUnavailable`."""

    def __init__(self, conversations: ConversationStore, forgetting: Forgetting, moderation: Moderation) -> None:
        self._conversations = conversations
        self._forgetting = forgetting
        self._moderation = moderation

    async def sources(self, thread: ThreadRef) -> Sequence[Citation]:
        """Return the sources of the last answer in a thread that has any."""
        conversation = await self._conversations.load(thread)
        turns = conversation.turns if conversation else ()
        return next((turn.citations for turn in reversed(turns) if turn.citations), ())

    async def forget_thread(self, actor: Actor, thread: ThreadRef) -> bool:
        """Remove a conversation for somebody who asked in it, or for a moderator, whose order is noted.

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
        """Remove all of somebody in these places, each named once."""
        gone = [await self._forgetting.person(home, person_id) for home in homes]
        return Forgotten(sum(each.turns for each in gone), sum(each.votes for each in gone))
