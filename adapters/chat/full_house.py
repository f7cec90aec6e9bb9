"""Says that many wait, and takes that away once the answer is there, also where who said it has died since."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from adapters.chat.background import BackgroundTasks
from adapters.chat.posting import Part, Poster, nonce
from adapters.retry import QUICK
from core.crowd import Crowd
from core.errors import Gone, RateLimited, Rejected
from core.model import Inbound, MessageRef, Notice, ThreadRef
from core.ports import Backlogged, Memo, Notices

ASIDE = -1  # the number of a message beside those of the answer, which are counted from 0
QUIET = 600  # seconds in which nobody is told again in the same place that many wait
PAUSE = 5.0  # seconds between two looks whether the answer is there
LOOKS = 120
LONGEST_END = 5.0  # seconds to take the words away, as it may be time to stop


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Who waits, and what is known of them; `awaits` says whether the answer to a message is still to come."""

    crowd: Crowd
    inbox: Backlogged
    memo: Memo
    notices: Notices
    awaits: Callable[[MessageRef], Awaitable[bool]]
    now: Callable[[], datetime] = field(default=partial(datetime.now, UTC))
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep


class Board(Protocol):
    """Where notices stand on a platform. Raises `PostingFailed`."""

    async def poster(self, notice: Notice) -> Poster:
        """Give what posts a notice where it belongs, and removes it there."""
        ...

    async def find(self, notice: Notice) -> str | None:
        """Give the id of the message if the notice stands there; None if it does not, or nobody can know."""
        ...


class FullHouse:
    """Tells people how long it takes; nobody waits for that, and what may not be said is left unsaid.

    What is said is written down before and after, so that whoever listens next can take it away.
    """

    def __init__(self, house: House, board: Board, tasks: BackgroundTasks) -> None:
        self._house = house
        self._board = board
        self._tasks = tasks
        self._watched: set[MessageRef] = set()

    def count(self, inbound: Inbound, place: str) -> None:
        """Say how long it will take, if many wait; once in a while in the same place, and until the answer is there."""
        self._tasks.begin(partial(self._count, inbound, place))

    def take_up(self, platform: str) -> None:
        """Go on with what was said by whoever listened before."""
        self._tasks.begin(partial(self._take_up, platform))

    async def _count(self, inbound: Inbound, place: str) -> None:
        backlog = await self._house.inbox.backlog()
        words = self._house.crowd.sentence(backlog.waiting, backlog.running)
        if words and await self._is_quiet(inbound.thread, place):
            at, revision = self._house.now(), inbound.revision
            notice = Notice(question=inbound.message, revision=revision, place=place, words=words, at=at)
            await self._watch(notice, self._post)

    async def _is_quiet(self, thread: ThreadRef, place: str) -> bool:
        """Say whether nobody was told in this place for a while; if so, somebody is now."""
        while_ = int(self._house.now().timestamp() // QUIET)
        return await self._house.memo.changed(f"busy:{thread.home}:{place}", str(while_))

    async def _take_up(self, platform: str) -> None:
        for notice in await self._house.notices.standing(platform):
            if notice.question not in self._watched:
                self._tasks.begin(partial(self._watch, notice, self._find))

    async def _watch(self, notice: Notice, posted: Callable[[Notice], Awaitable[str | None]]) -> None:
        """Let the words stand for as long as they are true; what will not stand there is forgotten."""
        self._watched.add(notice.question)
        try:
            await self._house.notices.put(notice)
            message_id: str | None = None
            with suppress(Gone, Rejected):
                message_id = await posted(notice)
            if message_id is not None:
                await self._keep(notice.model_copy(update={"posted": message_id}))
            else:
                await self._house.notices.remove(notice)
        finally:
            self._watched.discard(notice.question)

    async def _post(self, notice: Notice) -> str | None:
        poster, mark = await self._board.poster(notice), nonce(notice.question, notice.revision, ASIDE)
        with suppress(RateLimited):  # then it comes too late
            return (await QUICK.call(partial(poster.post, Part(notice.words), mark))).id
        return None

    async def _find(self, notice: Notice) -> str | None:
        return notice.posted or await QUICK.call(partial(self._board.find, notice))

    async def _keep(self, notice: Notice) -> None:
        """Wait for the answer, or until this is broken off, and take the words away."""
        try:
            await self._house.notices.put(notice)
            await self._answered(notice.question)
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_END):
                    await self._take_away(notice)

    async def _take_away(self, notice: Notice) -> None:
        """Remove the message; what the platform cannot do just now is left to whoever listens next."""
        with suppress(Gone, Rejected):
            poster = await self._board.poster(notice)
            await QUICK.call(partial(poster.delete, notice.posted))
        await self._house.notices.remove(notice)

    async def _answered(self, message: MessageRef) -> None:
        """Wait until nobody waits for the answer to a message any more; some minutes are long enough."""
        for _ in range(LOOKS):
            if not await self._house.awaits(message):
                return
            await self._house.sleep(PAUSE)
