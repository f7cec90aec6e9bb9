"""A bot that keeps its sources up to date by itself."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.minilm.embedder import NAME as MINILM
from adapters.qdrant import ServerIndex
from core.model import SourceRecord, SyncReport
from tests.end_to_end.test_run import PATIENCE, ended, environment, started
from tests.fixtures.commands import Footnote
from tests.fixtures.redis import clean
from tests.servers.discord import DiscordServer
from tests.servers.git import GitServer
from tests.servers.qdrant import QdrantServer
from tests.servers.service import Hang

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def overdue(footnote: Footnote, name: str) -> None:
    """Have it be long ago that a source was read."""
    file = footnote.data / "index" / "sources.json"
    records = json.loads(file.read_text())
    [record] = [each for each in records if each["name"] == name]
    record["last"]["tried_at"] = "2026-01-01T00:00:00Z"
    file.write_text(json.dumps(records))


@pytest.fixture(name="url")
async def _url(redis_url: str) -> AsyncGenerator[str]:
    """Give a store that knows of nothing."""
    async with clean(redis_url):
        yield redis_url


@pytest.mark.promise("syncs-by-itself")
@pytest.mark.timeout(300)
async def test_a_process_that_does_nothing_else_reads_what_is_due(fresh: Footnote, tmp_path: Path, url: str) -> None:
    """It meets the others at the servers, and listens to nobody."""
    (farm := tmp_path / "farm").mkdir()
    (farm / "hens.md").write_text("# Hens\n\nHens eat corn.\n")
    async with QdrantServer() as qdrant, DiscordServer() as server:
        shared = {"QDRANT_URL": qdrant.url, "REDIS_URL": url, "REDIS_ALLOW_LOSS": "true", **environment(server)}
        added = await asyncio.to_thread(fresh, "sources", "add", str(farm), "--every", "1d", **shared)
        (farm / "goats.md").write_text("# Goats\n\nGoats eat thistles and brambles.\n")
        index = ServerIndex(qdrant.url, embedder=MINILM, dimension=384)
        try:
            await index.record(SourceRecord(name="farm", last=SyncReport(tried_at=LONG_AGO, pages=1)))
            running = await fresh.start("run", "sync", **shared)
            async with asyncio.timeout(4 * PATIENCE):
                while not ((record := (await index.sources())[0]).last and record.last.tried_at > LONG_AGO):
                    assert running.returncode is None
                    await asyncio.sleep(0.2)  # what is waited for happens in another process
            pages = (await index.outline()).pages
            running.send_signal(signal.SIGTERM)
            code, told = await ended(running)
        finally:
            await index.aclose()

    assert (added.code, code, server.requests) == (0, 0, [])
    assert told == ""
    assert record.last is not None
    assert (record.last.problem, pages) == ("", 2)


@pytest.mark.promise("syncs-by-itself")
@pytest.mark.timeout(300)
async def test_a_bot_reads_what_has_changed_by_itself(footnote: Footnote, tmp_path: Path) -> None:
    """What is new is answered from, without any command; a folder that has gone is told, and loses nothing."""
    farm, gone = tmp_path / "farm", tmp_path / "gone"
    for folder in (farm, gone):
        folder.mkdir()
        (folder / "hens.md").write_text(f"# Hens of {folder.name}\n\nHens eat corn.\n")
        added = await asyncio.to_thread(footnote, "sources", "add", str(folder), "--every", "1d")
        assert added.code == 0
        overdue(footnote, folder.name)
    (farm / "goats.md").write_text("# Goats\n\nGoats eat thistles and brambles.\n")
    (gone / "hens.md").unlink()
    gone.rmdir()
    async with DiscordServer() as server, started(replace(footnote, is_forked=False), server) as bot:
        told = "The source gone could not be read: There is no folder or file"
        await bot.tells(told, seconds=4 * PATIENCE)  # what reads gives way to all that tests do beside it
        bot.running.send_signal(signal.SIGTERM)
        code, _ = await bot.ended()
    listed = await asyncio.to_thread(footnote, "sources", "list", "--json")

    found = {each["name"]: each for each in json.loads(listed.out)["sources"]}
    assert (code, found["farm"]["pages"], found["gone"]["pages"]) == (0, 2, 1)
    assert found["gone"]["last"]["problem"].startswith("There is no folder or file")


@pytest.mark.promise("syncs-by-itself")
@pytest.mark.timeout(300)
async def test_a_bot_that_stops_leaves_nothing_of_what_it_was_fetching(footnote: Footnote) -> None:
    """No process, and no file; the next one fetches it again."""
    env = {"FOOTNOTE_FETCH_NETWORKS": "127.0.0.1/32"}
    repositories = footnote.data / "repositories"
    async with GitServer() as git, DiscordServer() as server:
        git.put({"goats.md": b"# Goats\n\nGoats eat grass.\n"})
        words = (git.address, "--base-url", "https://x.example", "--every", "1d")
        added = await asyncio.to_thread(footnote, "sources", "add", *words, **env)
        overdue(footnote, "shelf")
        [before] = repositories.glob("*/*")
        git.put({"goats.md": b"# Goats\n\nGoats eat thistles.\n"})
        git.received.clear()
        git.faults.extend([None, None, Hang()])
        async with started(replace(footnote, is_forked=False), server, **env) as bot:
            await git.was_asked(3, seconds=4 * PATIENCE)
            during = {path.name[:4] for path in repositories.rglob("new-*")}
            bot.running.send_signal(signal.SIGTERM)
            code, _ = await bot.ended()
        left = await asyncio.to_thread(processes, footnote)

    assert (added.code, during, code, left) == (0, {"new-"}, 0, [])
    assert [*repositories.glob("*/*"), *repositories.rglob("new-*")] == [before]


def processes(footnote: Footnote) -> list[str]:
    """The processes that have this data folder in their environment."""
    shown = subprocess.run(["ps", "axeww", "-o", "command="], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if f"FOOTNOTE_DATA_DIR={footnote.data} " in f"{line} "]
