"""How the store is: what it is, its clock, our rights there, and what could be better."""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from adapters.redis.connection import check_version, translated
from adapters.redis.failure import NODE, OPERATORS
from core.errors import Misconfigured, StoreUnavailable

if TYPE_CHECKING:
    from redis.asyncio import Redis

Facts: TypeAlias = Mapping[str, object]

LARGEST_SKEW = 5.0  # seconds
HANDSHAKE = 2.0  # seconds
PREFIX = "footnote:"

# The commands that are needed, by what stands behind them so that nothing changes as long as the key is not there.
HARMLESS: Mapping[str, str] = {
    "": "TIME",
    "{key}": "DEL, EXISTS, GET, HGETALL, HLEN, LLEN, LPOP, MGET, RPOP, TYPE, ZCARD, ZPOPMIN",
    "{key} 1": "HDEL, HEXISTS, HGET, HMGET, PEXPIRE, XINFO CONSUMERS, XPENDING, ZMSCORE, ZREM, ZSCORE",
    "{key} 0": "LINDEX",
    "{key} 0 -1": "LRANGE, LTRIM, ZRANGE",
    "{key} 0 1": "LSET, ZCOUNT, ZRANGEBYSCORE, ZREMRANGEBYRANK, ZREMRANGEBYSCORE",
    "{key} BEFORE 1 1": "LINSERT",
    "{key} 1 XX": "SET",
    "{key} 1 1": "LREM, XGROUP DELCONSUMER",
    "{key} XX 1 1": "ZADD",
    "{key} 1-1": "XDEL",
    "{key} 1 1-1": "XACK",
    "{key} 1 1 0 1-1": "XCLAIM",
    "{key} NOMKSTREAM * 1 1": "XADD",
    "{key} 1 0": "XGROUP CREATE",
    "{key} - +": "XRANGE, ZRANGEBYLEX",
    "STREAMS {key} 0": "XREAD",
    "GROUP 1 1 STREAMS {key} >": "XREADGROUP",
    "return 1 {key}": "EVAL",
    f"{'0' * 40} 1 {{key}}": "EVALSHA",
    "return": "SCRIPT LOAD",
}

# What would make a key: the first does, and it goes by itself should it not be removed.
MAKING = "LPUSH {key} 1, PEXPIRE {key} 9999, RPUSH {key} 1, HSET {key} 1 1, HSETNX {key} 1 1, HINCRBY {key} 1 1"

EVICTS = "Under pressure it evicts waiting questions and conversations: set maxmemory-policy to noeviction."
FORGETS = "It writes nothing to disk, so a restart loses what was stored: set appendonly to yes."
UNTOLD = (
    "It does not say whether it may evict questions, or whether it keeps anything on disk: make sure that it evicts "
    "nothing and writes to disk."
)
LOSES = "The data store may lose waiting questions. {} Or set REDIS_ALLOW_LOSS=true if you accept that."
LACKING = "The user in REDIS_URL lacks these permissions: {}. Grant them with ACL SETUSER on the server."
SENTINEL = "The server in REDIS_URL is a Sentinel, and not the store itself. Write redis+sentinel://host:26379/master."


async def check(
    client: Redis, address: str, *, allows_loss: bool = False, now: Callable[[], float] = time.time
) -> tuple[str, Sequence[str]]:
    """Return in one line what the store is, *address* being its place without secrets, and advice if there is any.

    Raises `Misconfigured` for what an operator has to change, and `StoreUnavailable` for the rest.
    """
    try:
        with translated():
            facts = await _facts(client)
            _check_mode(client, facts)
            await _check_rights(client)
            await check_version(client)
            dangers = await require_durable(client, allows_loss=allows_loss)
            advice = [*await _on_clock(client, now), *dangers]
    except StoreUnavailable as error:
        if str(error) in OPERATORS:
            raise Misconfigured(str(error)) from error
        raise
    name = "a Redis server of unknown version"  # to a user without the right to ask
    for kind in ("Redis", "Valkey"):
        if version := facts.get(f"{kind.lower()}_version"):
            name = f"{kind} {version}"
    return f"{name} at {address}", advice


async def speaks_tls(host: str, port: int) -> bool:
    """Return whether a server that hung up would have listened with TLS; nothing secret is sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(HANDSHAKE):
            _, writer = await asyncio.open_connection(host, port, ssl=context)
    except OSError:
        return False
    writer.transport.abort()
    return True


async def require_durable(client: Redis, *, allows_loss: bool) -> Sequence[str]:
    """Look whether the store may lose questions that wait, by itself or in a restart; return what is to be seen to.

    Of a cluster, each node is asked. Raises `Misconfigured` where it may, unless that is allowed, and
    `StoreUnavailable`.
    """
    from redis.asyncio import RedisCluster

    with translated():
        if isinstance(client, RedisCluster):
            await client.initialize()
            found = [await _on_memory(client, target_nodes=node) for node in client.get_nodes()]
        else:
            found = [await _on_memory(client)]
    dangers = list(dict.fromkeys(danger for each in found for danger in each))
    certain = [danger for danger in dangers if danger != UNTOLD]
    if certain and not allows_loss:
        raise Misconfigured(LOSES.format(" ".join(certain)))
    return dangers


def _check_mode(client: Redis, facts: Facts) -> None:
    """Refuse what answers like a store and is none, or is a part of one."""
    from redis.asyncio import RedisCluster

    modes = (facts.get("redis_mode"), facts.get("server_mode"))
    if "sentinel" in modes:
        raise Misconfigured(SENTINEL)
    if "cluster" in modes and not isinstance(client, RedisCluster):
        raise Misconfigured(NODE)


async def _facts(client: Redis, **node: object) -> Facts:
    from redis.exceptions import NoPermissionError

    with suppress(NoPermissionError):
        return cast("dict[str, object]", await _say(client, "INFO", **node))
    return {}


async def _on_clock(client: Redis, now: Callable[[], float]) -> list[str]:
    before = now()
    seconds, micros = cast("tuple[int, int]", await _say(client, "TIME"))
    skew = seconds + micros / 1e6 - (before + now()) / 2
    if abs(skew) <= LARGEST_SKEW:
        return []
    direction = "ahead of" if skew > 0 else "behind"
    return [f"Its clock is {abs(skew):.0f} s {direction} the one here: synchronise both with a time server."]


async def _check_rights(client: Redis) -> None:
    """Try every command that is needed, on a key of ours that nobody else has."""
    key = f"{PREFIX}doctor:{{{secrets.token_hex(8)}}}"
    harmless = [(name, shape) for shape, names in HARMLESS.items() for name in names.split(", ")]
    making = [each.partition(" ")[::2] for each in MAKING.split(", ")]
    for commands in (harmless, making):
        tried = [await _lack(client, name, *shape.format(key=key).split()) for name, shape in commands]
        missing = sorted({lack for lack in tried if lack})
        if missing and commands is making:
            await _say(client, "DEL", key)
        if missing:
            raise Misconfigured(LACKING.format(", ".join(missing)))
    await _say(client, "RPUSH", key, "1")  # a server that has no room, or is a replica, says so here
    await _say(client, "DEL", key)


async def _lack(client: Redis, name: str, *words: str) -> str | None:
    """Return the right that is missing for a command, which is tried."""
    from redis.exceptions import NoPermissionError, ResponseError

    try:
        await _say(client, name, *words)
    except NoPermissionError as error:
        # The server's words about a key are: No permissions to access a key
        return f"{PREFIX}* keys" if "access" in str(error) else name
    except ResponseError:
        pass  # no such key, no such script, another kind of value: it may be called
    return None


async def _on_memory(client: Redis, **node: object) -> list[str]:
    """Return in what ways a server may lose what it was given, as it says by `INFO` or else by its settings."""
    facts = await _facts(client, **node)
    most, policy = facts.get("maxmemory"), facts.get("maxmemory_policy")
    if most is None:
        most, policy = await _setting(client, "maxmemory", **node), await _setting(client, "maxmemory-policy", **node)
    is_kept = facts.get("aof_enabled")
    if is_kept is None and (said := await _setting(client, "appendonly", **node)) is not None:
        is_kept = said == "yes"
    saved = None if is_kept else await _setting(client, "save", **node)  # where snapshots are written, that is enough
    is_told = is_kept or saved or (is_kept is not None and saved is not None)
    dangers = [EVICTS] if most not in (None, 0, "0") and policy != "noeviction" else []
    if is_told and not is_kept and not saved:
        dangers.append(FORGETS)
    return dangers if is_told and most is not None else [*dangers, UNTOLD]


async def _setting(client: Redis, name: str, **node: object) -> str | None:
    """Return how a server is set; None where nobody may ask, as with many hosted servers, or it knows no such thing."""
    from redis.exceptions import ResponseError

    with suppress(ResponseError):
        said = cast("dict[Any, Any]", await _say(client, "CONFIG GET", name, **node))
        found = said.get(name, said.get(name.encode()))
        return found.decode() if isinstance(found, bytes) else found
    return None


async def _say(client: Redis, *words: str | int, **node: object) -> object:
    execute = cast("Callable[..., Awaitable[object]]", client.execute_command)
    return await execute(*words, **node)
