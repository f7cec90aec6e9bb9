"""One way to reach Redis or Valkey in every form, with every limit said aloud, and to run scripts there."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import resources
from typing import Any, TypeAlias, TypeVar, cast

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import Connection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException, RedisError
from redis.maint_notifications import MaintNotificationsConfig

from adapters.redis.address import Address, Form
from adapters.redis.clients import Cluster, SecureConnection, sentinel_pool
from adapters.redis.failure import HALF, NEWER, is_final, sentence
from core.errors import StoreUnavailable

Result = TypeVar("Result")

CONNECTIONS = 50
READERS = 8  # connections that may wait for something to come
TIMEOUT = 5.0  # seconds for a connection, an answer, or a free place in the pool
KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 45_000}
"""A machine without a sign of life for 45 seconds is gone."""

CLOSED = "the handler is closed"  # says uvloop, with no `OSError`, where a connection went away before a word was sent

Argument: TypeAlias = str | bytes | int | float
VERSION = b"1"  # of all that is stored; what was stored before there was a number is of the first
VERSION_KEY = "footnote:version"
MOVING = b"moving"  # instead of the version, until all that belongs there has been copied there
SCRIPT = re.compile(r"^function script\.(?P<name>\w+)\((?P<arguments>[^)]*)\)$", re.MULTILINE)


def connect(url: str, *, blocking: bool = False, timeout: float = TIMEOUT) -> Redis:
    """Return a client for any form of REDIS_URL; it connects when it is first used.

    Nothing is tried twice by the client, because it cannot know whether repeating is safe; only a command that a node
    of a cluster sent elsewhere is sent there. A connection that the server closed while it was idle is noticed and
    replaced before a command is sent, so a restarted server costs no error.

    A *blocking* client is for reads that wait for something to come: it has a few connections of its own and waits for
    an answer as long as the other machine is alive. Such a read belongs into `bounded`.
    """
    address = Address.parse(url)
    options = _options(address, blocking=blocking, timeout=timeout)
    is_secure, limit = address.tls is not None, READERS if blocking else CONNECTIONS
    if address.form is Form.CLUSTER:
        cluster = Cluster(address.hosts, limit=limit, timeout=timeout, is_secure=is_secure, **options)
        return cast("Redis", cluster)  # it has the same commands, and no common name with the other
    options |= {"db": address.db, "max_connections": limit, "timeout": timeout}
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
    except (RedisError, RedisClusterException, OSError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and CLOSED not in str(error):
            raise
        if task and task.cancelling() > cancellations:
            raise asyncio.CancelledError from error
        raise StoreUnavailable(sentence(error), is_final=is_final(error)) from error
    if task and task.cancelling() > cancellations:
        raise asyncio.CancelledError


async def bounded(read: Awaitable[Result], *, block: float, within: float = TIMEOUT) -> Result:
    """Await a read on a blocking client that the server ends after *block* seconds.

    Raises `StoreUnavailable` if the server fails, or does not end it: then it hangs, though its machine is alive.
    """
    with translated():
        async with asyncio.timeout(block + within):
            return await read


async def newest(client: Redis, key: str, *, limit: int = 0) -> list[tuple[str, float]]:
    """Return the members of a sorted set with their times, the latest first; all if the *limit* is 0.

    Raises `StoreUnavailable`.
    """
    with translated():
        found = await client.zrange(key, 0, limit - 1, desc=True, withscores=True)  # pyright: ignore[reportUnknownMemberType] - an option of it is untyped
    return [(member.decode(), score) for member, score in cast("list[tuple[bytes, float]]", found)]


async def names(client: Redis, beginning: str) -> Sequence[str]:
    """Return the names of all keys that begin so; the server looks at every key. Raises `StoreUnavailable`."""
    with translated():
        found = cast("AsyncIterator[bytes]", client.scan_iter(match=f"{beginning}*", count=1_000))  # pyright: ignore[reportUnknownMemberType] - it takes untyped options
        return sorted({str(name, "utf-8", "replace") async for name in found})


def _options(address: Address, *, blocking: bool, timeout: float) -> dict[str, Any]:
    options: dict[str, Any] = {
        "socket_timeout": None if blocking else timeout,
        "socket_connect_timeout": timeout,
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
    if address.tls:
        options |= asdict(address.tls)
    return options


class ScriptRunner:
    """Runs the scripts of some files on the server, each as one step that happens wholly or not at all.

    A script is a function of `script` in a file of the folder `scripts`; each file finds the local functions of those
    before it. What is sent is the text of the files, the same for all of their scripts, so that a server has to be told
    it once.
    """

    def __init__(self, client: Redis, *files: str) -> None:
        folder = resources.files("adapters.redis").joinpath("scripts")
        text = "\n".join(folder.joinpath(f"{name}.lua").read_text("utf-8") for name in ("prelude", *files))
        self._client = client
        self._is_checked = False
        self._script = client.register_script(f"{text}\nreturn run(unpack(ARGV))\n")
        self._names = {str(each["name"]): re.split(r",\s+", str(each["arguments"])) for each in SCRIPT.finditer(text)}

    async def __call__(self, script: str, *keys: str, **given: Argument) -> Any:
        """Return what a script does with those of the arguments that it names. Raises `StoreUnavailable`.

        The keys of one call share a hash tag; the first may be the beginning of the names of all others. What is a
        number or a truth value here is one there.
        """
        if not self._is_checked:
            await check_version(self._client)
            self._is_checked = True
        kinds, values = "", list[Argument]()
        for value in (given[name] for name in self._names[script] if name):
            kinds += "b" if isinstance(value, bool) else "n" if isinstance(value, int | float) else "s"
            values.append(int(value) if isinstance(value, bool) else value)
        with translated():
            return await self._script(keys, [script, kinds, *values])


async def check_version(client: Redis) -> None:
    """Note the version of what is stored where none is noted yet. Raises `StoreUnavailable` if it is not ours.

    A version that stores something in another form raises the number, and brings what is older into its own form here,
    as one step, before it notes its number.
    """
    with translated():
        found = await client.get(VERSION_KEY)
    if found not in (None, VERSION):
        raise StoreUnavailable(HALF if found == MOVING else NEWER)
    if found is None:
        with suppress(StoreUnavailable), translated():  # a server that is full can still be read
            await client.set(VERSION_KEY, VERSION, nx=True)
