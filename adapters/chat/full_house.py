"""Says that many wait, and takes that away once the answer is there, also where who said it has died since."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from adapters.chat.chores import Chores
from adapters.chat.insisting import insisted
from adapters.chat.posting import Gone, Part, Poster, Refused, nonce
from core.crowd import Crowd
from core.model import Inbound, MessageRef, Notice, Question, ThreadRef
from core.ports import Inbox, Memo, Notices

ASIDE = -1  # the number of a message beside those of the answer, which are counted from 0
QUIET = 600  # seconds in which nobody is told again in the same place that many wait
PAUSE = 5.0  # seconds between two looks whether the answer is there
LOOKS = 120
LONGEST_END = 5.0  # seconds to take the words away, as it may be time to stop


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Who waits, and what is known of them; `running` gives the question that a thread waits for."""

    crowd: Crowd
    inbox: Inbox
    memo: Memo
    notices: Notices
    running: Callable[[ThreadRef], Awaitable[Question | None]]
    now: Callable[[], datetime] = field(default=partial(datetime.now, UTC))
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep


class Way(Protocol):
    """Gives what posts a notice where it belongs; one that *may_stand* there already has to be looked for first."""

    async def __call__(self, notice: Notice, *, may_stand: bool) -> Poster:
        """Raises `PostingFailed`."""
        ...


class FullHouse:
    """Tells people how long it takes; nobody waits for that, and what may not be said is left unsaid.

    What is said is written down before and after, so that whoever listens next can take it away.
    """

    def __init__(self, house: House, way: Way, chores: Chores) -> None:
        self._house = house
        self._way = way
        self._chores = chores
        self._watched: set[MessageRef] = set()

    def count(self, inbound: Inbound, place: str) -> None:
        """Say how long it will take, if many wait; once in a while in the same place, and until the answer is there."""
        self._chores.begin(partial(self._count, inbound, place))

    def take_up(self, platform: str) -> None:
        """Go on with what was said by whoever listened before."""
        self._chores.begin(partial(self._take_up, platform))

    async def _count(self, inbound: Inbound, place: str) -> None:
        words = self._house.crowd.sentence(await self._house.inbox.waiting())
        if words and await self._is_quiet(inbound.thread, place):
            notice = Notice(question=inbound.message, revision=inbound.revision, place=place, words=words)
            await self._house.notices.put(notice)
            await self._watch(notice)

    async def _is_quiet(self, thread: ThreadRef, place: str) -> bool:
        """Say whether nobody was told in this place for a while; if so, somebody is now."""
        while_ = int(self._house.now().timestamp() // QUIET)
        return await self._house.memo.changed(f"busy:{thread.home}:{place}", str(while_))

    async def _take_up(self, platform: str) -> None:
        for notice in await self._house.notices.standing(platform):
            if notice.question not in self._watched:
                self._chores.begin(partial(self._watch, notice, may_stand=not notice.posted))

    async def _watch(self, notice: Notice, *, may_stand: bool = False) -> None:
        self._watched.add(notice.question)
        try:
            await self._show(notice, await self._way(notice, may_stand=may_stand))
        except (Gone, Refused):
            await self._house.notices.remove(notice)
        finally:
            self._watched.discard(notice.question)

    async def _show(self, notice: Notice, poster: Poster) -> None:
        """Let the words stand until the answer is there or this is broken off."""
        if not notice.posted:
            mark = nonce(notice.question, notice.revision, ASIDE)
            posted = await insisted(partial(poster.post, Part(notice.words), mark))
            notice = notice.model_copy(update={"posted": posted.id})
        try:
            await self._house.notices.put(notice)
            await self._answered(notice.question)
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_END):
                    await self._take_away(notice, poster)

    async def _take_away(self, notice: Notice, poster: Poster) -> None:
        with suppress(Gone, Refused):
            await insisted(partial(poster.delete, notice.posted))
        await self._house.notices.remove(notice)

    async def _answered(self, message: MessageRef) -> None:
        """Wait until nobody waits for the answer to a message any more; some minutes are long enough."""
        for _ in range(LOOKS):
            waiting = await self._house.running(message.thread)
            if waiting is None or waiting.message != message:
                return
            await self._house.sleep(PAUSE)
