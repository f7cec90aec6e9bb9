"""Says below a question that many wait; whoever answers it takes the words away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from adapters.chat.background import BackgroundTasks
from adapters.chat.platform import NOTICE, Part, Poster, nonce
from adapters.retry import QUICK
from core.community.admission import WaitEstimate
from core.errors import PeopleUnavailable, StoreUnavailable
from core.model import Question, ThreadRef, WaitNotice
from core.ports import Memo, WaitingRoom

QUIET = 600  # seconds in which nobody is told again in the same place that many wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How long people wait, and who hears of it; `admits` says whether a question will be answered."""

    estimate: WaitEstimate
    room: WaitingRoom
    memo: Memo
    admits: Callable[[Question], Awaitable[bool]]
    now: Callable[[], datetime] = partial(datetime.now, UTC)


class WaitNotices:
    """Tells people how long it takes; nobody waits for that, and what may not be said is left unsaid.

    The words are part of what is delivered to a question, so that whoever takes that knows them, also where whoever
    said them has died over it.
    """

    def __init__(self, waits: Waits, tasks: BackgroundTasks) -> None:
        self._waits = waits
        self._tasks = tasks

    def give(self, question: Question, at: ThreadRef, poster: Poster) -> None:
        """Return how long it will take, if many wait, *at* a place in whose channel this is said once in a while."""
        self._tasks.begin(partial(self._give, question, at, poster))

    async def _give(self, question: Question, at: ThreadRef, poster: Poster) -> None:
        backlog = await self._waits.room.backlog()
        words = self._waits.estimate.sentence(backlog.waiting, backlog.running)
        if words and await self._is_admitted(question) and await self._is_quiet(f"{at.home}:{at.channel}"):
            mark = nonce(question.message, question.revision, NOTICE)
            await self._say(question, WaitNotice(thread=at, nonce=mark), poster, words)

    async def _is_admitted(self, question: Question) -> bool:
        with suppress(PeopleUnavailable):
            return await self._waits.admits(question)
        return False

    async def _is_quiet(self, place: str) -> bool:
        """Return whether nobody was told in this place for a while; if so, somebody is now."""
        while_ = int(self._waits.now().timestamp() // QUIET)
        return await self._waits.memo.changed(f"busy:{place}", str(while_))

    async def _say(self, question: Question, notice: WaitNotice, poster: Poster, words: str) -> None:
        """Note it before it is posted and after, and take it away at once if somebody answers by now."""
        if not await self._waits.room.announce(question.message, notice):
            return
        posted = await QUICK.call(partial(poster.post, Part(words), notice.nonce))
        with suppress(StoreUnavailable):
            if await self._waits.room.announce(question.message, notice.model_copy(update={"id": posted.id})):
                return
        await QUICK.call(partial(poster.delete, posted.id))
