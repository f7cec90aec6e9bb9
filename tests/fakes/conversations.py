"""A conversation store in memory that passes the contract of the real one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from core.errors import StoreUnavailable
from core.model import Conversation, MessageRef, ThreadRef, Turn, WorkspaceRef


class MemoryConversations:
    """Remembers conversations until their time is over by the clock *now*.

    Set `fails` to make every call raise `StoreUnavailable`, as if the server were gone; what was stored stays.
    """

    def __init__(self, *, ttl: timedelta, now: Callable[[], datetime]) -> None:
        self.fails = False
        self._ttl = ttl
        self._now = now
        self._turns: dict[str, dict[str, Turn]] = {}  # by the string form of thread and question
        self._ends: dict[str, datetime] = {}

    async def load(self, thread: ThreadRef) -> Conversation | None:
        """Give what was said in the thread, if its time is not over."""
        turns = self._current(thread)
        return Conversation(thread=thread, turns=tuple(turns.values())) if turns else None

    async def append(self, thread: ThreadRef, turn: Turn) -> None:
        """Add or replace a turn and restart the clock."""
        self._turns[str(thread)] = {**self._current(thread), str(turn.question_ref): turn}
        self._ends[str(thread)] = self._now() + self._ttl

    async def remove(self, question_ref: MessageRef) -> bool:
        """Take one turn out."""
        return self._current(question_ref.thread).pop(str(question_ref), None) is not None

    async def forget(self, thread: ThreadRef) -> bool:
        """Remove the whole thread."""
        was_there = bool(self._current(thread))
        self._turns.pop(str(thread), None)
        return was_there

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove a person's turns."""
        gone = [
            (thread, ref)
            for thread in self._at_home(home)
            for ref, turn in self._current(thread).items()
            if turn.author_id == person_id
        ]
        for thread, ref in gone:
            del self._turns[str(thread)][ref]
        return len(gone)

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Remove all threads of a workspace."""
        return sum([await self.forget(thread) for thread in self._at_home(home)])

    def _at_home(self, home: WorkspaceRef) -> list[ThreadRef]:
        return [thread for key in self._turns if (thread := ThreadRef.parse(key)).home == home]

    def _current(self, thread: ThreadRef) -> dict[str, Turn]:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
        key = str(thread)
        if key in self._turns and self._ends[key] <= self._now():
            del self._turns[key]
        return self._turns.get(key, {})
