"""Lets time pass for a server, which reads no clock of ours."""

from __future__ import annotations

from typing import cast

from redis.asyncio import Redis

from tests.fixtures.redis import all_keys, say


async def let_pass(client: Redis, seconds: float) -> None:
    """Take the time from every expiry, and move what is noted by its time into the past."""
    milliseconds = int(seconds * 1000)
    for key in await all_keys(client):
        await client.pexpire(key, await client.pttl(key) - milliseconds)
        if await say(client, "TYPE", key) == b"zset":
            for member in cast("list[bytes]", await say(client, "ZRANGE", key, "0", "-1")):
                await say(client, "ZINCRBY", key, str(-milliseconds), member)
