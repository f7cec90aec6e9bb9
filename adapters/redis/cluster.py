"""A cluster: the vendor's client with a bound on what is under way, and without stale connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from redis.asyncio import RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection
from redis.exceptions import MaxConnectionsError

from adapters.redis.address import Host
from adapters.redis.secure import SecureConnection


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

    def __init__(self, hosts: Sequence[Host], *, limit: int, patience: float, is_secure: bool, **options: Any) -> None:
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
        self._patience = patience

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        """Send one command, once; only a node that did not execute it, since it has not the key, may send it on."""
        async with self._place():
            await self.initialize()  # otherwise the very first command would go to any node
            return await super().execute_command(*args, **kwargs)

    async def aclose(self) -> None:
        """Close every connection, also after a failure, when the vendor takes the client for one not yet in use."""
        await super().aclose()
        await self.nodes_manager.aclose()
        await self.nodes_manager.aclose("startup_nodes")
        # Nodes that were replaced are closed in the background, which nobody waits for otherwise.
        closing = cast("set[asyncio.Task[None]]", self.nodes_manager._background_tasks)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        await asyncio.gather(*closing, return_exceptions=True)

    @asynccontextmanager
    async def _place(self) -> AsyncGenerator[None]:
        try:
            async with asyncio.timeout(self._patience):
                await self._places.acquire()
        except TimeoutError:
            raise MaxConnectionsError("No connection available.") from None
        try:
            yield
        finally:
            self._places.release()
