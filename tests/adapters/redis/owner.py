"""A process that owns a private server, writes one value and waits; tests end it in unfriendly ways."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import cast

from redis.asyncio import Redis

from adapters.redis.connection import connect
from adapters.redis.server import PrivateServer
from tests.fixtures.redis import say


async def server_process(client: Redis) -> int:
    """Ask a server for its process id."""
    report = cast("dict[str, int]", await say(client, "INFO", "server"))
    return report["process_id"]


async def own(folder: Path) -> None:
    """Start the server, store a value, print the server's process, and wait to be ended."""
    async with PrivateServer(folder) as url:
        client = connect(url)
        await client.set("key", "value", ex=600)
        print(await server_process(client), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(own(Path(sys.argv[1])))
