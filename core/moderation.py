"""What moderators may do: their rights are checked here, whatever a platform has shown, and every deed is noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.errors import NotAllowed
from core.forgetting import Forgetting, Forgotten
from core.model import Actor, Deed, Policy, ThreadRef
from core.ports import AuditLog, ConversationStore, PolicyStore

SHOWN_DEEDS = 5


@dataclass(frozen=True, slots=True)
class Standing:
    """How things are in a workspace: its policy, and what moderators did last, newest first."""

    policy: Policy
    deeds: Sequence[Deed]


class Moderation:
    """Carries out moderators' orders. Each raises `NotAllowed` for anybody else, and `StoreUnavailable`."""

    def __init__(
        self,
        policies: PolicyStore,
        audit: AuditLog,
        conversations: ConversationStore,
        forgetting: Forgetting,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._policies = policies
        self._audit = audit
        self._conversations = conversations
        self._forgetting = forgetting
        self._now = now

    async def status(self, actor: Actor) -> Standing:
        """Say how things are; looking is no deed."""
        _check(actor)
        policy = await self._policies.load(actor.home)
        return Standing(policy, await self._audit.recent(actor.home, limit=SHOWN_DEEDS))

    async def answers_in(self, thread: ThreadRef) -> bool:
        """Say whether moderators have anything answered where a thread is, as anybody can find out by asking."""
        return (await self._policies.load(thread.home)).answers_in(thread.channel)

    async def pause(self, actor: Actor) -> bool:
        """Answer nothing in the workspace from now on; say whether that is new."""
        _check(actor)
        policy = await self._policies.load(actor.home)
        if policy.is_paused:
            return False
        await self._note(actor, "pause")
        paused = {"paused_by": actor.person, "paused_at": self._now()}
        await self._policies.save(actor.home, policy.model_copy(update=paused))
        return True

    async def resume(self, actor: Actor) -> bool:
        """Answer again; say whether that is new."""
        _check(actor)
        policy = await self._policies.load(actor.home)
        if not policy.is_paused:
            return False
        await self._note(actor, "resume")
        await self._policies.save(actor.home, policy.model_copy(update={"paused_by": None, "paused_at": None}))
        return True

    async def silence(self, actor: Actor, channel: str, *, on: bool) -> bool:
        """Answer nothing in a channel from now on, or answer there again; say whether that is new."""
        _check(actor)
        policy = await self._policies.load(actor.home)
        if (channel in policy.silent_channels) is on:
            return False
        await self._note(actor, "pause channel" if on else "resume channel", about=channel)
        kept = policy.silent_channels ^ {channel}
        await self._policies.save(actor.home, policy.model_copy(update={"silent_channels": kept}))
        return True

    async def auto_answer(self, actor: Actor, channel: str, *, on: bool) -> bool:
        """Answer new posts of a channel without a mention from now on, or no longer; say whether that is new."""
        _check(actor)
        policy = await self._policies.load(actor.home)
        if (channel in policy.auto_answer) is on:
            return False
        await self._note(actor, f"auto-answer {'on' if on else 'off'}", about=channel)
        others = tuple(other for other in policy.auto_answer if other != channel)
        kept = (*others, channel) if on else others
        await self._policies.save(actor.home, policy.model_copy(update={"auto_answer": kept}))
        return True

    async def forget_thread(self, actor: Actor, thread: ThreadRef) -> bool:
        """Remove one conversation; say whether there was one. A thread of another workspace is nobody's business."""
        _check(actor)
        if thread.home != actor.home:
            raise NotAllowed("That conversation belongs to another workspace.")
        await self._note(actor, "forget thread", about=str(thread))
        return await self._conversations.forget(thread)

    async def forget_person(self, actor: Actor, person_id: str) -> Forgotten:
        """Remove all of somebody in the workspace."""
        _check(actor)
        await self._note(actor, "forget person", about=person_id)
        return await self._forgetting.person(actor.home, person_id)

    async def forget_everything(self, actor: Actor) -> int:
        """Remove every conversation of the workspace; give their number."""
        _check(actor)
        await self._note(actor, "forget everything")
        return await self._forgetting.workspace(actor.home)

    async def _note(self, actor: Actor, did: str, *, about: str = "") -> None:
        """Note the deed before it is done, so that none is done unnoted."""
        await self._audit.record(actor.home, Deed(by=actor.person, did=did, about=about, at=self._now()))


def _check(actor: Actor) -> None:
    if not actor.may_moderate:
        raise NotAllowed("Only moderators may do that. Ask one of them.")
