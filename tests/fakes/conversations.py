"""A conversation store in memory that passes the contract of the real one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from core.errors import StoreUnavailable
from core.model import AnyPlace, Attendance, Conversation, MessageRef, ThreadRef, Turn, WorkspaceRef


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
        self._attended: dict[str, tuple[Attendance, datetime]] = {}  # with its end

    async def load(self, thread: ThreadRef) -> Conversation:
        """Give what was said in the thread, if its time is not over."""
        return Conversation(thread=thread, turns=tuple(self._current(thread).values()))

    async def around(self, message: MessageRef) -> Conversation:
        """Look in all that is remembered, and in its thread."""
        for found in [await self.load(ThreadRef.parse(key)) for key in list(self._turns)]:
            if any(message in part.names for turn in found.turns for part in turn.messages):
                return found
        return await self.load(message.thread)

    async def threads(self) -> Sequence[ThreadRef]:
        """Look at them all."""
        return [thread for thread in map(ThreadRef.parse, list(self._turns)) if self._current(thread)]

    async def append(self, thread: ThreadRef, turn: Turn) -> None:
        """Add or replace a turn and restart the clock."""
        self._turns[str(thread)] = {**self._current(thread), str(turn.question_ref): turn}
        self._ends[str(thread)] = self._now() + self._ttl

    async def remove(self, question_ref: MessageRef) -> bool:
        """Take one turn out."""
        return self._current(question_ref.thread).pop(str(question_ref), None) is not None

    async def attendance(self, thread: ThreadRef) -> Attendance:
        """Give it, if its time is not over."""
        self._current(thread)
        attendance, end = self._attended.get(str(thread), (Attendance(), self._now()))
        return attendance if end > self._now() else Attendance()

    async def hear(self, thread: ThreadRef, person_id: str, at: datetime) -> None:
        """Note the time."""
        before = await self.attendance(thread)
        spoke = {**before.spoke, person_id: at}
        self._attended[str(thread)] = before.model_copy(update={"spoke": spoke}), self._now() + self._ttl

    async def mute(self, thread: ThreadRef, *, on: bool) -> bool:
        """Note it."""
        before = await self.attendance(thread)
        self._attended[str(thread)] = before.model_copy(update={"is_muted": on}), self._now() + self._ttl
        return before.is_muted != on

    async def forget(self, place: AnyPlace) -> int:
        """Remove the threads of a place."""
        self._attended = {key: each for key, each in self._attended.items() if not f"{key}:".startswith(f"{place}:")}
        there = [thread for thread in self._in(place) if self._current(thread)]
        for thread in there:
            del self._turns[str(thread)]
        return len(there)

    async def forget_turns(
        self, place: AnyPlace, person_id: str | None, *, before: datetime | None = None
    ) -> Sequence[MessageRef]:
        """Remove a person's turns."""
        for key, (known, end) in self._attended.items():
            if f"{key}:".startswith(f"{place}:"):
                spoke = {each: at for each, at in known.spoke.items() if each != person_id}
                self._attended[key] = known.model_copy(update={"spoke": spoke}), end
        turns = [turn for thread in self._in(place) for turn in self._current(thread).values()]
        gone = [turn.question_ref for turn in turns if turn.is_by(person_id, before)]
        for ref in gone:
            await self.remove(ref)
        return gone

    async def unquote(self, place: AnyPlace, person_id: str) -> Sequence[MessageRef]:
        """Leave of each turn that may hold quoted words of a person what is alone."""
        found = list[MessageRef]()
        for thread in self._in(place):
            turns = self._current(thread)
            for key, turn in turns.items():
                if turn.quotes(person_id):
                    turns[key] = turn.alone
                    found.append(turn.question_ref)
        return found

    async def count_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Count a person's turns."""
        turns = [turn for thread in self._in(home) for turn in self._current(thread).values()]
        return sum(turn.author_id == person_id for turn in turns)

    def _in(self, place: AnyPlace) -> list[ThreadRef]:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
        return [ThreadRef.parse(key) for key in self._turns if f"{key}:".startswith(f"{place}:")]

    def _current(self, thread: ThreadRef) -> dict[str, Turn]:
        if self.fails:
            raise StoreUnavailable("The data store cannot be reached. Try again in a moment.")
        key = str(thread)
        if key in self._turns and self._ends[key] <= self._now():
            del self._turns[key]
        return self._turns.get(key, {})
