"""A master that Sentinels know: a bounded pool of connections to whichever server it is at the moment."""

from __future__ import annotations

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

    async def aclose(self) -> None:
        """Close the connections to the master and to the Sentinels."""
        await super().aclose()
        await cast("Sentinel", self.sentinel_manager).aclose()


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
