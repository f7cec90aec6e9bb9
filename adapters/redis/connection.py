"""One way to reach Redis or Valkey in every form, with every limit said aloud."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, TypeVar, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import Connection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException, RedisError
from redis.maint_notifications import MaintNotificationsConfig

from adapters.redis.address import Address, Form
from adapters.redis.clients import Cluster, SecureConnection, sentinel_pool
from adapters.redis.failure import sentence
from core.errors import StoreUnavailable

Result = TypeVar("Result")

CONNECTIONS = 50
READERS = 8  # connections that may wait for something to come
PATIENCE = 5.0  # seconds for a connection, an answer, or a free place in the pool
KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 45_000}
"""A machine without a sign of life for 45 seconds is gone."""


def connect(url: str, *, blocking: bool = False, patience: float = PATIENCE) -> Redis:
    """Return a client for any form of REDIS_URL; it connects when it is first used.

    Nothing is tried twice by the client, because it cannot know whether repeating is safe; only a command that a node
    of a cluster sent elsewhere is sent there. A connection that the server closed while it was idle is noticed and
    replaced before a command is sent, so a restarted server costs no error.

    A *blocking* client is for reads that wait for something to come: it has a few connections of its own and waits for
    an answer as long as the other machine is alive. Such a read belongs into `bounded`.
    """
    address = Address.parse(url)
    options = _options(address, blocking=blocking, patience=patience)
    is_secure, limit = address.tls is not None, READERS if blocking else CONNECTIONS
    if address.form is Form.CLUSTER:
        cluster = Cluster(address.hosts, limit=limit, patience=patience, is_secure=is_secure, **options)
        return cast("Redis", cluster)  # it has the same commands, and no common name with the other
    options |= {"db": address.db, "max_connections": limit, "timeout": patience}
    match address.form:
        case Form.SENTINEL:
            login = asdict(address.sentinel_login)
            pool = sentinel_pool(address.master, address.hosts, login, is_secure=is_secure, **options)
        case Form.SOCKET:
            pool = BlockingConnectionPool(connection_class=UnixDomainSocketConnection, path=address.path, **options)
        case _:
            host, port = address.hosts[0]
            kind = SecureConnection if is_secure else Connection
            pool = BlockingConnectionPool(connection_class=kind, host=host, port=port, **options)
    return Redis.from_pool(pool)


@contextmanager
def translated() -> Generator[None, None, None]:
    """Turn every failure of the server, or of the way to it, into `StoreUnavailable` with the failure as its cause.

    Before Python 3.12 the vendor's client may swallow a cancellation; whoever was cancelled is told so here.
    """
    task = asyncio.current_task()
    cancellations = task.cancelling() if task else 0
    try:
        yield
    except (RedisError, RedisClusterException, OSError) as error:
        if task and task.cancelling() > cancellations:
            raise asyncio.CancelledError from error
        raise StoreUnavailable(sentence(error)) from error
    if task and task.cancelling() > cancellations:
        raise asyncio.CancelledError


async def bounded(read: Awaitable[Result], *, block: float, patience: float = PATIENCE) -> Result:
    """Await a read on a blocking client that the server ends after *block* seconds.

    Raises `StoreUnavailable` if the server fails, or does not end it: then it hangs, though its machine is alive.
    """
    with translated():
        async with asyncio.timeout(block + patience):
            return await read


def _options(address: Address, *, blocking: bool, patience: float) -> dict[str, Any]:
    options: dict[str, Any] = {
        "socket_timeout": None if blocking else patience,
        "socket_connect_timeout": patience,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 3,
        "legacy_responses": False,
        "decode_responses": False,
        # With notifications on, the client does not notice connections that the server has closed.
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
        **asdict(address.login),
    }
    if address.form is not Form.SOCKET:
        # A machine that is gone is noticed: idle connections by keep-alive, those with words under way by their age.
        named = {name: getattr(socket, name, None) for name in KEEPALIVE}  # not every system has them all
        kept = {option: KEEPALIVE[name] for name, option in named.items() if option is not None}
        options |= {"socket_keepalive": True, "socket_keepalive_options": kept}
    if tls := address.tls:
        options |= {
            "ssl_ca_certs": tls.ca_certs,
            "ssl_certfile": tls.certfile,
            "ssl_keyfile": tls.keyfile,
            "ssl_cert_reqs": "required" if tls.verifies else "none",
            "ssl_check_hostname": tls.checks_name,
        }
    return options
