"""Keeping sources up to date: which is due when, who reads it, and what is told of one that could not be read."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.commands.sources import seconds_in, spoken
from bot.sync import BROKEN, LEASE, NEVER, STOPPED, SourceAlerts, Syncing, due_at
from core.documents.ingest import Ingestion
from core.documents.library import Library
from core.errors import InvalidInput, ShutOut
from core.events import Event, SourceFailed
from core.messages import source_alert
from core.model import Audience, Origin, SourceKind, SourceRecord, SyncReport, WorkspaceRef
from core.ports import DocumentSource
from tests.builders import NOON
from tests.fakes.communities import MemoryCommunities
from tests.fakes.dedup import MemoryDedup
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex
from tests.fakes.surface import RecordingSurface
from tests.waiting import cancelled, wait_until

HOUR, QUARTER = 3_600, 900


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
        (record("a", age=0, problem="It is down."), NOON + timedelta(seconds=QUARTER)),
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


def library(index: MemoryIndex, now: Callable[[], datetime] = lambda: NOON) -> Library:
    """All of them, which are read elsewhere."""

    def opened(name: str, _: Origin) -> DocumentSource:
        raise AssertionError(name)

    return Library(index, Ingestion(index, HashEmbedder()), opened, now)


def syncing(index: MemoryIndex, dedup: MemoryDedup, *command: str) -> Syncing:
    """Somebody who looks at noon, and again soon."""
    return Syncing(library(index), dedup, lambda _: None, command, now=lambda: NOON, looking=0.05)


@pytest.mark.promise("syncs-by-itself")
async def test_one_process_reads_what_is_due() -> None:
    """The most overdue first; another process does nothing until that one has died, and then goes on."""
    index, seconds = await shelf(record("new", age=HOUR), record("old", age=2 * HOUR), record("b", age=1)), [0.0]
    dedup = MemoryDedup(lambda: seconds[0])
    here, there = (syncing(index, dedup) for _ in range(2))

    assert [await one.due() for one in (here, there, here)] == ["old", None, "old"]
    await index.record(record("old", age=0))
    seconds[0] = LEASE - 1
    assert [await one.due() for one in (there, here)] == [None, "new"]
    seconds[0] += LEASE
    assert [await one.due() for one in (there, here)] == ["new", None]
    await index.record(record("new", age=0))
    assert [await one.due() for one in (there, here)] == [None, None]


async def test_nothing_is_read_where_nobody_can_be_asked() -> None:
    """The index, or the store in which it is noted who reads."""
    index, dedup = await shelf(record("a")), MemoryDedup()
    one = syncing(index, dedup)
    dedup.fails = True
    found = [await one.due()]
    dedup.fails, index.fails = False, True
    found.append(await one.due())
    index.fails = False

    assert [*found, await one.due()] == [None, None, "a"]


async def test_whoever_stops_lets_another_process_read_at_once() -> None:
    """Nobody waits for the end of the lease; one that does not have it takes it from nobody."""
    index, dedup = await shelf(record("a", age=1)), MemoryDedup()
    first, second = (syncing(index, dedup) for _ in range(2))
    held: list[bool] = []
    for one in (first, second):
        running = asyncio.create_task(one.run())
        await asyncio.sleep(0)
        held.append(await dedup.hold("sync", "another", seconds=LEASE))
        await cancelled(running)
        held.append(await dedup.hold("sync", "another", seconds=LEASE))
    held.append(await dedup.hold("sync", second.holder, seconds=LEASE))

    assert held == [False, True, True, True, False]


async def test_whoever_lost_the_lease_stops_reading(tmp_path: Path) -> None:
    """Another process reads on; while the store is away nobody can, and nothing stops."""
    index, dedup, file = await shelf(record("a")), MemoryDedup(), tmp_path / "pid"
    one = syncing(index, dedup, *staying(file))
    assert await one.due() == "a"
    reading = asyncio.create_task(one.read("a"))
    await wait_until(lambda: bool(words(file)), what="the command")
    dedup.fails = True
    await asyncio.sleep(4 * one.looking)
    assert is_there(words(file))
    dedup.fails = False
    await dedup.forget("sync")
    await dedup.hold("sync", "another", seconds=LEASE)

    assert await reading
    assert (is_there(words(file)), await one.due()) == (False, None)


def doing(program: str) -> tuple[str, ...]:
    """A command that does that."""
    return (sys.executable, "-c", program)


def staying(file: Path) -> tuple[str, ...]:
    """A command that says where it runs, and does not end."""
    return doing(f"import os, time; open({str(file)!r}, 'w').write(str(os.getpid())); time.sleep(60)")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (doing("import sys; sys.exit(0)"), ""),
        (doing("import sys; sys.exit(2)"), BROKEN),
        (doing("import time; time.sleep(60)"), STOPPED),
        (("/nowhere",), BROKEN),
    ],
)
async def test_what_ends_without_a_word_is_told_and_written_down(command: tuple[str, ...], problem: str) -> None:
    """So it is tried again after a while and no sooner, and the list of sources shows it; what failed before is old."""
    events: list[Event] = []
    before = record("a", age=HOUR, problem="It is down.")
    index, watch = await shelf(before), Watch()
    one = Syncing(library(index, watch), MemoryDedup(), events.append, command, now=watch, longest=1.0)

    assert await one.read("a") is not bool(problem)

    [known] = await index.sources()
    assert events == [SourceFailed("a", each) for each in [problem] if each]
    assert known == (record("a", age=0, problem=problem) if problem else before)
    assert (await one.due() is None) is bool(problem)


async def test_what_the_command_wrote_down_is_told() -> None:
    """Rather than how it ended, and also of a source that is gone."""
    events: list[Event] = []
    index = await shelf(record("a", age=0, problem="It is down."))
    one = Syncing(library(index), MemoryDedup(), events.append, doing("import sys; sys.exit(2)"), now=lambda: NOON)

    assert not any([await one.read(name) for name in ("a", "gone")])
    assert events == [SourceFailed("a", "It is down."), SourceFailed("gone", BROKEN)]


async def test_reading_ends_with_the_bot(tmp_path: Path) -> None:
    """Nothing goes on behind its back."""
    file = tmp_path / "pid"
    running = asyncio.create_task(syncing(await shelf(record("a")), MemoryDedup(), *staying(file)).run())
    await wait_until(lambda: bool(words(file)), what="the command")
    assert is_there(words(file))
    await cancelled(running)

    assert not is_there(words(file))


@pytest.mark.parametrize("hears", [True, False])
async def test_what_is_stopped_clears_up_after_itself(tmp_path: Path, hears: bool) -> None:
    """As after Ctrl-C; one that does not end within some seconds is killed."""
    file, made = tmp_path / "pid", tmp_path / "made"
    made.mkdir()
    program = (
        f"import os, signal, tempfile, time\n"
        f"with tempfile.TemporaryDirectory(dir={str(made)!r}):\n"
        f"    {hears} or signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        f"    open({str(file)!r}, 'w').write(str(os.getpid()))\n"
        f"    time.sleep(60)\n"
    )
    one = replace(syncing(await shelf(record("a")), MemoryDedup(), *doing(program)), ending=60.0 if hears else 0.2)
    running = asyncio.create_task(one.run())
    await wait_until(lambda: bool(words(file)), what="the command")
    await cancelled(running)

    assert (is_there(words(file)), [*made.iterdir()] == []) == (False, hears)


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


@pytest.mark.promise("syncs-by-itself")
@pytest.mark.parametrize(("pages", "since"), [(2, NOON), (0, None)])
async def test_moderators_hear_since_when_answers_are_old_unless_there_are_none(
    pages: int, since: datetime | None
) -> None:
    """What has gone as a whole is not answered from any more."""
    home, surface = WorkspaceRef(platform="discord", workspace="1"), RecordingSurface()
    last = SyncReport(tried_at=NOON, read_at=NOON, pages=pages, problem="It is gone.")

    async def entrance() -> RecordingSurface:
        return surface

    index = await shelf(record("a").model_copy(update={"last": last}))
    await SourceAlerts(index, MemoryCommunities(home), MemoryDedup(), {"discord": entrance}).look()

    assert surface.alerts == [(home, source_alert("a", since))]


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
