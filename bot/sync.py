"""Keeps sources up to date while the bot runs: whichever is due is read by a command beside it, which gives way."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from adapters.retry import SOURCE
from core.community.visibility import audience_of
from core.documents.library import Library
from core.errors import InvalidInput, Misconfigured, RetrievalUnavailable, ShutOut, StoreUnavailable
from core.events import Observer, SourceFailed
from core.messages import source_alert
from core.model import SourceRecord, WorkspaceRef
from core.ports import Catalogue, CommunityStore, Dedup, Surface

LOOKING = 30.0  # seconds between two looks at what is due
LEASE = 120.0  # seconds after which another process takes over from one that has died
HELD = "sync"
ENDING = 5.0  # seconds in which the command clears up after itself
LONGEST = 6 * 3_600.0  # seconds that a source is given; what is done by then stays
STOPPED = "It took longer than six hours; the next time, new pages come first, then those that were read longest ago."
BROKEN = "Reading it ended without a message; footnote.log in the data folder may say why."
NEVER = datetime.fromtimestamp(0, UTC)


def due_at(record: SourceRecord) -> datetime | None:
    """Return from when on a source is to be read; None for one that is read only when somebody says so."""
    if record.origin is None or not record.origin.every:
        return None
    if record.last is None:
        return NEVER
    every = record.origin.every
    wait = min(every, SOURCE.backoff(1)) if record.last.problem else every
    return record.last.tried_at + timedelta(seconds=wait)


@dataclass(frozen=True, slots=True)
class Syncing:
    """Reads what is due, one source at a time; of several processes, the one that holds the lease does, for all.

    Reading is a process of its own, so that answers wait for nothing: the `command` is what it is, without the name.
    """

    library: Library
    dedup: Dedup
    observer: Observer
    command: Sequence[str] = (sys.executable, "-P", "-m", "bot", "sources", "sync", "--quiet")
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    looking: float = LOOKING
    longest: float = LONGEST
    ending: float = ENDING
    holder: str = field(default_factory=lambda: uuid4().hex)

    async def run(self) -> None:
        """Read one source after the other as they become due, until this is cancelled, which ends the lease."""
        try:
            while True:
                while (name := await self.due()) is not None and await self.read(name):
                    pass
                await asyncio.sleep(self.looking)
        finally:
            with suppress(StoreUnavailable):
                if await self._holds():
                    await self.dedup.forget(HELD)

    async def due(self) -> str | None:
        """Return what this process is to read next, the most overdue; None also where nobody can be asked for now."""
        try:
            if not await self._holds():
                return None
            now, records = self.now(), await self.library.records()
        except (RetrievalUnavailable, StoreUnavailable, Misconfigured):  # the doctor says so
            return None
        due = [(at, record.name) for record in records if (at := due_at(record)) is not None and at <= now]
        return min(due)[1] if due else None

    async def read(self, name: str) -> bool:
        """Read a source to its end; return False where that failed, which is told and written down."""
        begun, problem = self.now(), ""
        try:
            async with asyncio.timeout(self.longest):
                problem = BROKEN if await self._ended(name) else ""
        except TimeoutError:
            problem = STOPPED
        except OSError:  # no process can be started
            problem = BROKEN
        if problem:
            with suppress(RetrievalUnavailable, Misconfigured, InvalidInput):  # there may be no such source any more
                problem = await self.library.note_failure(name, problem, since=begun)
            self.observer(SourceFailed(name, problem))
        return not problem

    async def _holds(self) -> bool:
        """Return whether it is this process that reads, for the time of the lease. Raises `StoreUnavailable`."""
        return await self.dedup.hold(HELD, self.holder, seconds=LEASE)

    async def _ended(self, name: str) -> int:
        """Return the code of the command, which does not outlive this, or its lease: then another process goes on."""
        process = await asyncio.create_subprocess_exec(
            *self.command, "--", name, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )
        try:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self.looking):
                        return await process.wait()
                with suppress(StoreUnavailable):  # without which nobody else can take over either
                    if not await self._holds():
                        return 0
        finally:
            await self._end(process)

    async def _end(self, process: Process) -> None:
        """Stop a command as Ctrl-C does, so that it leaves nothing behind, or at once where that takes too long."""
        try:
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
            async with asyncio.timeout(self.ending):
                await process.wait()
        except TimeoutError:
            pass
        finally:  # also where whoever waits is stopped again
            if process.returncode is None:
                process.kill()
                await process.wait()


@dataclass(frozen=True, slots=True)
class SourceAlerts:
    """Tells the moderators of whoever may read a source that it could not be brought up to date, once until it can.

    What went wrong may name what is the operator's alone, and stays with `footnote sources show`.
    """

    catalogue: Catalogue
    communities: CommunityStore
    dedup: Dedup
    surfaces: Mapping[str, Callable[[], Awaitable[Surface]]]
    looking: float = LOOKING
    _told: set[str] = field(default_factory=set[str])

    async def run(self) -> None:
        """Look again and again, until this is cancelled."""
        while True:
            with suppress(RetrievalUnavailable, StoreUnavailable, Misconfigured):  # the doctor says so
                await self.look()
            await asyncio.sleep(self.looking)

    async def look(self) -> None:
        """Tell of what fails by now. Raises `RetrievalUnavailable` and `StoreUnavailable`."""
        known, failing = await self.communities.load(), set[str]()
        for record in await self.catalogue.sources():
            if record.origin is None or not record.origin.every or record.last is None or not record.last.problem:
                continue
            audience = audience_of(record, known.first)
            for home in (each for each in known.allowed if audience.admits([each])):
                failing.add(key := f"sync-failed/{home}/{record.name}")
                since = record.last.read_at if record.last.pages else None
                await self._tell(home, key, source_alert(record.name, since))
        for key in self._told - failing:
            await self.dedup.forget(key)
        self._told.clear()
        self._told.update(failing)

    async def _tell(self, home: WorkspaceRef, key: str, sentence: str) -> None:
        if home.platform not in self.surfaces or not await self.dedup.changed(key, "failed"):
            return
        try:
            surface = await self.surfaces[home.platform]()
        except ShutOut:
            await self.dedup.forget(key)
        else:
            await surface.alert(home, sentence)
