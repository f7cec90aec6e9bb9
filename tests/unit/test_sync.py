"""Keeping sources up to date: which is due when, who reads it, and what is told of one that could not be read."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.commands.sources import seconds_in, spoken
from bot.sync import AGAIN, BROKEN, NEVER, STOPPED, TAKEN_OVER, SourceAlerts, Syncing, due_at
from core.errors import InvalidInput, ShutOut
from core.events import Event, SourceFailed
from core.messages import source_alert
from core.model import Audience, Origin, SourceKind, SourceRecord, SyncReport, WorkspaceRef
from tests.builders import NOON
from tests.fakes.communities import MemoryCommunities
from tests.fakes.dedup import MemoryDedup
from tests.fakes.index import MemoryIndex
from tests.fakes.surface import RecordingSurface
from tests.waiting import cancelled, wait_until

HOUR = 3_600


def record(name: str, *, every: int = HOUR, age: int | None = None, problem: str = "") -> SourceRecord:
    """A source that was tried so many seconds before noon, if ever."""
    last = None if age is None else SyncReport(tried_at=NOON - timedelta(seconds=age), problem=problem)
    return SourceRecord(name=name, origin=Origin(kind=SourceKind.FOLDER, address="/x", every=every), last=last)


@pytest.mark.parametrize(
    ("known", "due"),
    [
        (SourceRecord(name="a"), None),
        (record("a", every=0, age=10), None),
        (record("a"), NEVER),
        (record("a", age=0), NOON + timedelta(seconds=HOUR)),
        (record("a", age=0, problem="It is down."), NOON + timedelta(seconds=AGAIN)),
        (record("a", every=600, age=0, problem="It is down."), NOON + timedelta(seconds=600)),
    ],
)
def test_a_source_is_due_as_often_as_was_said(known: SourceRecord, due: datetime | None) -> None:
    """Sooner after a failure, and never by itself where nobody said so."""
    assert due_at(known) == due


class Watch:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        """Tell the time."""
        return self.now


async def shelf(*records: SourceRecord) -> MemoryIndex:
    """An index that knows these sources."""
    index = MemoryIndex()
    for each in records:
        await index.record(each)
    return index


@pytest.mark.promise("syncs-by-itself")
async def test_one_process_reads_what_is_due() -> None:
    """The most overdue first; another process takes the next, and that of one that died after an hour."""
    index, dedup, watch = (
        await shelf(record("new", age=HOUR), record("old", age=2 * HOUR), record("b", age=1)),
        MemoryDedup(),
        Watch(),
    )
    here, there = (Syncing(index, dedup, lambda _: None, now=watch) for _ in range(2))

    assert [await one.due() for one in (here, there, here, there)] == ["old", "new", None, None]
    watch.now += timedelta(seconds=TAKEN_OVER)
    assert [await one.due() for one in (there, here, here)] == ["old", "new", "b"]
    await index.record(record("old", age=-TAKEN_OVER))
    watch.now += timedelta(seconds=TAKEN_OVER)
    assert [await here.due() for _ in range(4)] == ["new", "b", "old", None]


async def test_nothing_is_read_where_nobody_can_be_asked() -> None:
    """The index, or the store in which it is noted who reads what."""
    index, dedup = await shelf(record("a")), MemoryDedup()
    syncing = Syncing(index, dedup, lambda _: None)
    dedup.fails = True
    found = [await syncing.due()]
    dedup.fails, index.fails = False, True
    found.append(await syncing.due())
    index.fails = False

    assert [*found, await syncing.due()] == [None, None, "a"]


def doing(program: str) -> tuple[str, ...]:
    """A command that does that."""
    return (sys.executable, "-c", program)


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import sys; sys.exit(0)", []),
        ("import sys; sys.exit(2)", [SourceFailed("a", "It is down.")]),
        ("import time; time.sleep(60)", [SourceFailed("a", "It is down.")]),
    ],
)
async def test_what_could_not_be_read_is_told_with_what_was_written_down(program: str, told: list[Event]) -> None:
    """Also where it takes too long, which ends it."""
    events: list[Event] = []
    index = await shelf(record("a", age=1, problem="It is down."))

    await Syncing(index, MemoryDedup(), events.append, doing(program), longest=1.0).read("a")

    assert events == told


@pytest.mark.parametrize(
    ("command", "reason"), [(("/nowhere",), BROKEN), (doing("import time; time.sleep(60)"), STOPPED)]
)
async def test_what_ends_without_a_word_is_told_too(command: tuple[str, ...], reason: str) -> None:
    """Where there is no such command, and where nothing was written down."""
    events: list[Event] = []

    await Syncing(await shelf(record("a", age=1)), MemoryDedup(), events.append, command, longest=0.3).read("a")

    assert events == [SourceFailed("a", reason)]


async def test_reading_ends_with_the_bot(tmp_path: Path) -> None:
    """Nothing goes on behind its back."""
    program = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    running = asyncio.create_task(
        Syncing(await shelf(record("a")), MemoryDedup(), lambda _: None, doing(program), looking=0.01).run()
    )
    await wait_until(lambda: bool(words(tmp_path / "pid")), what="the command")
    assert is_there(words(tmp_path / "pid"))
    await cancelled(running)

    assert not is_there(words(tmp_path / "pid"))


def words(path: Path) -> str:
    """What is written in a file, if there is one."""
    return path.read_text() if path.exists() else ""


def is_there(process: str) -> bool:
    """Whether a process runs."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(("text", "seconds"), [("10m", 600), ("6h", 21_600), (" 1D ", 86_400), ("never", 0)])
def test_how_often_is_said_in_words(text: str, seconds: int) -> None:
    """And said again in the same."""
    assert seconds_in(text) == seconds
    assert not seconds or spoken(seconds) == text.strip().lower()


@pytest.mark.parametrize("text", ["", "9m", "1s", "0h", "often", "-1h", "99999d"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """With an example."""
    with pytest.raises(InvalidInput, match="Write 6h, 1d or"):
        seconds_in(text)


@pytest.mark.promise("syncs-by-itself")
async def test_moderators_of_those_who_may_read_a_source_hear_once_that_it_fails() -> None:
    """Again after it worked; nothing of why, since that may name what is the operator's alone."""
    ours, theirs = (WorkspaceRef(platform="discord", workspace=each) for each in ("1", "2"))
    away = WorkspaceRef(platform="slack", workspace="T1")
    failed, fine = record("a", age=1, problem="There is no folder at /home/secret."), record("a", age=1)
    index = await shelf(failed, record("b", age=1), record("c", every=0, age=1, problem="Broken."))
    await index.record(SourceRecord(name="a", audience=Audience(communities=frozenset([ours, away]))))
    surface, dedup = RecordingSurface(), MemoryDedup()

    async def entrance() -> RecordingSurface:
        return surface

    async def refused() -> RecordingSurface:
        raise ShutOut(1.0)

    entrances = {"discord": entrance, "slack": refused}
    alerts = SourceAlerts(index, MemoryCommunities(theirs, ours, away), dedup, entrances)
    for known in (failed, failed, fine, failed):
        await index.record(known)
        await alerts.look()

    assert [home for home, _ in surface.alerts] == [ours, ours]
    assert {sentence for _, sentence in surface.alerts} == {source_alert("a", None)}
    assert "secret" not in source_alert("a", None)
    assert [key for key in dedup.notes if "slack" in key] == []


async def test_alerts_go_on_after_the_store_was_away() -> None:
    """What cannot be asked now is asked again."""
    surface, communities = RecordingSurface(), MemoryCommunities(WorkspaceRef(platform="discord", workspace="1"))
    communities.fails = True

    async def entrance() -> RecordingSurface:
        return surface

    index = await shelf(record("a", age=1, problem="It is down."))
    alerts = SourceAlerts(index, communities, MemoryDedup(), {"discord": entrance}, looking=0.01)
    running = asyncio.create_task(alerts.run())
    await asyncio.sleep(0)
    communities.fails = False
    await wait_until(lambda: len(surface.alerts) == 1, what="the alert")
    await cancelled(running)
