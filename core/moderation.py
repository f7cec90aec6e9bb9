"""What moderators may do: their rights are checked here, whatever a platform has shown, and every order is noted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.errors import NotAllowed, PolicyUnreadable
from core.forgetting import Forgetting, Forgotten
from core.model import Actor, Applied, AuditEntry, ModerationOrder, OrderKind, Policy, ThreadRef
from core.ports import ConversationStore, PolicyStore
from core.sentences import UNREADABLE

PAGE = 10  # entries of the log that are shown at once


@dataclass(frozen=True, slots=True)
class ModerationStatus:
    """How things are in a workspace: its policy, and a page of what moderators did, newest first."""

    policy: Policy
    entries: Sequence[AuditEntry] = ()
    has_older: bool = False


class Moderation:
    """Carries out moderators' orders. Each raises `NotAllowed` for anybody else, and `StoreUnavailable`."""

    def __init__(
        self,
        policies: PolicyStore,
        conversations: ConversationStore,
        forgetting: Forgetting,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._policies = policies
        self._conversations = conversations
        self._forgetting = forgetting
        self._now = now

    async def status(self, actor: Actor, *, page: int = 1) -> ModerationStatus:
        """Return how things are, with the first or a later page of the log. Looking is not noted."""
        _check(actor)
        policy = await self._policies.load(actor.home)
        entries = await self._policies.recent(actor.home, limit=PAGE + 1, skip=(max(page, 1) - 1) * PAGE)
        return ModerationStatus(policy, entries[:PAGE], has_older=len(entries) > PAGE)

    async def answers_in(self, thread: ThreadRef) -> bool:
        """Return whether moderators have anything answered where a thread is, as anybody can find out by asking."""
        return (await self._policies.load(thread.home)).answers_in(thread.channel)

    async def pause(self, actor: Actor) -> bool:
        """Answer nothing in the workspace from now on; return whether that is new. Raises `PolicyUnreadable`."""
        return (await self._apply(actor, OrderKind.PAUSE)).is_new

    async def resume(self, actor: Actor) -> Applied:
        """Answer again, also where the policy could not be read; return what was set before."""
        return await self._apply(actor, OrderKind.RESUME)

    async def silence(self, actor: Actor, channel: str, *, on: bool) -> bool:
        """Answer nothing in a channel from now on, or answer there again; return whether that is new.

        Raises `PolicyUnreadable`.
        """
        kind = OrderKind.PAUSE_CHANNEL if on else OrderKind.RESUME_CHANNEL
        return (await self._apply(actor, kind, channel)).is_new

    async def auto_answer(self, actor: Actor, channel: str, *, on: bool) -> bool:
        """Answer new posts of a channel without a mention from now on, or no longer; return whether that is new.

        Raises `PolicyUnreadable`.
        """
        kind = OrderKind.AUTO_ANSWER_ON if on else OrderKind.AUTO_ANSWER_OFF
        return (await self._apply(actor, kind, channel)).is_new

    async def forget_thread(self, actor: Actor, thread: ThreadRef) -> bool:
        """Remove one conversation; return whether there was one. Raises `NotAllowed` for one of another workspace."""
        _check(actor)
        if thread.home != actor.home:
            raise NotAllowed("That conversation belongs to another workspace.")
        await self._apply(actor, OrderKind.FORGET_THREAD, str(thread))
        return await self._conversations.forget(thread)

    async def forget_person(self, actor: Actor, person_id: str) -> Forgotten:
        """Remove all of somebody in the workspace."""
        await self._apply(actor, OrderKind.FORGET_PERSON, person_id)
        return await self._forgetting.person(actor.home, person_id)

    async def forget_everything(self, actor: Actor) -> int:
        """Remove every conversation of the workspace; return their number."""
        await self._apply(actor, OrderKind.FORGET_EVERYTHING)
        return await self._forgetting.workspace(actor.home)

    async def _apply(self, actor: Actor, kind: OrderKind, about: str = "") -> Applied:
        """Carry out an order in the store. One to forget is noted there before it is done, so that none is unnoted."""
        _check(actor)
        order = ModerationOrder(kind, about)
        applied = await self._policies.apply(actor.home, order, by=actor.person, at=self._now())
        if applied.before.is_closed and not applied.is_new:
            raise PolicyUnreadable(UNREADABLE)
        return applied


def _check(actor: Actor) -> None:
    if not actor.may_moderate:
        raise NotAllowed("Only moderators may do that. Ask one of them.")
