"""Reads what was said while the bot was away, and takes it in late; and looks for what was deleted meanwhile.

The inbox knows what was heard before, so nothing is answered twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from adapters.retry import NOT_NOW, PATIENT, Retrying
from core.errors import PostingFailed, StoreUnavailable
from core.events import CatchUpCutShort
from core.model import Deleted, MessageRef, ThreadRef

if TYPE_CHECKING:
    from adapters.chat.intake import ChatEvent, Intake
    from adapters.chat.services import ChatServices

Found = TypeVar("Found")

ReadIds: TypeAlias = Callable[[str], Awaitable[tuple[Collection[str], bool]]]
"""Returns the ids of messages of a place, from one on, and whether no more come after these."""

THREADS = 500  # of one server or workspace that are read, the latest; ten minutes' worth at Slack's pace


@dataclass(slots=True)
class Round:
    """One reading of everything: how long is waited for platform and store in all, and what could not be read."""

    retry: Retrying
    trouble: str = ""
    is_over: bool = False

    def cut(self, what: str) -> None:
        """Remember the first reason why not all was read."""
        self.trouble = self.trouble or what


@dataclass(frozen=True, slots=True)
class LateEvent:
    """Something that was said: the line that it waits in, and how it is read."""

    line: str
    read: Callable[[], Awaitable[ChatEvent | None]]


@dataclass(frozen=True, slots=True)
class Missed:
    """What was said in a place, oldest first, and its threads that went on."""

    events: Sequence[LateEvent] = ()
    threads: Sequence[HistoryPlace] = ()


@dataclass(frozen=True, slots=True)
class HistoryPlace:
    """A channel or thread where something was said lately, and how it is read, which may raise `PostingFailed`.

    Of the threads of a *home*, which is a server or a workspace, those of the greatest *rank* are read.
    """

    read: Callable[[Round], Awaitable[Missed]]
    home: str = ""
    rank: tuple[bool, float] = (False, 0.0)


class History(Protocol):
    """What a platform remembers."""

    def places(self, home: str, round_: Round) -> AsyncGenerator[HistoryPlace]:
        """Yield the channels that are worth reading, those first where something was said last.

        An empty *home* means wherever something was heard before. Raises `PostingFailed`, or `StoreUnavailable`.
        """
        ...

    def is_of(self, thread: ThreadRef, homes: Collection[str]) -> bool:
        """Return whether a thread has to be looked at where these *homes* are caught up."""
        ...

    async def deleted(self, messages: Sequence[MessageRef], round_: Round) -> Collection[str]:
        """Return the ids of those messages of a thread, or around it, that somebody has deleted.

        What may not be read counts as there. Raises `PostingFailed`.
        """
        ...


class CatchUp:
    """Reads all places of a *home* once, so many *at_once*; called while it runs, it runs once more at the end.

    `running` are the homes that are still being read: who starts after a crash now has to begin where this one did.
    """

    def __init__(self, history: History, intake: Intake, services: ChatServices, *, at_once: int = 1) -> None:
        self._history = history
        self._intake = intake
        self._services = services
        self._seats = asyncio.Semaphore(at_once)
        self.running: set[str] = set()
        self._again: set[str] = set()
        self._unchecked: set[str] = set()
        self._checking = asyncio.Lock()

    async def run(self, home: str) -> None:
        """Take in what was missed, then what was deleted; tells once of either if something could not be read."""
        self._again.add(home)
        if home in self.running:
            return
        self.running.add(home)
        try:
            while home in self._again:
                self._again.discard(home)
                await self._read_home(home)
        finally:
            self.running.discard(home)
        self._unchecked.add(home)
        async with self._checking:
            homes, self._unchecked = self._unchecked, set()
            if homes:  # of many, all that have been read by then are looked at together
                await self._check(homes)

    async def _check(self, homes: Collection[str]) -> None:
        """Have deleted what is remembered and does not stand there any more."""
        round_, services = Round(Retrying(replace(PATIENT, sleep=self._services.sleep))), self._services
        try:
            threads = await round_.retry.call(services.self_help.conversations.threads)
            ours = [
                (each.workspace, Decimal(each.thread), each) for each in threads if self._history.is_of(each, homes)
            ]
            for thread in _first(ours, "remembered threads", round_):
                remembered = await round_.retry.call(partial(services.self_help.remembered, thread))
                for each in await self._history.deleted(remembered, round_):
                    gone = Deleted(message=MessageRef(thread=thread, id=each))
                    await round_.retry.call(partial(self._intake.put, (gone,)))
        except (PostingFailed, StoreUnavailable) as failure:
            round_.cut(str(failure))
        self._tell(round_)

    async def _read_home(self, home: str) -> None:
        round_ = Round(Retrying(replace(PATIENT, sleep=self._services.sleep)))
        threads: list[HistoryPlace] = []
        async with asyncio.TaskGroup() as group, aclosing(self._history.places(home, round_)) as places:
            try:
                await round_.retry.call(self._services.know_store)
                async for place in places:
                    await self._seats.acquire()
                    group.create_task(self._read(place, round_, threads))
            except (PostingFailed, StoreUnavailable) as failure:
                round_.cut(str(failure))
        for thread in _first([(each.home, each.rank, each) for each in threads], "threads", round_):
            await self._seats.acquire()
            await self._read(thread, round_, threads)
        self._tell(round_)

    def _tell(self, round_: Round) -> None:
        if round_.trouble:
            self._services.observer(CatchUpCutShort(self._services.name, round_.trouble))

    async def _read(self, place: HistoryPlace, round_: Round, threads: list[HistoryPlace]) -> None:
        """Take in what was said in a place, and free the seat; the rest is left once waiting has taken too long."""
        try:
            if round_.is_over:
                return
            missed = await place.read(round_)
            threads += missed.threads
            for late in missed.events:
                await round_.retry.call(partial(self._intake.take, late.line, late.read))
        except NOT_NOW as failure:
            round_.is_over = True
            round_.cut(str(failure))
        except PostingFailed:
            pass  # nobody can do anything about it
        finally:
            self._seats.release()


def _first(found: Iterable[tuple[str, Any, Found]], what: str, round_: Round) -> Iterator[Found]:
    """Yield of what has a home and a rank those that are worth most, so many of each home; more are told of."""
    seen: Counter[str] = Counter()
    for home, _, each in sorted(found, key=itemgetter(1), reverse=True):
        seen[home] += 1
        if seen[home] <= THREADS:
            yield each
        else:
            round_.cut(f"more than {THREADS} {what} in one workspace")


async def absent(ids: Iterable[str], read: ReadIds) -> Collection[str]:
    """Return those ids that are not there, by as few readings as that takes. Raises what *read* raises."""
    gone, left = list[str](), sorted(set(ids), key=Decimal)
    while left:
        found, is_end = await read(left[0])
        latest = max(map(Decimal, found), default=Decimal())
        covered = [each for each in left if is_end or Decimal(each) <= latest]
        gone += (each for each in covered if each not in found)
        left = left[len(covered) or 1 :]
    return gone
