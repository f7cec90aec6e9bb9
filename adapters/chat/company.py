"""Who is in a thread: who has asked and spoken there, and how people there are called."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from adapters.chat.background import LATEST
from core.community.routing import Company, Decision, Reason
from core.errors import StoreUnavailable
from core.messages import UNHEARD
from core.model import Attendance, Inbound, InboundKind, ThreadRef
from core.ports import ConversationStore, Underway

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices

MOST_THREADS = 1_000  # of which names are known; of more, those are given up that have been quiet for longest
MOST_NAMES = 50  # of a thread
SOMEBODY = ("",)  # who asked, where nobody knows who that was


class Gathering:
    """Knows who is in the threads of one process; the names that people have there are written down nowhere."""

    def __init__(self, services: ChatServices) -> None:
        self._services = services
        self._names: OrderedDict[ThreadRef, set[str]] = OrderedDict()

    async def company(self, inbound: Inbound, *, is_late: bool = False) -> Company | None:
        """Return who is in the thread of a message, with the names of others than its author; None if nobody knows.

        Of one that comes late, after a store was emptied, and where it is known no more who has asked, such as a day
        later, somebody else may have: only what asks counts. One that was heard before, and left to people, stays so.
        """
        found = None
        with suppress(StoreUnavailable):
            found = await self._services.company(inbound.message.thread)
            if is_late and not await self._holds(inbound, "late"):
                return Company(attendance=Attendance(is_muted=True))
        if found is None:
            return Company(askers=SOMEBODY) if is_late else None
        own = inbound.author.name if inbound.author else ""
        names = self._names.get(inbound.message.thread, set[str]()) - {own}
        return Company(found.askers or SOMEBODY, found.attendance, found.answered_at, tuple(names))

    async def leave(self, inbound: Inbound, decision: Decision, reply: Callable[[str], object]) -> None:
        """Leave a message alone, and *reply* how to go on to whoever goes on in a way that the bot may not read.

        That is told once in a thread, to somebody who has been answered there, if nobody else has spoken since. What
        is left to people is noted for as long as it may be read again.
        """
        if decision.reason in (Reason.MUTED, Reason.AMONG_PEOPLE):
            with suppress(StoreUnavailable):
                await self._holds(inbound, "left")
        if decision.reason is not Reason.UNREADABLE or inbound.kind is not InboundKind.WRITTEN:
            return
        found, author = await self.company(inbound), inbound.author.id if inbound.author else ""
        if found is None or found.answered_at is None or author not in found.askers or found.is_talking(author):
            return
        with suppress(StoreUnavailable):
            is_new = await self._services.dedup.changed(f"hinted:{inbound.message.thread}", "once")
            if is_new and not found.attendance.is_muted:
                reply(UNHEARD)

    async def _holds(self, inbound: Inbound, state: str) -> bool:
        """Return whether a message is in no other state, and have it be in this one. Raises `StoreUnavailable`."""
        key = f"left:{inbound.message}:{inbound.revision}"
        return await self._services.dedup.hold(key, state, seconds=LATEST.total_seconds())

    async def hear(self, inbound: Inbound) -> None:
        """Note that somebody has spoken in a thread; without a store, that is lost."""
        if inbound.kind is not InboundKind.WRITTEN or inbound.author is None:
            return
        if inbound.author.name:
            names = self._names.setdefault(inbound.message.thread, set())
            self._names.move_to_end(inbound.message.thread)
            if len(names) < MOST_NAMES:
                names.add(inbound.author.name)
            if len(self._names) > MOST_THREADS:
                self._names.popitem(last=False)
        with suppress(StoreUnavailable):
            await self._services.hear(inbound.message.thread, inbound.author.id, inbound.at or self._services.now())


async def company(conversations: ConversationStore, inbox: Underway, thread: ThreadRef) -> Company | None:
    """Return who asked, waits for an answer or spoke in a thread; None if nobody did. Raises `StoreUnavailable`."""
    turns, waiting = (await conversations.load(thread)).turns, await inbox.running(thread)
    attendance = await conversations.attendance(thread)
    asked = {*(turn.author_id for turn in turns), *([waiting.author.id] if waiting else ())}
    if not asked and attendance == Attendance():
        return None
    return Company(asked, attendance, turns[-1].at if turns else None)


async def owns(conversations: ConversationStore, thread: ThreadRef) -> bool:
    """Return whether a thread began with a question that is remembered. Raises `StoreUnavailable`."""
    return any(turn.question_ref.id == thread.thread for turn in (await conversations.load(thread)).turns)
