"""The machine that the bot runs on: it starts processes, breaks them, and starts again what has died."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

News: TypeAlias = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
KEPT = ("PATH", "HOME")
MOMENT = 0.1  # seconds after which a host starts again what has died


def _unheard(news: object) -> None:
    """Take no note of it."""


@dataclass
class Running:
    """A process of the bot with the roles that it has; `pid` is None while it is not there."""

    name: str
    roles: tuple[str, ...]
    settings: Mapping[str, str]
    pid: int | None = None
    starts: int = 0
    is_frozen: bool = False


@dataclass
class Host:
    """Runs processes of the bot; `news` is what they told, in order, and *told* hears of it at once.

    Whenever a process is broken, *disturbed* hears its name.
    """

    folder: Path
    told: Callable[[News], object] = _unheard
    processes: dict[str, Running] = field(default_factory=dict[str, Running])
    news: list[News] = field(default_factory=list[News])
    disturbed: Callable[[str], object] = _unheard
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _restarts: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _starter: Process | None = None
    _stopping: bool = False

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Be there; all processes end with it, however that happens."""
        env = {name: os.environ[name] for name in KEPT if name in os.environ} | {"OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.faults.process"]
        with (self.folder / "starter.log").open("wb") as log:
            self._starter = await asyncio.create_subprocess_exec(
                *command, cwd=ROOT, env=env, stdin=PIPE, stdout=PIPE, stderr=log, start_new_session=True
            )
        reading = asyncio.create_task(self._read(self._starter))
        try:
            yield
        finally:
            self._stopping = True
            for task in tuple(self._restarts):
                task.cancel()
            assert self._starter.stdin is not None
            self._starter.stdin.close()
            await self._starter.wait()
            await reading

    def orders(self, role: str) -> Path:
        """Give the folder in which the processes of a role look for orders."""
        folder = self.folder / f"{role}.orders"
        folder.mkdir(exist_ok=True)
        return folder

    def add(self, name: str, *roles: str, settings: Mapping[str, str]) -> None:
        """Run a process from now on."""
        self.processes[name] = Running(name, roles, settings)
        self.start(name)

    def start(self, name: str) -> None:
        """Start a process."""
        running = self.processes[name]
        running.starts += 1
        data = self.folder / name
        data.mkdir(exist_ok=True)
        order = {
            "name": name,
            "roles": running.roles,
            "env": {**self._usual(), **running.settings, "FOOTNOTE_DATA_DIR": str(data)},
            "orders": str(self.orders(running.roles[0])),
            "log": str(self.folder / f"{name}.log"),
        }
        assert self._starter is not None
        assert self._starter.stdin is not None
        self._starter.stdin.write(json.dumps(order).encode() + b"\n")

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a process, if it is there."""
        running = self.processes[name]
        self.disturbed(name)
        if running.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(running.pid, number)
                running.is_frozen = number == signal.SIGSTOP

    async def until(self, is_true: Callable[[], object]) -> None:
        """Return as soon as *is_true* says so, which is asked whenever a process told something."""
        async with self._changed:
            await self._changed.wait_for(lambda: bool(is_true()))

    def tells(self, kind: str, **more: Any) -> list[News]:
        """Give what was told of a kind."""
        return [one for one in self.news if one["kind"] == kind and more.items() <= one.items()]

    def words(self) -> dict[str, str]:
        """Give the last that each process has said on standard error, and whoever starts them."""
        logs = {name: self.folder / f"{name}.log" for name in ("starter", *self.processes)}
        return {name: log.read_text()[-1_000:] for name, log in logs.items() if log.exists()}

    @staticmethod
    def _usual() -> dict[str, str]:
        return {name: os.environ[name] for name in KEPT if name in os.environ}

    async def _read(self, starter: Process) -> None:
        assert starter.stdout is not None
        async for line in starter.stdout:
            news: News = json.loads(line)
            self._take(news)
            async with self._changed:
                self._changed.notify_all()

    def _take(self, news: News) -> None:
        self.news.append(news)
        match news:
            case {"kind": "started", "name": name, "of": pid}:
                self.processes[name].pid = pid
            case {"kind": "ended", "name": name} if not self._stopping:
                running = self.processes[name]
                running.pid, running.is_frozen = None, False
                self.disturbed(running.name)
                task = asyncio.create_task(self._restart(running))
                self._restarts.add(task)
                task.add_done_callback(self._restarts.discard)
            case {"kind": "met", "pid": pid}:
                for running in self.processes.values():
                    if running.pid == pid:
                        running.is_frozen = True
                        self.disturbed(running.name)
            case _:
                pass
        self.told(news)

    async def _restart(self, running: Running) -> None:
        await asyncio.sleep(MOMENT)
        self.start(running.name)
