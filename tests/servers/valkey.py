"""Real Valkey servers in the forms that people run: one on a port, one with Sentinels, and a cluster."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import redis

from adapters.redis.server import binary, guarded
from tests.servers.clock import ServerClock

PATIENCE = 30.0  # seconds for a server, or several together, to be ready; a Sentinel looks at a node every ten
PAUSE = 0.01  # seconds between two looks
SLOTS = 16_384
MASTER = "footnote"


class Node:
    """One server on a port that was free; it keeps its port and its data when it ends and starts again."""

    def __init__(
        self, folder: Path, *, sentinel: str | None = None, clock: ServerClock | None = None, **options: str
    ) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self._running = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        clocked = [f"{name}={value}" for name, value in clock.environment.items()] if clock else []
        self._command = ["/usr/bin/env", *clocked, os.fspath(binary())]
        if sentinel is not None:
            (folder / "sentinel.conf").write_text(sentinel)
            self._command += ["sentinel.conf", "--sentinel"]
        else:
            # No test ends the machine itself, and to wait for its disk can take seconds.
            options = {"save": "", "appendonly": "yes", "appendfsync": "no", **options}
        options |= {"port": str(self.port), "bind": "127.0.0.1", "dir": os.fspath(folder)}
        for name, value in options.items():
            self._command += [f"--{name.replace('_', '-')}", value]

    @property
    def host(self) -> str:
        """The address as a URL names it."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begin to run; `wait_for` then waits until the server answers."""
        command = guarded(self._command, log=self.folder / "log", timeout=PATIENCE)
        self._process = self._running.enter_context(command)

    def stop(self) -> None:
        """End it in good order; twice is once."""
        self._running.close()

    def kill(self) -> None:
        """End it without a word, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._running.close()

    def freeze(self) -> None:
        """Let it take connections and words, and do nothing."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on with what has come meanwhile."""
        self._signal(signal.SIGCONT)
        wait_for(self)

    def hang_up(self) -> None:
        """Close the connections of all clients, as a restart does."""
        self.say("CLIENT", "KILL", "TYPE", "normal")

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def say(self, *words: str | int) -> Any:
        """Send one command as it is written in the server's manual, without an event loop."""
        with closing(redis.Redis(port=self.port, decode_responses=True, protocol=2)) as client:
            client.response_callbacks.clear()  # answers stay as they come
            return cast("Any", client.execute_command(*words))  # pyright: ignore[reportUnknownMemberType]

    def answers(self) -> bool:
        """Whether it is up and has read its data."""
        try:
            return bool(self.say("PING"))
        except redis.RedisError:
            return False


def wait_for(*nodes: Node) -> None:
    """Return when all of them answer."""
    until(lambda: all(node.answers() for node in nodes), what="an answer of the servers")


def until(is_true: Callable[[], bool], *, what: str) -> None:
    """Return as soon as *is_true* says so; what is waited for happens in other processes."""
    started = time.monotonic()
    while not is_true():
        assert time.monotonic() - started < PATIENCE, f"{what} did not come"
        time.sleep(PAUSE)


def free_port() -> int:
    """Give a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def running(*nodes: Node) -> Generator[None, None, None]:
    """Run servers, all answering, and end them."""
    with ExitStack() as stack:
        for node in nodes:
            stack.callback(node.kill)
            node.start()
        wait_for(*nodes)
        yield


@contextmanager
def alone(folder: Path, *, clock: ServerClock | None = None, **options: str) -> Generator[Node, None, None]:
    """One server by itself."""
    node = Node(folder / "alone", clock=clock, **options)
    with running(node):
        yield node


@dataclass(frozen=True)
class Watched:
    """A master, its replica, and the Sentinel that watches them."""

    master: Node
    replica: Node
    sentinel: Node

    @property
    def url(self) -> str:
        """The address of whichever is master."""
        return f"redis+sentinel://{self.sentinel.host}/{MASTER}"


@contextmanager
def watched(folder: Path, *, down_after: int = 60_000) -> Generator[Watched, None, None]:
    """A master with a replica and a Sentinel that misses it after *down_after* milliseconds."""
    node = partial(Node, repl_diskless_sync_delay="0", rdbcompression="no")  # what is written can be looked through
    master = node(folder / "master")
    replica = node(folder / "replica", replicaof=f"127.0.0.1 {master.port}")
    sentinel = Node(
        folder / "sentinel",
        sentinel=f"sentinel monitor {MASTER} 127.0.0.1 {master.port} 1\n"
        f"sentinel down-after-milliseconds {MASTER} {down_after}\n"
        f"sentinel failover-timeout {MASTER} 1000\n",
    )
    with running(master), running(replica):
        until(lambda: "state=online" in str(master.say("INFO", "replication")), what="the replica")
        with running(sentinel):
            sentinel.say("SENTINEL", "DEBUG", "INFO-PERIOD", 100)
            until(lambda: bool(sentinel.say("SENTINEL", "REPLICAS", MASTER)), what="the view of the Sentinel")
            yield Watched(master, replica, sentinel)


@dataclass(frozen=True)
class Shards:
    """Two nodes that share the keys between them."""

    nodes: tuple[Node, ...]

    @property
    def url(self) -> str:
        """The address of the cluster."""
        return f"redis+cluster://{','.join(node.host for node in self.nodes)}"

    def owner(self, slot: int) -> Node:
        """The node that has a slot, as the first one sees it."""
        first, second = self.nodes
        mine = str(first.say("CLUSTER", "MYID"))
        for start, end, (_, _, name, *_), *_ in first.say("CLUSTER", "SLOTS"):
            if start <= slot <= end:
                return first if name == mine else second
        raise AssertionError(slot)

    def move(self, slot: int) -> None:
        """Give an empty slot to the other node."""
        old = self.owner(slot)
        [new] = [node for node in self.nodes if node is not old]
        for node in (new, old):
            node.say("CLUSTER", "SETSLOT", slot, "NODE", str(new.say("CLUSTER", "MYID")))


@contextmanager
def shards(folder: Path, *, count: int = 2, **options: str) -> Generator[Shards, None, None]:
    """A cluster, which is ready some two seconds after its nodes have started.

    No node misses another, however busy the machine: a cluster that does takes no commands for a while.
    """
    common = {"cluster_enabled": "yes", "cluster_node_timeout": "60000", **options}
    buses = [free_port() for _ in range(count)]
    nodes = tuple(
        Node(folder / f"node-{n}", clock=None, cluster_port=str(bus), **common) for n, bus in enumerate(buses)
    )
    with running(*nodes):
        for n, node in enumerate(nodes):
            node.say("CLUSTER", "ADDSLOTSRANGE", n * SLOTS // count, (n + 1) * SLOTS // count - 1)
            node.say("CLUSTER", "SET-CONFIG-EPOCH", n + 1)
        for node, bus in zip(nodes[1:], buses[1:], strict=True):
            nodes[0].say("CLUSTER", "MEET", "127.0.0.1", node.port, bus)
        until(lambda: all(_is_ready(node, count) for node in nodes), what="the cluster")
        yield Shards(nodes)


def _is_ready(node: Node, count: int) -> bool:
    report = str(node.say("CLUSTER", "INFO"))
    return "cluster_state:ok" in report and f"cluster_size:{count}" in report
