"""What has to be remembered: conversations, questions on their way, and what was done or has to be."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Protocol

from core.model import (
    AnyPlace,
    Asked,
    Attendance,
    Backlog,
    ChannelRef,
    Claim,
    Conversation,
    DeadLetter,
    Delivery,
    Kept,
    MessageRef,
    Question,
    Signal,
    Stage,
    Task,
    ThreadRef,
    Turn,
    WaitNotice,
    Withdrawal,
    WorkspaceRef,
)


class ConversationStore(Protocol):
    """Remembers conversations for a time; each append restarts the clock. Raises `StoreUnavailable`."""

    async def load(self, thread: ThreadRef) -> Conversation:
        """Return the conversation; without turns if there is none, if it has expired or cannot be read any more."""
        ...

    async def around(self, message: MessageRef) -> Conversation:
        """Return the conversation of a message, by any of its names; an answer may stand outside of its thread."""
        ...

    async def threads(self) -> Sequence[ThreadRef]:
        """Return all threads that are remembered, of every platform; it may take long."""
        ...

    async def append(self, thread: ThreadRef, turn: Turn) -> None:
        """Add a turn; one with the same `question_ref` is kept once, where it stood, with the newer text."""
        ...

    async def remove(self, question_ref: MessageRef) -> bool:
        """Take one turn out; return whether it was there."""
        ...

    async def attendance(self, thread: ThreadRef) -> Attendance:
        """Return who has spoken in a thread, and whether it is muted."""
        ...

    async def hear(self, thread: ThreadRef, person_id: str, at: datetime) -> None:
        """Note that a person has spoken in a thread, which restarts the clock of all that is noted of it so."""
        ...

    async def mute(self, thread: ThreadRef, *, on: bool) -> bool:
        """Note that a thread is muted, or no longer; return whether that is new. It restarts that clock as well."""
        ...

    async def forget(self, place: AnyPlace) -> int:
        """Remove every conversation of a place, with what is noted of its threads; return their number."""
        ...

    async def forget_turns(
        self, place: AnyPlace, person_id: str | None, *, before: datetime | None = None
    ) -> Sequence[MessageRef]:
        """Remove every turn that a person, or anybody, has asked for in a place; return the questions of those.

        That the person has spoken is forgotten too. Of a time *before* which they asked, the rest stays.
        """
        ...

    async def unquote(self, place: AnyPlace, person_id: str) -> Sequence[MessageRef]:
        """Leave of every turn in a place that may hold quoted words of a person what is `alone`.

        Return the questions of those.
        """
        ...

    async def count_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Return how many turns are remembered that a person has asked for in a workspace; it may take long."""
        ...


class Inbox(Protocol):
    """Holds questions until they are answered: one at a time of each thread, in order. Raises `StoreUnavailable`."""

    async def put(self, signal: Signal) -> bool | None:
        """Take a signal; False if it changes nothing, as it was seen before or is about nothing that is known.

        None if it is a question that is not known and was asked before all this is kept, by its `age`: it was not
        taken, as it may have been answered; put it again with the `delivery` that stands there. A question is known by
        its message and revision, so putting it again is harmless. An edit or a deletion that comes before its question,
        since two processes raced, is remembered for a while.
        """
        ...

    def claim(self) -> AbstractAsyncContextManager[Task]:
        """Wait for the next task, and hold its thread.

        Leaving normally settles the task. Raising returns it, to be given out again after a delay, or to be laid aside
        as dead after the last attempt; being cancelled returns it at once and counts for nothing, as does `ShutOut`
        after a delay, and `PeopleUnavailable` after its `wait`, where it has one, though that time counts. What happens
        to the question meanwhile is told by `cancelled`.
        """
        ...

    def withdrawal(self, claim: Claim) -> Withdrawal:
        """Return what is to be taken back of a claim whose question was deleted, and hold that from now on.

        So a store that loses the question meanwhile gets it back from whoever is at it.
        """
        ...

    async def keep(self, task: Task) -> bool:
        """Keep the words of a task that is held for a while longer than usual, so that `AskedAgain` can find them.

        They are kept without the messages that are quoted to them: others wrote those, and did not ask. False if the
        task is no longer ours.
        """
        ...

    async def knows(self, message: MessageRef) -> bool:
        """Return whether a message was put as a question; what only became of it before it came does not count."""
        ...

    async def kept_for(self) -> Kept:
        """Return for how long questions are remembered: what was asked before may have been answered all the same."""
        ...

    async def waiting(self) -> int:
        """Count the questions that wait for their turn, those that wait for another attempt among them."""
        ...


class Accepting(Protocol):
    """The part of an inbox that takes questions before anybody knows where they belong. Raises `StoreUnavailable`.

    What is accepted counts as waiting and is known; it is forgotten after 90 minutes. `Deleted` withdraws it.
    """

    accepted_for: float
    """For how many seconds one process has it to itself, from accepting it or taking it over on."""

    async def accept(self, asked: Asked, *, within: float) -> bool:
        """Keep a question, sealed, under the id of the command that asked it; False if it was accepted before.

        It is tried for *within* seconds. Where it is not known at their end whether it is kept, it may be; but what was
        not kept within these never will be.
        """
        ...

    async def overdue(self, platform: str) -> Asked | None:
        """Take over a question that whoever accepted it has not moved in time; None if there is none."""
        ...

    async def untold(self, platform: str) -> Sequence[Asked]:
        """Return what waits or is being answered and no platform tells of again.

        That was asked by a command or in a direct message in no community, or is tried again.
        """
        ...

    async def move(self, accepted: MessageRef, asked: Asked) -> bool:
        """Put what was *accepted* at the end of its thread, under its own message, in one step.

        False if it was moved or withdrawn before. What the store has lost meanwhile is put all the same, since whoever
        moves it in time knows it.
        """
        ...

    async def stages(self, messages: Sequence[MessageRef]) -> Sequence[Stage]:
        """Return how far each has come; what was deleted is over."""
        ...


class Underway(Protocol):
    """Knows which questions are being answered. Raises `StoreUnavailable`."""

    async def running(self, thread: ThreadRef) -> Question | None:
        """Return the question of a thread that is being answered, or comes next; None if nobody waits for an answer."""
        ...


class WaitingWords(Protocol):
    """What people wrote that is not answered, or could not be. Raises `StoreUnavailable`."""

    async def forget(self, place: AnyPlace, person_id: str | None = None, *, before: datetime | None = None) -> int:
        """Remove the words of every question of a person, or of anybody, in a place; return how many had any.

        A question without words of its own, which are those that it forwards, is of whoever wrote them too. What was
        not asked *before* a time stays.
        What waits or is being answered is treated as deleted, and nothing else can be tried again. A question of
        somebody else to which words of that person are quoted goes on without any that are quoted, begun anew.
        """
        ...

    async def count_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Return of how many questions of a person in a workspace the words are kept; it may take long."""
        ...

    async def begin_anew(self, threads: Collection[ThreadRef]) -> None:
        """Have what is being answered in these threads answered anew, as what is remembered there is no longer so."""
        ...


class Deliveries(Protocol):
    """Remembers which of the platform's messages belong to a question. Raises `StoreUnavailable`."""

    async def record(self, task: Task, delivery: Delivery) -> bool:
        """Replace what was recorded with *delivery*; return False if the task is no longer ours."""
        ...

    async def delivered(self, message: MessageRef) -> Delivery:
        """Return what was recorded for a question; nothing where none is known."""
        ...

    async def has_gone(self, messages: Sequence[MessageRef]) -> bool:
        """Return whether the inbox was told in the last minutes that one of these messages was deleted."""
        ...

    async def holds(self, task: Task) -> bool:
        """Return whether the task is still ours, to be asked before every call to the platform that changes something.

        Without a way to the server this is known for as long as nobody else can have taken the task.
        """
        ...


class DeadLetters(Protocol):
    """Questions that were given up, for whoever runs the bot. Raises `StoreUnavailable`."""

    async def dead(self, *, limit: int) -> Sequence[DeadLetter]:
        """Return at most *limit* of them, newest first."""
        ...

    async def dead_letter(self, message: MessageRef) -> DeadLetter | None:
        """Return one of them, with the question if its words are kept; None if it is not among them."""
        ...

    async def revive(self, message: MessageRef) -> bool:
        """Have a question tried again, as if it had never failed; False if it is not there, or its words are gone."""
        ...

    async def drop(self, message: MessageRef) -> bool:
        """Remove a question with its words; False if it is not there."""
        ...


class Backlogged(Protocol):
    """Knows how much there is to do. Raises `StoreUnavailable`."""

    async def backlog(self) -> Backlog:
        """Count what waits, what is worked on and what was given up, for all processes."""
        ...


class WaitingRoom(Backlogged, Underway, Protocol):
    """Knows who waits, and what they are told meanwhile. Raises `StoreUnavailable`."""

    async def waiting(self) -> int:
        """Count what waits, for all processes."""
        ...

    async def stages(self, messages: Sequence[MessageRef]) -> Sequence[Stage]:
        """Return how far each has come; what was deleted is over."""
        ...

    async def announce(self, message: MessageRef, notice: WaitNotice) -> bool:
        """Add *notice* to the delivery of a question that nobody is at; False where it has another notice."""
        ...


class Dedup(Protocol):
    """Remembers for a time what was said or done last, so that it is not repeated. Raises `StoreUnavailable`."""

    async def changed(self, key: str, value: str, *, person: str = "") -> bool:
        """Note *value* under *key*; return whether there was none or another. Of several at once, one hears yes.

        A *person* whom it is about is named in the note by a pseudonym alone.
        """
        ...

    async def forget(self, key: str) -> None:
        """Take a note back, as what it speaks of could not be done after all; or let go of a key that is held."""
        ...

    async def hold(self, key: str, holder: str, *, seconds: float) -> bool:
        """Have *key* for so many seconds from now on; False, and no change, while another *holder* has it."""
        ...


class Removals(Protocol):
    """Messages of the bot's that are to be removed at a time. Raises `StoreUnavailable`."""

    async def add(self, message: MessageRef, at: datetime) -> None:
        """Note that a message is to be removed at a time; the same one is kept once."""
        ...

    async def due(self, platform: str, now: datetime, *, limit: int) -> Sequence[MessageRef]:
        """Return at most *limit* messages whose time has come by *now*, the earliest first.

        They are given out once more after a minute, as whoever has them may die, until they are `done`.
        """
        ...

    async def done(self, message: MessageRef) -> None:
        """Forget a message; one that is not noted is no error."""
        ...


class ChannelCursor(Protocol):
    """Remembers for a time when each channel was heard last, so that what was missed can be found.

    Raises `StoreUnavailable`.
    """

    async def note(self, channel: ChannelRef, at: datetime) -> None:
        """Note that something was heard; what is older than what is noted changes nothing."""
        ...

    async def channels(self, platform: str, *, limit: int) -> Sequence[tuple[ChannelRef, datetime]]:
        """Return at most *limit* channels, each with when it was heard last, the latest first."""
        ...

    async def forget_workspace(self, home: WorkspaceRef) -> None:
        """Remove every note of a workspace."""
        ...


class Vault(Protocol):
    """Keeps secrets that others gave us, such as the token of an installation. Raises `StoreUnavailable`."""

    async def load(self, key: str) -> str | None:
        """Return the text under *key*; None if there is none, if it has expired or cannot be read any more."""
        ...

    async def keys(self, beginning: str) -> Sequence[str]:
        """Return the keys that begin so, in their order; it looks at all that is stored, and may take long."""
        ...

    async def save(self, key: str, text: str, ttl: timedelta | None = None) -> None:
        """Replace what was there with *text*, for a time or until it is removed."""
        ...

    async def remove(self, key: str) -> None:
        """Remove what is there; nothing is no error."""
        ...
