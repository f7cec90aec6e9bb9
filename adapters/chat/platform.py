"""What a chat platform gives, so that answers appear there.

About a dozen functions, of which two and a poster are enough. `PlatformSurface` does the rest, for all
platforms in the same way.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Protocol

from core.errors import PostingFailed, Rejected
from core.events import unobserved
from core.model import (
    Answer,
    Claim,
    Delivery,
    MessageRef,
    PartialAnswer,
    Reaction,
    Task,
    ThreadRef,
    WaitNotice,
    Withdrawal,
    WorkspaceRef,
)

utc_now: Callable[[], datetime] = partial(datetime.now, UTC)
REMARK, NOTICE, REFUSAL, HINT = -1, -2, -3, -4  # messages beside those of the answer, which are counted from 0
NONCE_LENGTH = 24  # characters; Discord allows 25


def nonce(question: MessageRef, number: int, revision: int = 0) -> str:
    """Return the same mark for a message of an answer in every process; what is beside it is about a *revision*."""
    named = f"{question}#{revision}#{number}"
    return hashlib.sha256(named.encode()).hexdigest()[:NONCE_LENGTH]


class Controls(StrEnum):
    """What a reader can do with a message of an answer."""

    NONE = ""
    STOP = "stop"
    VOTE = "vote"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Part:
    """A message of an answer as it should be; `below` is small print that stands apart from the text.

    Where a platform wants all of it as words alone too, they are in `plain`. One that *is_passing* is not the beginning
    of what comes after it.
    """

    text: str
    controls: Controls = Controls.NONE
    below: str = ""
    plain: str = ""
    is_passing: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Posted:
    """A message of ours, and what it shows: None where nobody knows, and an empty part where that is still to come.

    Its `place` is where it stands, unless that is where the answer begins.
    """

    id: str
    part: Part | None = None
    place: ThreadRef | None = None


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """What stands on a platform of an answer: nothing, where there are no messages."""

    messages: tuple[MessageRef, ...] = ()
    is_finished: bool = False
    is_failure: bool = False  # it says that there is no answer, and offers to try again
    is_current: bool = True  # else it is older than an edit of the question, and does not say that it was updated


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """Who the bot is in a server or workspace: its user, and the roles and the app's id that stand for it as well."""

    user_id: str
    role_ids: frozenset[str] = frozenset()
    bot_id: str = ""
    workspace: str = ""


class Barred(Rejected):
    """The bot may not do this in this place, and will not before somebody changes something there."""


class QuestionGone(Rejected):
    """There is nothing to answer any more: somebody deleted the question, and its thread with it."""


class Poster(Protocol):
    """What a platform does with the messages of one answer. Raises `PostingFailed` of some kind.

    A draft comes with the event that makes it *obsolete*. It may be held back behind everything that readers wait for,
    and once the event is set it is refused as `RateLimited`.
    """

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message; for a nonce that was used before, return that message."""
        ...

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what a message shows; doing it twice is no error."""
        ...

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        ...


class Renderer(Protocol):
    """Draws one answer as the messages of a platform."""

    def sketch(self, draft: PartialAnswer) -> Sequence[Part]:
        """Return the messages of an answer that is being written; what is finished is not drawn again."""
        ...

    def whole(self, answer: Answer) -> Sequence[Part]:
        """Return the messages of a whole answer."""
        ...


@asynccontextmanager
async def no_sign(_: Callable[[PostingFailed], object]) -> AsyncGenerator[Callable[[], object]]:
    """Show nothing while an answer is on its way."""
    yield unobserved


async def unsure(_: Delivery) -> bool:
    """Return that nobody can see what was posted unheard."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where an answer goes, and how it looks there.

    Its messages stand in `place`, unless they say otherwise; None where nobody can name them afterwards. `posted`
    are there already. While it is written, an answer `grows` in so many messages at most, with 0 it is shown whole.
    `sign` shows that the answer is on its way while it is open, and yields what is called when something of the
    answer appears; it is given what hears that the platform refuses even that. `settled` is called at the end with
    the messages, and with the answer, or None if it was refused; it raises `LeaseLost` only. `is_all` returns
    whether it can be seen that nothing was posted unheard beside a delivery; it raises `PostingFailed`.
    """

    poster: Poster
    renderer: Renderer
    place: ThreadRef | None
    posted: Sequence[Posted] = ()
    grows: int | None = None
    sign: Callable[[Callable[[PostingFailed], object]], AbstractAsyncContextManager[Callable[[], object]]] = no_sign
    settled: Callable[[Answer | None, Sequence[Posted]], Awaitable[None]] | None = None
    is_all: Callable[[Delivery], Awaitable[bool]] = unsure


class ChatPlatform:
    """A platform as a surface needs it; one that only posts text has a `destination` and can `delete`.

    For a withdrawal, these are called in order: `end_sign`, `find_notice`, `has_replies`, `unknown`, `untitle`. Each
    method raises `PostingFailed` where the platform cannot be reached or refuses.
    """

    async def destination(self, claim: Claim, remark: str) -> Destination | None:
        """Return where an answer goes, with a *remark* below it; None if it can be shown nowhere any more."""
        raise NotImplementedError

    async def find_answer(self, claim: Claim) -> FoundAnswer | None:
        """Return what the bot has answered to a question before; None where nobody can know."""
        return None

    async def refuse(self, claim: Claim, part: Part, nonce: str) -> MessageRef | None:
        """Tell the asker why there is no answer, without opening a thread; return what others see, to be removed soon.

        None where only the asker sees it, or nobody: there is nothing to remove. The usual way is where answers go.
        """
        if (destination := await self.destination(claim, "")) is not None:
            await destination.poster.post(part, nonce)
        return None

    async def delete(self, message: MessageRef) -> None:
        """Remove a message of the bot's; `Gone` if it is not there."""
        raise NotImplementedError

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message; doing it twice is no error."""

    async def unreact(self, to: MessageRef, reaction: Reaction) -> None:
        """Take a mark of ours away."""

    async def alert(self, home: WorkspaceRef, part: Part, nonce: str) -> None:
        """Tell the moderators of a community something where they alone read it.

        Usually nobody is told: the status says it. It raises `StoreUnavailable` too.
        """

    async def end_sign(self, task: Task) -> None:
        """Take away a sign of work that a worker who died may have left."""

    async def find_notice(self, message: MessageRef, notice: WaitNotice) -> str:
        """Return the id of what was said below a message while it waited; empty if it is not there."""
        return ""

    async def has_replies(self, withdrawal: Withdrawal) -> bool:
        """Return whether others than the asker have gone on from the answer, as far as the bot may read."""
        return False

    async def unknown(self, task: Task) -> Sequence[MessageRef]:
        """Return what stands of an answer beside its delivery, as far as the bot may read: a store can lose notes."""
        return ()

    async def untitle(self, message: MessageRef) -> None:
        """Take the words of a question out of the name of the thread or session that it has begun."""
