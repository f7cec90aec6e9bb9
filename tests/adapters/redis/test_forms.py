"""What holds for one server, for a master behind Sentinels and for a cluster alike."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from typing import cast

import pytest
from redis.asyncio import Redis

from adapters.redis.connection import READERS, bounded, connect, translated
from core.errors import StoreUnavailable
from tests.fixtures.redis import Place, clean, place, say

KEY = "footnote:test"
SHORT = 0.8  # seconds; a time-out that a frozen server exceeds, and one that is merely busy does not


@pytest.fixture(name="where", params=["redis", "tls", "sentinel", "cluster"])
def _where(request: pytest.FixtureRequest) -> Place:
    return place(request.param, request)


async def count(client: Redis) -> int:
    """Read what `INCR` has made of the key."""
    return int(cast("bytes | None", await client.get(KEY)) or 0)


async def look_around(where: Place) -> None:
    """Talk to the server over a new connection; what it has closed before is known to be closed afterwards."""
    client = connect(where.url)
    await client.get(KEY)
    await client.aclose()


async def pop(client: Redis, *, seconds: float) -> object:
    """Wait for something to come into a list."""
    return await cast("Awaitable[object]", client.blpop([f"{KEY}:list"], timeout=seconds))


@pytest.mark.promise("written-once")
async def test_a_command_to_a_server_that_stalls_is_never_repeated(where: Place) -> None:
    """After the time-out the server goes on with what it had been sent: once, or not at all."""
    async with clean(where.url) as observer:
        client = connect(where.url, timeout=SHORT)
        await client.set(KEY, 0, ex=60)
        for server in where.servers:
            server.freeze()
        counting = asyncio.ensure_future(client.incr(KEY))
        await asyncio.wait({counting}, timeout=SHORT * 1.5)  # a client that tries again finds the server awake
        for server in where.servers:
            server.thaw()
        with pytest.raises(StoreUnavailable, match="cannot be reached"), translated():
            await counting
        assert await count(observer) in (0, 1)
        with translated():
            await client.incr(KEY)  # and the client is as good as before
        assert await count(observer) in (1, 2)
        await client.aclose()


@pytest.mark.parametrize("where", ["redis", "sentinel", "cluster"], indirect=True)  # the proxy for TLS closes later
async def test_connections_that_the_server_closed_cost_no_error(where: Place) -> None:
    """Each one is found to be closed before a command is sent on it, as after a restart."""
    async with clean(where.url) as client:
        await asyncio.gather(*(client.set(f"{KEY}:{number}", number, ex=60) for number in range(20)))
        for server in where.servers:
            server.hang_up()
        await look_around(where)

        values = await asyncio.gather(*(client.get(f"{KEY}:{number}") for number in range(20)))
        assert values == [str(number).encode() for number in range(20)]


async def test_a_wrong_login_names_the_setting_and_no_secret(where: Place) -> None:
    """Neither the sentence nor anything that a traceback prints holds the password."""
    scheme, _, rest = where.url.partition("://")
    client = connect(f"{scheme}://somebody:hunter2@{rest}")
    with pytest.raises(StoreUnavailable, match="Check the user and the password in REDIS_URL") as caught, translated():
        await client.get(KEY)
    await client.aclose()

    assert "hunter2" not in "".join(traceback.format_exception(caught.value)) + repr(client)


async def test_a_full_pool_lets_callers_wait_and_then_gives_up(where: Place) -> None:
    """One caller more than there are places is unavailable after its patience; the others are served."""
    async with clean(where.url):
        client = connect(where.url, blocking=True, timeout=SHORT)
        await client.get(KEY)
        waiting = [asyncio.create_task(pop(client, seconds=SHORT * 2)) for _ in range(READERS)]
        await asyncio.sleep(0)

        with pytest.raises(StoreUnavailable, match="cannot be reached"), translated():
            await client.get(KEY)
        assert await asyncio.gather(*waiting) == [None] * READERS
        assert await client.get(KEY) is None
        await client.aclose()


async def test_more_callers_than_places_are_served_in_turn(where: Place) -> None:
    """Two hundred at once, over fifty connections."""
    async with clean(where.url) as client:
        assert await asyncio.gather(*(client.get(f"{KEY}:{n}") for n in range(200))) == [None] * 200


async def test_a_blocking_read_may_take_longer_than_patience(where: Place) -> None:
    """It waits as long as it asked to, and comes back with nothing."""
    async with clean(where.url):
        client = connect(where.url, blocking=True, timeout=SHORT)
        assert await bounded(pop(client, seconds=SHORT * 2), block=SHORT * 2) is None
        await client.aclose()


async def test_a_blocking_read_wakes_up_when_something_comes(where: Place) -> None:
    """What others write reaches it at once."""
    async with clean(where.url) as writer:
        client = connect(where.url, blocking=True)
        reading = asyncio.create_task(bounded(pop(client, seconds=5), block=5))
        push = cast("Callable[..., Awaitable[int]]", writer.rpush)
        await push(f"{KEY}:list", "hello")

        assert await reading == [f"{KEY}:list".encode(), b"hello"]
        await client.aclose()


async def test_a_blocking_read_from_a_server_that_hangs_ends(where: Place) -> None:
    """A server that does not end the read itself is taken for dead a little later."""
    async with clean(where.url):
        client = connect(where.url, blocking=True)
        await client.get(KEY)
        for server in where.servers:
            server.freeze()
        try:
            with pytest.raises(StoreUnavailable, match="cannot be reached"):
                await bounded(pop(client, seconds=0.1), block=0.1, within=0.1)
        finally:
            for server in where.servers:
                server.thaw()
        await client.aclose()


async def test_a_client_that_nobody_used_is_closed_without_a_word(where: Place) -> None:
    """Neither making nor closing it reaches for the server."""
    await connect(where.url).aclose()


async def test_what_a_server_says_stays_in_the_cause(where: Place) -> None:
    """The sentence is ours."""
    async with clean(where.url) as client:
        with pytest.raises(StoreUnavailable, match="refused the request") as caught, translated():
            await say(client, "GET", KEY, "too many words")
        assert "wrong number of arguments" in str(caught.value.__cause__)
