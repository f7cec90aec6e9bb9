"""Reads what was said while the bot was away, and takes it in late.

The inbox knows what was heard before, so nothing is answered twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from adapters.retry import NOT_NOW, PATIENT, Retrying
from core.errors import PostingFailed, StoreUnavailable
from core.events import CatchUpCutShort

if TYPE_CHECKING:
    from adapters.chat.intake import ChatEvent, Intake
    from adapters.chat.services import ChatServices

THREADS = 100  # of one server or workspace that may be read after its channels


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

    async def run(self, home: str) -> None:
        """Take in what was missed; tells once if something could not be read."""
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

    async def _read_home(self, home: str) -> None:
        round_ = Round(Retrying(replace(PATIENT, sleep=self._services.sleep)))
        threads: list[HistoryPlace] = []
        async with asyncio.TaskGroup() as group, aclosing(self._history.places(home, round_)) as places:
            try:
                async for place in places:
                    await self._seats.acquire()
                    group.create_task(self._read(place, round_, threads))
            except (PostingFailed, StoreUnavailable) as failure:
                round_.cut(str(failure))
        seen: Counter[str] = Counter()
        for thread in sorted(threads, key=lambda each: each.rank, reverse=True):  # those first that are worth most
            seen[thread.home] += 1
            if seen[thread.home] > THREADS:
                round_.cut(f"more than {THREADS} threads in one workspace")
                continue
            await self._seats.acquire()
            await self._read(thread, round_, threads)
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
