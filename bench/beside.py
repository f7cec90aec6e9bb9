"""How much longer readers wait for first words while a large source is read beside the bot.

`python -m bench.beside`; `--seconds` is how long is asked without it, before and after, and `--rate` how often in a
second; `--longest` stops the reading on a machine where it would take too long. With `--sync` the source is brought up
to date by the command that the bot itself starts for that. The bot is `footnote run` in its default form, with the
offline model and the built-in index and embedder.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from bench.chat.load import DOCS, QUESTIONS
from bench.corpora import need
from bench.report import Row, at_most, print_rows
from tests.servers.discord import DiscordServer, Message

CHANNELS = 40
WARM_UP = 10  # questions, which are not counted
PATIENCE = 60.0  # seconds for one answer
LOOK = 0.05
MOST = 1.3  # times
FAILED = "The documents could not be read (exit code {}), so nothing was measured; standard error says why."
BUSY = "Answers took more than {:.0f} seconds: the machine is too busy for this --rate, so nothing was measured."


class Asking:
    """Somebody new asks again and again, each in a thread of their own."""

    def __init__(self, server: DiscordServer, rate: float) -> None:
        self._server = server
        self._pause = 1 / rate
        guild = server.add_guild()
        self._guild = guild
        self._channels = [server.add_channel(guild, f"questions-{number}") for number in range(CHANNELS)]
        self._asked = 0

    async def until(self, end: asyncio.Event) -> list[float]:
        """Ask until the *end*; return the seconds until the first words of each answer."""
        async with asyncio.TaskGroup() as group:
            waits: list[asyncio.Task[float]] = []
            while not end.is_set():
                waits.append(group.create_task(self._ask()))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(end.wait(), self._pause)
        return [wait.result() for wait in waits]

    async def times(self, count: int) -> list[float]:
        """Ask one after the other."""
        return [await self._ask() for _ in range(count)]

    async def _ask(self) -> float:
        number, self._asked = self._asked, self._asked + 1
        person = self._server.add_member(self._guild, f"Ada {number}")
        place, text = self._channels[number % CHANNELS], QUESTIONS[number % len(QUESTIONS)]
        asked = self._server.post_as(person, place, text, mentions=[self._server.bot])
        try:
            async with asyncio.timeout(PATIENCE):
                while (first := self._first(asked)) is None:  # noqa: ASYNC110 - each event would be too often
                    await asyncio.sleep(LOOK)
        except TimeoutError:
            raise SystemExit(BUSY.format(PATIENCE)) from None
        return first - asked.at.timestamp()

    def _first(self, asked: Message) -> float | None:
        platform = self._server.platform
        thread = platform.channels.get(asked.id)
        said = platform.messages_in(thread, by=platform.bot) if thread else []
        times = [
            at.timestamp()
            for one in said
            for at, text in [(one.at, one.edits[0].content if one.edits else one.content)]
            if text
        ]
        return min(times, default=None)


@contextlib.asynccontextmanager
async def running(*words: str, **env: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Run a command until the block ends."""
    command = (sys.executable, "-m", "bot", *words)
    process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **env})
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def after(seconds: float, done: asyncio.Event) -> None:
    """Say that the time is over."""
    await asyncio.sleep(seconds)
    done.set()


async def measured(asking: Asking, work: asyncio.Task[None], done: asyncio.Event) -> list[float]:
    """Ask while something goes on."""
    waits = await asking.until(done)
    await work
    return waits


async def compare(seconds: float, rate: float, longest: float, *, syncs: bool) -> list[Row]:
    """Ask without, with, and without again."""
    with tempfile.TemporaryDirectory() as data:
        async with DiscordServer() as server:
            env = {
                "FOOTNOTE_DATA_DIR": data,
                "DISCORD_TOKEN": server.token,
                "DISCORD_API_URL": server.api_url,
                "DISCORD_GATEWAY_URL": server.gateway_url,
            }
            async with running("ingest", str(DOCS), "--quiet", **env) as small:
                await small.wait()
            source = need("ros2-docs") / "source"
            command = await _grown(Path(data) / "grown", source, env) if syncs else ("ingest", str(source))
            async with running("run", **env):
                await server.connected(seconds=PATIENCE)
                return await _compared(Asking(server, rate), seconds, longest, command, env)


async def _grown(folder: Path, source: Path, env: dict[str, str]) -> tuple[str, ...]:
    """Make a source of one page that has many by now; return the command that reads them."""
    await asyncio.to_thread(folder.mkdir)
    await asyncio.to_thread((folder / "first.md").write_text, "# First\n\nThe first page.\n")
    async with running("sources", "add", str(folder), "--name", "grown", **env) as adding:
        await adding.wait()
    await asyncio.to_thread(shutil.copytree, source, folder, dirs_exist_ok=True)
    return "sources", "sync", "--quiet", "grown"


async def _compared(
    asking: Asking, seconds: float, longest: float, command: tuple[str, ...], env: dict[str, str]
) -> list[Row]:
    await asking.times(WARM_UP)
    without = await _alone(asking, seconds)
    done = asyncio.Event()

    async def read() -> None:
        async with running(*command, **env) as reading:
            code = None
            with contextlib.suppress(TimeoutError):
                code = await asyncio.wait_for(reading.wait(), longest)
        done.set()
        if code:
            raise SystemExit(FAILED.format(code))

    begun = time.monotonic()
    beside = await measured(asking, asyncio.create_task(read()), done)
    took = time.monotonic() - begun
    without += await _alone(asking, seconds)
    told = [statistics.quantiles(waits, n=20)[18] for waits in (without, beside)]
    return [
        Row("pages read beside the bot in", f"{took:.0f} s"),
        *(
            Row(
                f"first words {name}, median and slowest",
                f"{statistics.median(waits) * 1e3:.0f} ms, {max(waits) * 1e3:.0f} ms",
            )
            for name, waits in (("without", without), ("beside", beside))
        ),
        Row(f"first words without, 95 of 100 of {len(without)}", f"{told[0] * 1e3:.0f} ms"),
        Row(f"first words beside, 95 of 100 of {len(beside)}", f"{told[1] * 1e3:.0f} ms"),
        at_most("beside over without", told[1] / told[0], MOST, " times"),
    ]


async def _alone(asking: Asking, seconds: float) -> list[float]:
    done = asyncio.Event()
    return await measured(asking, asyncio.create_task(after(seconds, done)), done)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=45.0)
    parser.add_argument("--rate", type=float, default=2.0)
    parser.add_argument("--longest", type=float, default=1_800.0)
    parser.add_argument("--sync", action="store_true")
    options = parser.parse_args()
    print_rows(
        "Reading beside a bot", asyncio.run(compare(options.seconds, options.rate, options.longest, syncs=options.sync))
    )
