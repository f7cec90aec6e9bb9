"""The Redis of an installation, by itself or with a replica that takes its place, and a way to it for each process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from adapters.redis.connection import connect
from adapters.redis.conversations import RedisConversations
from adapters.redis.secrets import Seal
from core.model import ThreadRef
from tests.faults.forwarder import Forwarder
from tests.faults.model import number_of
from tests.servers.valkey import MASTER, Node, Watched, alone, until, wait_for, watched

UNSETTLED = ("footnote:inbox:{inbox}:thread:*", "footnote:inbox:{inbox}:accepted:*")
ATTEMPTS = """
local found = {}
for _, key in ipairs(redis.call('KEYS', 'footnote:inbox:{inbox}:question:*')) do
  local state, attempts = unpack(redis.call('HMGET', key, 'state', 'attempts'))
  if state == 'waiting' or state == 'running' then
    table.insert(found, key)
    table.insert(found, attempts or '0')
  end
end
return found"""
CONVERSATIONS = "footnote:conversation:*"
FSYNCS = ("always", "everysec", "no")
MISSED_AFTER = 500  # milliseconds after which a Sentinel takes its master for dead


class Store(Protocol):
    """What a rig needs of it."""

    async def url(self, process: str) -> str:
        """Give the address that a process is told."""
        ...

    async def crash(self) -> None:
        """End the server without a word, and return when it answers again, or another in its place."""
        ...

    async def freeze(self, seconds: float) -> None:
        """Let it do nothing for a while."""
        ...

    @property
    def node(self) -> Node:
        """The server that answers now."""
        ...


@dataclass
class Lone:
    """One server; each process has a way to it that can be cut."""

    node: Node
    ways: dict[str, Forwarder] = field(default_factory=dict[str, Forwarder])
    stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def url(self, process: str) -> str:
        """Make a way."""
        way = self.ways[process] = await self.stack.enter_async_context(Forwarder(self.node.port))
        return f"redis://127.0.0.1:{way.port}/0"

    async def crash(self) -> None:
        """Start it again, with what it had written down."""
        async with self.turn:
            await asyncio.to_thread(self._crash)

    async def restart_empty(self) -> None:
        """Start it again without anything, as where its disk is gone."""
        async with self.turn:
            await asyncio.to_thread(self._crash, with_disk=False)

    async def empty(self) -> None:
        """Have somebody empty it."""
        async with self.turn:
            await asyncio.to_thread(self.node.say, "FLUSHALL")

    async def lose_power(self, seconds: float) -> float:
        """End it with its machine, so that what it wrote in the last seconds, if any, is lost; give since when."""
        async with self.turn:
            began = time.monotonic()
            written = self.node.folder.glob("appendonlydir/*.aof") if seconds else ()
            sizes = {path: path.stat().st_size for path in written}
            await asyncio.sleep(seconds)
            await asyncio.to_thread(self._crash, sizes)
        return began

    def _crash(self, sizes: Mapping[Path, int] = MappingProxyType({}), *, with_disk: bool = True) -> None:
        self.node.kill()
        for path, size in sizes.items():
            os.truncate(path, size)
        if not with_disk:
            shutil.rmtree(self.node.folder / "appendonlydir")
        self.node.start()
        wait_for(self.node)

    async def freeze(self, seconds: float) -> None:
        """Stop its process."""
        async with self.turn:
            self.node.freeze()
            await asyncio.sleep(seconds)
            await asyncio.to_thread(self.node.thaw)


@dataclass
class Doubled:
    """A master and a replica that a Sentinel watches."""

    servers: Watched
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def url(self, process: str) -> str:
        """Name the Sentinel."""
        return self.servers.url

    async def crash(self) -> None:
        """Kill the master, wait for the other to take its place, and let it come back below that."""
        async with self.turn:
            await asyncio.to_thread(self._fail_over)

    def _fail_over(self) -> None:
        old, new = self._master(), self._other(self._master())
        old.kill()
        until(
            lambda: self._named() == new.port and "role:master" in str(new.say("INFO", "replication")), what="a master"
        )
        old.start()
        wait_for(old)
        until(lambda: _follows(old, new), what="a replica")
        until(lambda: self._is_seen(old), what="the view of the Sentinel")

    async def freeze(self, seconds: float) -> None:
        """Do nothing: for a Sentinel, a master that does nothing is dead, and `crash` is that."""

    @property
    def node(self) -> Node:
        """Whichever is master."""
        return self._master()

    def _is_seen(self, node: Node) -> bool:
        """Say whether the Sentinel would choose a replica."""
        known = self.servers.sentinel.say("SENTINEL", "REPLICAS", MASTER)
        found = [dict(zip(one[::2], one[1::2], strict=True)) for one in known]
        return any((one["port"], one["flags"]) == (str(node.port), "slave") for one in found)

    def _named(self) -> int:
        return int(self.servers.sentinel.say("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER)[1])

    def _master(self) -> Node:
        port = self._named()
        return self.servers.master if self.servers.master.port == port else self.servers.replica

    def _other(self, node: Node) -> Node:
        return self.servers.replica if node is self.servers.master else self.servers.master


async def unsettled(store: Store) -> int:
    """Count the threads with something to do, and the platforms by whose commands something was asked."""
    return await asyncio.to_thread(lambda: sum(len(store.node.say("KEYS", pattern)) for pattern in UNSETTLED))


async def attempts(store: Store) -> Mapping[str, int]:
    """Count how often each question that waits or is worked on was begun, by the id of its message."""
    found: list[str] = await asyncio.to_thread(lambda: store.node.say("EVAL", ATTEMPTS, 0))
    return {key.rpartition(":")[2]: int(count) for key, count in zip(found[::2], found[1::2], strict=True)}


async def turns_of(store: Store, seal: Seal) -> Counter[int]:
    """Count the turns that are remembered of each question."""
    keys: list[str] = await asyncio.to_thread(lambda: store.node.say("KEYS", CONVERSATIONS))
    threads = [ThreadRef.parse(key.partition("{")[2].removesuffix("}")) for key in keys]
    async with connect(f"redis://127.0.0.1:{store.node.port}/0") as client:
        memory = RedisConversations(client, ttl=timedelta(hours=1), seal=seal)
        found = [await memory.load(thread) for thread in threads]
    return Counter(number_of(turn.question) for each in found for turn in each.turns)


def _follows(node: Node, master: Node) -> bool:
    """Say whether a node is a replica, and tell it to be one; the Sentinel would do so some ten seconds later."""
    if "role:master" in _replication(node):
        node.say("REPLICAOF", "127.0.0.1", master.port)
    return "master_link_status:up" in _replication(node)


def _replication(node: Node) -> str:
    return str(node.say("INFO", "replication"))


@contextlib.asynccontextmanager
async def open_store(folder: Path, *, doubled: bool, fsync: str) -> AsyncGenerator[Store]:
    """Run the servers; one by itself writes to its disk as *fsync* says."""
    if doubled:
        with watched(folder, down_after=MISSED_AFTER) as servers:
            yield Doubled(servers)
        return
    with alone(folder, appendfsync=fsync, rdbcompression="no") as node:
        store = Lone(node)
        async with store.stack:
            yield store
