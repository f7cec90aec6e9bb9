"""The vendor's clients with what they lack: connections with TLS, a master that Sentinels know, and a cluster."""

from __future__ import annotations

import asyncio
from asyncio import StreamWriter
from collections.abc import Coroutine, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection, RedisSSLContext, SSLConnection
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool, SentinelManagedConnection
from redis.exceptions import MaxConnectionsError

from adapters.redis.address import Host

QUESTIONS = 4  # connections to one Sentinel
TIMEOUT = 1.0  # seconds for one Sentinel, as there are others


class SecureConnection(SSLConnection):
    """One server's connection with TLS; those with equal settings share a context, until one of its files is renewed.

    To make one for each would read all CAs of the system every time.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType] - its options are untyped
        own = cast("Any", self.ssl_context)
        files: list[str | None] = [own.ca_certs, own.certfile, own.keyfile]
        versions = tuple((file, Path(file).stat().st_mtime_ns) if file else (None, 0) for file in files)
        self.ssl_context = _shared(versions, cert_reqs=own.cert_reqs, check_hostname=own.check_hostname)

    async def disconnect(self, nowait: bool = False, *args: Any, **options: Any) -> None:
        """Close the connection; one that nobody waits for is broken, and is cut without the farewell of TLS."""
        writer = cast("StreamWriter | None", cast("Any", self)._writer)  # noqa: SLF001 - no public name
        await super().disconnect(nowait, *args, **options)
        if nowait and writer is not None:
            writer.transport.abort()


class SecureManagedConnection(SentinelManagedConnection, SecureConnection):
    """The same to whichever server the Sentinels name."""


@lru_cache(maxsize=4)
def _shared(versions: tuple[tuple[str | None, int], ...], **settings: Any) -> RedisSSLContext:
    ca_certs, certfile, keyfile = (file for file, _ in versions)
    return RedisSSLContext(ca_certs=ca_certs, certfile=certfile, keyfile=keyfile, **settings)


class MasterPool(BlockingConnectionPool, SentinelConnectionPool):
    """A bounded pool of connections to whichever server is the master at the moment.

    It waits for a free place, asks the Sentinels before each new connection, and closes those with itself.
    """

    _asking: asyncio.Task[Host] | None = None

    async def get_master_address(self) -> Host:
        """Return the master's host and port; connections that are opened at the same time share one question."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(cast("Coroutine[Any, Any, Host]", super().get_master_address()))
        return await asyncio.shield(self._asking)  # whoever goes away leaves it to the others

    async def aclose(self) -> None:
        """Close the connections to the master and to the Sentinels."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})
        await super().aclose()
        await cast("Sentinel", self.sentinel_manager).aclose()


def sentinel_pool(
    master: str, hosts: Sequence[Host], login: Mapping[str, Any], *, is_secure: bool, **options: Any
) -> MasterPool:
    """Return a pool for the *master*; *options* are those of its connections, and of those to its Sentinels."""
    limits = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT, "db": 0}
    each: dict[str, Any] = {**options, **login, **limits, "max_connections": QUESTIONS, "timeout": TIMEOUT}
    kind = SecureConnection if is_secure else Connection
    sentinel = Sentinel(())
    for host, port in hosts:
        connections = BlockingConnectionPool(connection_class=kind, host=host, port=port, **each)
        sentinel.sentinels.append(Redis.from_pool(connections))
    managed = SecureManagedConnection if is_secure else SentinelManagedConnection
    return MasterPool(connection_class=managed, service_name=master, sentinel_manager=sentinel, **options)


class FreshConnection(Connection):
    """Looks before each command whether the server has closed the connection, and connects again if so.

    The vendor's pools do so for one server, but its cluster does not.
    """

    async def check_health(self) -> None:
        """Replace a connection that has ended; nothing has been sent on it yet."""
        if await self.can_read():
            await self.disconnect(nowait=True)
            await self.connect_check_health(check_health=False)
        await super().check_health()


class FreshSecureConnection(FreshConnection, SecureConnection):
    """The same with TLS."""


class Cluster(RedisCluster):
    """Sends each command to the node that has its key, a bounded number at once; the others wait for their turn."""

    def __init__(self, hosts: Sequence[Host], *, limit: int, timeout: float, is_secure: bool, **options: Any) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - some of its options are untyped
            startup_nodes=[ClusterNode(host, port) for host, port in hosts],
            max_connections=2 * limit,  # of a node; broken ones count until they are closed
            ssl=is_secure,
            **options,
        )
        kind = FreshSecureConnection if is_secure else FreshConnection
        self.connection_kwargs["connection_class"] = kind  # of the nodes that will be found
        for node in self.startup_nodes:
            node.connection_class = kind
        self._places = asyncio.Semaphore(limit)
        self._timeout = timeout

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        """Send one command, once; only a node that did not execute it, since it has not the key, may send it on."""
        try:
            async with asyncio.timeout(self._timeout):
                await self._places.acquire()
        except TimeoutError:
            raise MaxConnectionsError("No connection available.") from None
        try:
            await self.initialize()  # otherwise the very first command would go to any node
            return await super().execute_command(*args, **kwargs)
        finally:
            self._places.release()

    async def aclose(self) -> None:
        """Close every connection, also after a failure, when the vendor takes the client for one not yet in use."""
        await super().aclose()
        await self.nodes_manager.aclose()
        await self.nodes_manager.aclose("startup_nodes")
        # Nodes that were replaced are closed in the background, which nobody waits for otherwise.
        closing = cast("set[asyncio.Task[None]]", self.nodes_manager._background_tasks)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        await asyncio.gather(*closing, return_exceptions=True)
