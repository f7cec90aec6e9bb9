"""A master that Sentinels know: a bounded pool of connections to whichever server it is at the moment."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import Connection
from redis.asyncio.sentinel import (
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
)

from adapters.redis.address import Host
from adapters.redis.secure import SecureConnection, SecureManagedConnection

QUESTIONS = 4  # connections to one Sentinel
PATIENCE = 1.0  # seconds for one Sentinel, as there are others


class MasterPool(BlockingConnectionPool, SentinelConnectionPool):
    """Waits for a free place, asks the Sentinels before each new connection, and closes those with itself."""

    _asking: asyncio.Task[Host] | None = None

    async def get_master_address(self) -> Host:
        """Return the master's host and port; connections that are opened at the same time share one question."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        return await asyncio.shield(self._asking)  # whoever goes away leaves it to the others

    async def aclose(self) -> None:
        """Close the connections to the master and to the Sentinels."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait({self._asking})
        await super().aclose()
        await cast("Sentinel", self.sentinel_manager).aclose()

    async def _ask(self) -> Host:
        return cast("Host", await super().get_master_address())


def pool(
    master: str, hosts: Sequence[Host], *, sentinel_options: Mapping[str, Any], is_secure: bool, **options: Any
) -> MasterPool:
    """Make a pool for the *master*; *options* are those of its connections."""
    sentinel = Sentinel(())
    sentinel.sentinels = [_client(host, sentinel_options, is_secure=is_secure) for host in hosts]
    kind = SecureManagedConnection if is_secure else SentinelManagedConnection
    return MasterPool(connection_class=kind, service_name=master, sentinel_manager=sentinel, **options)


def _client(host: Host, options: Mapping[str, Any], *, is_secure: bool) -> Redis:
    name, port = host
    kind = SecureConnection if is_secure else Connection
    limits: dict[str, Any] = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
    common: dict[str, Any] = {**options, **limits, "host": name, "port": port}
    return Redis.from_pool(
        BlockingConnectionPool(connection_class=kind, max_connections=QUESTIONS, timeout=PATIENCE, **common)
    )
