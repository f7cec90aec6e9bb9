"""A Redis server, the model, and workers, each in a process of its own, with one index that was made before."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from bench.chat.load import Notes, process
from bench.chat.model import Tempo
from bench.scale import model, product
from bench.scale.product import Post, Report
from bench.scale.wall import Seen
from tests.servers.valkey import Node, alone


@dataclass
class World:
    """Who is there; `begin` lets the workers work."""

    redis: Node
    model: Connection
    workers: Sequence[Connection]

    @property
    def url(self) -> str:
        """Where the server is."""
        return f"redis://{self.redis.host}/0"

    def begin(self) -> None:
        """Let all workers work."""
        for worker in self.workers:
            worker.send("work")
        for worker in self.workers:
            worker.recv()

    def report(self) -> Reports:
        """Give what all saw since the last report."""
        for each in (*self.workers, self.model):
            each.send("report")
        found: list[Report] = [worker.recv() for worker in self.workers]
        return Reports([one.notes for one in found], _joined([one.seen for one in found]), self.model.recv())


@dataclass(frozen=True, slots=True)
class Reports:
    """The notes of each worker, what all saw together, and the seconds of the model by number."""

    notes: Sequence[Notes]
    seen: Seen
    spent: dict[int, float] = field(default_factory=dict[int, float])


def _joined(seen: Sequence[Seen]) -> Seen:
    whole = Seen()
    for one in seen:
        whole.begun |= one.begun
        whole.first |= one.first
        whole.last |= one.last
        whole.not_found += one.not_found
        whole.wrong += one.wrong
    return whole


@contextmanager
def index() -> Generator[str]:
    """Make the index, in a process of its own, since that loads much."""
    with tempfile.TemporaryDirectory() as data:
        with process(_prepare, data) as working:
            working.recv()
        yield data


def _prepare(pipe: Connection, data: str) -> None:
    product.prepare(data)
    pipe.send("made")


@contextmanager
def world(data: str, tempo: Tempo, *, workers: int, seats: int, cores: Sequence[int | None]) -> Generator[World]:
    """Start all of them; the workers share the first of the cores, and the model has the last."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        redis = stack.enter_context(alone(Path(folder)))
        speaking = stack.enter_context(process(model.serve, tempo, cores[-1]))
        post = Post(f"redis://{redis.host}/0", speaking.recv(), data, seats, cores[0])
        working = [stack.enter_context(process(product.serve, post)) for _ in range(workers)]
        for worker in working:
            worker.recv()
        yield World(redis, speaking, working)
