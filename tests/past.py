"""Lets time pass for a server, which reads no clock of ours, and puts there what an earlier version wrote."""

from __future__ import annotations

import json
import re
import time
from base64 import b64decode
from pathlib import Path
from typing import Any, cast

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
        if re.match(rb"footnote:quota:.*}:(window|away):", key):
            await _age(client, key, milliseconds)


async def _age(client: Redis, key: bytes, milliseconds: int) -> None:
    """Move the times that a JSON text holds into the past, unless it has gone by now."""
    held = cast("bytes | None", await client.get(key))
    if held is not None:
        noted: dict[str, Any] = json.loads(held)
        times = noted.get("marks", noted)
        times.update({name: at - milliseconds for name, at in times.items()})
        await client.set(key, json.dumps(noted), keepttl=True)


async def write_as_before(client: Redis) -> None:
    """Put there what 6259ec8 wrote, the last version before there was a number, as if it had been a moment ago.

    Its own code wrote it, to a real server. Each command lacks its key, and has what it stores in Base64; a number is a
    time. All was sealed with the secret of the tests.
    """
    written: dict[str, Any] = json.loads((Path(__file__).parent / "fixtures" / "stored_before.json").read_text())
    passed = time.time() * 1000 - written["at"]
    for key, commands in cast("dict[str, list[list[str | float]]]", written["keys"]).items():
        for name, *words in commands:
            values = [b64decode(each) if isinstance(each, str) else str(each + passed) for each in words]
            await say(client, str(name), key, *(["*", *values] if name == "XADD" else values))
        if not key.startswith("footnote:vault:"):
            await say(client, "PEXPIRE", key, "60000")
