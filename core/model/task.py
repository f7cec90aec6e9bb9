"""What goes into the inbox, what a worker holds while it answers or takes back, and what ends that early."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum, IntEnum
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

from pydantic import AwareDatetime, Field

from core.model.answer import Answer, Waiting
from core.model.question import Question, Reaction
from core.model.refs import Interaction, MessageRef, Person, ReplyAddress, ThreadRef, Value


class WaitNotice(Value):
    """Words that stand below a question until its answer does, of which the thread may be another than the question's.

    `id` is the message's, empty as long as nobody knows whether it was posted; then it is found by its `nonce`. The id
    of the question says that they stand in the place of the answer, which replaces them.
    """

    thread: ThreadRef
    nonce: str
    id: str = ""


class Delivery(Value):
    """The platform's messages that carry an answer, in order.

    `leaving` are those that we remove ourselves: that they are gone is no wish of a reader's. `trying` is when another
    one began to be posted of which nobody knows what became: it may be there, unknown. `notice` is what stands there
    until the first of them does. `is_marked` says that the question bears a `mark` of ours, as something went wrong.
    `answer` is what they are about to show in full: whoever takes over shows it, and asks no model again. It is stored
    apart from the rest, as it goes sooner.
    """

    messages: tuple[MessageRef, ...] = ()
    leaving: tuple[MessageRef, ...] = ()
    trying: AwareDatetime | None = None
    notice: WaitNotice | None = None
    is_marked: bool = False
    mark: Reaction = Reaction.WARNING
    answer: Answer | None = Field(default=None, exclude=True)

    @property
    def is_seen(self) -> bool:
        """Whether whoever asked has something to look at, such as words that many wait."""
        return bool(self.messages or self.notice)

    @property
    def standing(self) -> tuple[MessageRef, ...]:
        """All messages that may be there and are known."""
        return self.messages + self.leaving


class AboutQuestion(Value):
    """What signals that bring a question have in common."""

    question: Question

    @property
    def message(self) -> MessageRef:
        """The message that it is about."""
        return self.question.message


class Asked(AboutQuestion):
    """Somebody asks.

    A store that was emptied may have known of it: then `delivery` is what stands there of an answer. Where nobody has
    looked, `age` is how long ago it was asked, so that a store can see whether somebody has to.
    """

    kind: Literal["asked"] = "asked"
    address: ReplyAddress | None = None
    delivery: Delivery | None = None
    age: timedelta | None = None

    @property
    def way(self) -> Interaction | None:
        """The way back to somebody who has used a command, as long as it is known."""
        return self.address.interaction if self.address else None


class Edited(AboutQuestion):
    """Somebody asks the same in other words; its revision is higher than the one before."""

    kind: Literal["edited"] = "edited"


class Deleted(Value):
    """The message with the question is gone; `delivery` is what may stand there where a store may have lost that."""

    kind: Literal["deleted"] = "deleted"
    message: MessageRef
    delivery: Delivery | None = None


class Stopped(Value):
    """Somebody who may do so wants no more of the answer."""

    kind: Literal["stopped"] = "stopped"
    message: MessageRef
    by: Person


class AskedAgain(Value):
    """Somebody wants a question that could not be answered to be tried again, as it was."""

    kind: Literal["retried"] = "retried"
    message: MessageRef
    by: Person


class Recheck(AboutQuestion):
    """A worker that had lost the question may have changed what another has shown; its words and answer come along.

    That is for whoever has the question next, unless it is known by then.
    """

    kind: Literal["doubted"] = "doubted"
    answer: Answer | None = None


Signal: TypeAlias = Annotated[Asked | Edited | Deleted | Stopped | AskedAgain | Recheck, Field(discriminator="kind")]


class Stage(Enum):
    """How far a question has come, as far as an inbox knows it.

    One that was begun is `RELEASED` by whoever was at it, so that somebody else takes it in a moment, or else `LEFT`.
    """

    WAITING = "waiting"
    RUNNING = "running"
    RELEASED = "released"
    LEFT = "left"
    OVER = "over"
    UNKNOWN = "unknown"


MOST_ATTEMPTS = 3
"""So often is a question tried before it is given up."""
MOST_ENDINGS = 2 * MOST_ATTEMPTS
"""So often is an apology shown, or an answer that was written before."""


class Interruption(IntEnum):
    """Why a run has to end early; the higher one counts where there are several.

    After `EXPIRED`, which no inbox tells, whoever asked hears that it took too long. After `STOPPED` the answer ends
    where it is. After `EDITED` the inbox gives out the question next as it is by then, and after `DELETED` a
    `Withdrawal`. After `LOST` another worker holds the question, and this one may do nothing any more.
    """

    EXPIRED = 0
    STOPPED = 1
    EDITED = 2
    DELETED = 3
    LOST = 4


REPLACED: Final = frozenset({Interruption.EDITED, Interruption.DELETED, Interruption.LOST})
"""The reasons after which nobody waits for the rest of this answer, and nothing of it may be shown any more."""


@dataclass(slots=True, eq=False)
class Cancellation:
    """Tells whoever answers a question that it has to end early, and why; it cannot be taken back.

    The `reason` is None as long as nothing has happened, and changes by `set` alone, which tells the `listeners`.
    """

    reason: Interruption | None = field(default=None, init=False)
    listeners: list[Callable[[Interruption], object]] = field(default_factory=list, init=False, repr=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False, repr=False)

    def is_set(self) -> bool:
        """Return whether the run has to end for a reason that somebody else has given."""
        return self.reason not in (None, Interruption.EXPIRED)

    def set(self, reason: Interruption) -> None:
        """End the run; a weaker reason than the one before changes nothing."""
        self.reason = max(reason, self.reason or reason)
        self._changed.set()
        for listener in tuple(self.listeners):
            listener(self.reason)

    async def wait(self) -> Interruption:
        """Return as soon as there is a reason."""
        await self._changed.wait()
        assert self.reason is not None  # noqa: S101 - set() has been called
        return self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What a claim and a withdrawal have in common; `attempt` counts from 1.

    `fence` grows with each time that somebody takes the thread: whoever has a lower one than the inbox has lost it.
    `delivery` is what earlier attempts posted, to be edited instead of posted again. `was_released` tells that somebody
    had it before and handed it back, which counts as no attempt unless the lease was over before, or it was `begun` by
    then: a model may have been asked. `spent` are the seconds since somebody first had it, but for those after it was
    handed back; with an edit, or a wish to have it tried again, they begin anew.
    """

    attempt: int = 1
    fence: int = 0
    delivery: Delivery = Delivery()
    cancelled: Cancellation = field(default_factory=Cancellation, compare=False)
    was_released: bool = False
    begun: asyncio.Event = field(default_factory=asyncio.Event, compare=False)
    spent: float = field(default=0.0, compare=False)

    @property
    def is_redelivered(self) -> bool:
        """Whether somebody before may have left something that was noted nowhere."""
        return self.attempt > 1 or self.was_released

    @property
    def most_attempts(self) -> int:
        """After how many the task is given up; what was answered before costs no model anything."""
        return MOST_ATTEMPTS if self.delivery.answer is None else MOST_ENDINGS

    @property
    def is_last_attempt(self) -> bool:
        """Whether the task is given up if this attempt fails."""
        return self.attempt >= self.most_attempts


@dataclass(frozen=True, slots=True)
class Claim(Attempt):
    """What a worker holds while it answers, until that is `written`; `is_update`: an earlier revision was answered."""

    question: Question
    address: ReplyAddress | None = None
    is_update: bool = False
    written: list[Answer] = field(default_factory=list[Answer], compare=False)
    waiting: Waiting = field(default_factory=Waiting, compare=False)

    @property
    def message(self) -> MessageRef:
        """The message with the question."""
        return self.question.message


@dataclass(frozen=True, slots=True)
class Withdrawal(Attempt):
    """What a worker holds while it takes back the answer to a message that was deleted.

    `asker_id` is who wrote the message, empty where that is not known any more.
    """

    message: MessageRef
    asker_id: str = ""


Task: TypeAlias = Claim | Withdrawal


Item = TypeVar("Item")


@asynccontextmanager
async def ended_by(cancelled: Cancellation, reasons: Collection[Interruption]) -> AsyncGenerator[None]:
    """Cancel what runs inside as soon as there is one of the *reasons*, and go on behind the block."""
    loop = asyncio.get_running_loop()
    scope = asyncio.timeout(None)

    def end(reason: Interruption) -> None:
        if reason in reasons and scope.when() is None:  # it ends once
            scope.reschedule(loop.time())

    cancelled.listeners.append(end)
    try:
        async with scope:
            if cancelled.reason is not None:
                end(cancelled.reason)
            yield
    except TimeoutError:
        if not scope.expired():
            raise
    finally:
        cancelled.listeners.remove(end)


@contextmanager
def expiring(cancelled: Cancellation, seconds: float) -> Generator[None]:
    """Let what runs inside expire after so many *seconds*, and at once if there are none."""
    if seconds <= 0:
        cancelled.set(Interruption.EXPIRED)
    timer = asyncio.get_running_loop().call_later(max(seconds, 0.0), cancelled.set, Interruption.EXPIRED)
    try:
        yield
    finally:
        timer.cancel()


async def until(
    items: AsyncGenerator[Item, None], cancelled: Cancellation, reasons: Collection[Interruption]
) -> AsyncGenerator[Item, None]:
    """Pass on *items* until they end, or there is one of the *reasons*: then they are closed at once.

    Only waiting for the next item is broken off, never what is done with one.
    """
    async with aclosing(items):
        while cancelled.reason not in reasons:
            found: list[Item] = []
            try:
                async with ended_by(cancelled, reasons):
                    found.append(await anext(items))
            except StopAsyncIteration:
                return
            for item in found:
                yield item


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many questions wait, are worked on and were given up.

    `oldest` is for how many seconds the first one waits, or one that was begun since its worker gave a sign of life.
    """

    waiting: int = 0
    running: int = 0
    dead: int = 0
    oldest: float = 0.0


@dataclass(frozen=True, slots=True)
class Kept:
    """For how long a store has lost nothing, by its own clock; the `mark` is another one after each loss."""

    age: timedelta
    mark: str


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A question that was given up, when and why; `question` is there if it was asked for and its words are kept."""

    message: MessageRef
    died_at: AwareDatetime
    attempts: int
    reason: str
    can_be_retried: bool
    question: Question | None = None
