"""One contender on a server of its own: its processes, and what happened to which job when."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bench.environment import interpreter
from bench.inbox.job import Parcel, Setup, pin
from tests.servers.valkey import Node, alone

LOCK = Path(__file__).with_name("requirements.lock")
OURS = "ours"
LOOK = 0.02  # seconds between two looks
PATIENCE = 60.0  # seconds until something that has to happen has happened
COUNTED = ("total_net_input_bytes", "total_net_output_bytes")
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
FIRST, LAST = (CORES[0], CORES[-1]) if len(CORES) > 1 else (None, None)


@dataclass(frozen=True, slots=True)
class Happened:
    """What a process told: a job was put, begun or ended, at seconds since 1970."""

    worker: int
    what: str
    number: int
    at: float


@dataclass(frozen=True, slots=True)
class Spent:
    """What the server has done since it began: commands, those within scripts included, and bytes both ways."""

    commands: int
    sent: int

    def __sub__(self, earlier: Spent) -> Spent:
        return Spent(self.commands - earlier.commands, self.sent - earlier.sent)


class Arena:
    """A contender's workers share the first core; the server and who puts have the last."""

    def __init__(self, contender: str, setup: Setup, node: Node, folder: Path) -> None:
        self._module = f"bench.inbox.contenders.{contender}"
        self._python = Path(sys.executable) if contender == OURS else interpreter("queues", LOCK)
        self._setup = setup
        self._node = node
        self._folder = folder
        self._outputs: list[Path] = []
        self._workers: list[subprocess.Popen[bytes]] = []

    def work(self) -> None:
        """Start a worker, and wait until it is about to look for jobs."""
        before = len(self._outputs)
        self._workers.append(self._start("work", FIRST, []))
        self.until(lambda: any(one.what == "ready" and one.worker == before for one in self.happened()))

    def kill(self, number: int) -> float:
        """End a worker without a word; give the time of it."""
        at = time.time()
        self._workers[number].kill()
        self._workers[number].wait()
        return at

    def put(self, parcels: Sequence[Parcel], *, every: float = 0.0) -> None:
        """Put jobs, so many seconds apart."""
        lines = [str(every), *(parcel.written() for parcel in parcels)]
        assert self._start("put", LAST, lines).wait() == 0

    def happened(self) -> list[Happened]:
        """Give what happened until now, in the order of time."""
        told: list[Happened] = []
        for worker, path in enumerate(self._outputs):
            whole = path.read_bytes().rpartition(b"\n")[0]
            told += (Happened(worker, **json.loads(line)) for line in whole.splitlines())
        return sorted(told, key=lambda one: one.at)

    def times(self, what: str) -> dict[int, list[float]]:
        """Give the times at which something happened, by job."""
        found: dict[int, list[float]] = {}
        for one in self.happened():
            if one.what == what and one.number >= 0:
                found.setdefault(one.number, []).append(one.at)
        return found

    def until(self, is_true: Callable[[], bool], patience: float = PATIENCE) -> bool:
        """Wait until something is true; say whether it came to that."""
        ends = time.monotonic() + patience
        while not (found := is_true()) and time.monotonic() < ends:
            time.sleep(LOOK)
        return found

    def spent(self) -> Spent:
        """Ask the server what it has done."""
        stats = dict(line.split(":") for line in self._info("stats"))
        calls = sum(int(line.split("calls=")[1].split(",")[0]) for line in self._info("commandstats"))
        return Spent(calls, sum(int(stats[name]) for name in COUNTED))

    def end(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.kill()
            worker.wait()

    def _info(self, section: str) -> list[str]:
        text: str = self._node.say("INFO", section)
        return [line for line in text.splitlines() if ":" in line]

    def _start(self, role: str, core: int | None, lines: Sequence[str]) -> subprocess.Popen[bytes]:
        path = self._folder / f"{len(self._outputs)}.jsonl"
        self._outputs.append(path)
        setup = dataclasses.replace(self._setup, core=core)
        given = "\n".join([json.dumps(dataclasses.asdict(setup)), *lines]).encode()
        command = [os.fspath(self._python), "-m", self._module, role]
        with path.open("wb") as output, _input(given) as source:
            return subprocess.Popen(command, stdin=source, stdout=output)


@contextmanager
def _input(given: bytes) -> Generator[IO[bytes]]:
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        yield file


@contextmanager
def arena(contender: str, setup: Setup) -> Generator[Arena]:
    """Start a server with an append-only file, and give the contender on it."""
    with tempfile.TemporaryDirectory() as name, alone(Path(name)) as node:
        opened = Arena(contender, dataclasses.replace(setup, url=f"redis://{node.host}/0"), node, Path(name))
        try:
            yield opened
        finally:
            opened.end()


def keep_to_the_last_core() -> None:
    """Leave the first core to the workers; servers that start from here keep to the last as well."""
    pin(LAST)
