"""What is peculiar to promises in Redis: what nobody waits for any more is never written."""

from __future__ import annotations

import asyncio
import time

import pytest

from adapters.redis.connection import connect
from adapters.redis.promises import PUT, RedisPromises
from adapters.redis.seal import Seal
from core.errors import StoreUnavailable
from tests.fixtures.redis import Place, clean, place
from tests.inboxes import SECRET

SHORT = 0.3  # seconds
LIVE = 5.0  # seconds
MANY = 100


@pytest.fixture(name="where", params=["redis", "sentinel", "cluster"])
def _where(request: pytest.FixtureRequest) -> Place:
    return place(request.param, request)


async def frozen_for(where: Place, seconds: float) -> None:
    """Let all servers do nothing for a while."""
    for server in where.servers:
        server.freeze()
    await asyncio.sleep(seconds)
    for server in where.servers:
        server.thaw()


@pytest.mark.promise("asked-once")
async def test_a_server_that_was_frozen_writes_nothing_that_nobody_waits_for(where: Place) -> None:
    """Whoever asked has been told that there will be no answer, so nobody may give one later."""
    async with clean(where.url) as client:
        promises = RedisPromises(client, seal=Seal([SECRET]))
        putting = {
            str(number): asyncio.create_task(promises.put("discord", str(number), "a", within=SHORT))
            for number in range(MANY)
        }
        await asyncio.wait(putting.values(), return_when=asyncio.FIRST_COMPLETED)
        await frozen_for(where, 2 * SHORT)
        await asyncio.wait(putting.values())
        await asyncio.sleep(SHORT)

        kept = {key for key, task in putting.items() if task.exception() is None}
        assert 0 < len(kept) < MANY
        assert set(await promises.standing("discord")) == kept


@pytest.mark.promise("asked-once")
async def test_what_arrives_too_late_is_not_written(where: Place) -> None:
    """A server that was frozen carries out what it was told before; what it has written already, it gives."""
    async with clean(where.url) as client:
        script, keys = client.register_script(PUT), ["{discord}", "{discord}:claims"]
        tried = [await script(keys, ["1", "somebody", 1000, 1000, "a", latest]) for latest in (0, 1 << 50, 0)]

    assert tried == [-1, 1, 1]


async def test_a_server_that_stands_still_for_a_moment_costs_nothing(where: Place) -> None:
    """It is written once it goes on, and known as one's own where the first try has arrived."""
    async with clean(where.url):
        client = connect(where.url, patience=SHORT)
        promises = RedisPromises(client, seal=Seal([SECRET]))
        await promises.put("discord", "1", "a", within=LIVE)
        freezing = asyncio.create_task(frozen_for(where, 2 * SHORT))
        await asyncio.sleep(0)
        is_new = await promises.put("discord", "2", "b", within=LIVE)
        await freezing

        assert is_new
        assert await promises.standing("discord") == {"1": "a", "2": "b"}
        await client.aclose()


async def test_nobody_waits_longer_than_said() -> None:
    """Also where no server is."""
    client = connect("redis://127.0.0.1:1/0")
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        await RedisPromises(client, seal=Seal([SECRET])).put("discord", "1", "a", within=SHORT)

    assert time.monotonic() - began < LIVE
    await client.aclose()
