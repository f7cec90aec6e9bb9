"""Keeps sources up to date while the bot runs: whichever is due is read by a command beside it, which gives way."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.community.visibility import audience_of
from core.errors import Misconfigured, RetrievalUnavailable, ShutOut, StoreUnavailable
from core.events import Observer, SourceFailed
from core.messages import source_alert
from core.model import SourceRecord, WorkspaceRef
from core.ports import Catalogue, CommunityStore, Dedup, Surface

LOOKING = 30.0  # seconds between two looks at what is due
AGAIN = 900  # seconds after a failure, unless the source is read oftener anyway
TAKEN_OVER = 3_600  # seconds after which a source that is due is begun again: whoever began may have died
LONGEST = 6 * 3_600.0  # seconds that a source is given; what is done by then stays
STOPPED = "It took longer than six hours, and continues the next time."
BROKEN = "Reading it ended without a message; footnote.log in the data folder may say why."
NEVER = datetime.fromtimestamp(0, UTC)


def due_at(record: SourceRecord) -> datetime | None:
    """Return from when on a source is to be read; None for one that is read only when somebody says so."""
    if record.origin is None or not record.origin.every:
        return None
    if record.last is None:
        return NEVER
    wait = min(record.origin.every, AGAIN) if record.last.problem else record.origin.every
    return record.last.tried_at + timedelta(seconds=wait)


@dataclass(frozen=True, slots=True)
class Syncing:
    """Looks at what is due; of several processes that do, one reads a source.

    Reading is a process of its own, so that answers wait for nothing: the `command` is what it is, without the name.
    """

    catalogue: Catalogue
    dedup: Dedup
    observer: Observer
    command: Sequence[str] = (sys.executable, "-P", "-m", "bot", "sources", "sync", "--quiet")
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    looking: float = LOOKING
    longest: float = LONGEST

    async def run(self) -> None:
        """Read one source after the other as they become due, until this is cancelled."""
        while True:
            while (name := await self.due()) is not None:
                await self.read(name)
            await asyncio.sleep(self.looking)

    async def due(self) -> str | None:
        """Return what this process is to read next, the most overdue; None also where nobody can be asked for now."""
        try:
            now = self.now()
            found = [(due_at(record), record) for record in await self.catalogue.sources()]
            due = sorted((at, record.name) for at, record in found if at is not None and at <= now)
            for at, name in due:
                if await self._is_ours(name, at, now):
                    return name
        except (RetrievalUnavailable, StoreUnavailable, Misconfigured):  # the doctor says so
            return None
        return None

    async def _is_ours(self, name: str, at: datetime, now: datetime) -> bool:
        """Return whether nobody else has begun with it since it became due, or within the last hour."""
        attempt = int((now - at).total_seconds() // TAKEN_OVER)
        return await self.dedup.changed(f"sync/{name}", f"{at.isoformat()} {attempt}")

    async def read(self, name: str) -> None:
        """Read a source to its end, and tell how that failed, if it did."""
        try:
            async with asyncio.timeout(self.longest):
                problem = BROKEN if await self._ended(name) else ""
        except TimeoutError:
            problem = STOPPED
        except OSError:  # no process can be started
            problem = BROKEN
        if problem:
            self.observer(SourceFailed(name, await self._told(name) or problem))

    async def _ended(self, name: str) -> int:
        """Return the code of the command, which does not outlive this."""
        process = await asyncio.create_subprocess_exec(
            *self.command, "--", name, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def _told(self, name: str) -> str:
        """Return what the command wrote down."""
        try:
            records = await self.catalogue.sources()
        except (RetrievalUnavailable, Misconfigured):
            return ""
        return next((record.last.problem for record in records if record.name == name and record.last), "")


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
                await self._tell(home, key, source_alert(record.name, record.last.read_at))
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
