"""Copies all that is stored from one server to another, as it is: texts stay encrypted, and expire when they would."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from adapters.redis.connection import names, translated
from core.errors import Misconfigured

if TYPE_CHECKING:
    from redis.asyncio import Redis

PREFIX = "footnote:"
BEGUN = f"{PREFIX}moving"  # on the target, until all is there
NOT_EMPTY = (
    "The server in REDIS_URL holds data of Footnote already, which would be mixed with what is here. Name a server, or "
    "a database of it, that is empty."
)
OLDER = (
    "The server in REDIS_URL is too old to take what the private store has written. Use Valkey 9 or newer, whose "
    "version `footnote doctor` shows."
)


async def copy_all(source: Redis, target: Redis) -> int:
    """Copy every key, and return how many there are; what was begun and broken off is done again.

    Raises `Misconfigured` where the target holds something of ours already, or is too old, and `StoreUnavailable`.
    """
    from redis.exceptions import ResponseError

    there, keys = await names(target, PREFIX), await names(source, PREFIX)
    if there and BEGUN not in there:
        raise Misconfigured(NOT_EMPTY)
    with translated():
        await target.set(BEGUN, 1)
        for key in keys:
            left = cast("int", await source.pttl(key))
            dump = cast("bytes | None", await source.dump(key))
            if dump is None:
                continue  # it has just expired
            try:
                await target.restore(key, max(left, 0), dump, replace=True)
            except ResponseError as error:
                if "DUMP payload" in str(error):
                    raise Misconfigured(OLDER) from error
                raise
        await target.delete(BEGUN)
    return len(keys)
