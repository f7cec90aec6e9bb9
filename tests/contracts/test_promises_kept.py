"""What whoever remembers promises has to keep."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import cast

import pytest

from adapters.redis.promises import KEPT, RedisPromises
from adapters.redis.seal import Seal
from core.ports import Promises
from tests.fakes.promises import MemoryPromises
from tests.fixtures.redis import clean, place, say
from tests.inboxes import SECRET

SOON, SHORT, LONG = 5.0, 0.05, 60.0  # seconds
KEY = "footnote:promises:{discord}"

Another = Callable[[float], Promises]


@pytest.fixture(name="another", params=["memory", "redis", "cluster"])
async def _another(request: pytest.FixtureRequest) -> AsyncIterator[Another]:
    """Give what makes a process of its own, with claims that last for so many seconds, of one implementation each."""
    if request.param == "memory":
        first = MemoryPromises()
        yield lambda lasting: MemoryPromises(beside=first, lasting=lasting)
        return
    async with clean(place(request.param, request).url) as client:
        yield lambda lasting: RedisPromises(client, seal=Seal([SECRET]), lasting=lasting)


async def test_what_was_promised_stands_until_it_is_done(another: Another) -> None:
    """Under its key, and for its platform; to take it out twice is no error."""
    promises = another(LONG)
    for platform, key, text in (("discord", "1", "a"), ("discord", "2", "b"), ("slack", "1", "c")):
        assert await promises.put(platform, key, text, within=SOON)
    assert not await promises.put("discord", "1", "d", within=SOON)
    both = await promises.standing("discord")
    for _ in range(2):
        await promises.remove("discord", "1")

    assert both == {"1": "a", "2": "b"}
    assert await promises.standing("discord") == {"2": "b"}
    assert await promises.standing("slack") == {"1": "c"}


@pytest.mark.promise("asked-once")
async def test_of_several_processes_one_is_at_it(another: Another) -> None:
    """Whoever has promised is, for some time, and may say so again; what is done or unknown is nobody's."""
    promises, other = another(LONG), another(LONG)
    await promises.put("discord", "1", "a", within=SOON)
    claims = [await each.claim("discord", "1") for each in (other, promises, other)]
    within = await promises.claim("discord", "1", by="another")
    elsewhere = await other.claim("slack", "1")
    await promises.remove("discord", "1")

    assert (claims, within, elsewhere) == ([False, True, False], False, None)
    assert await promises.claim("discord", "1") is None


@pytest.mark.promise("crash-safe")
async def test_a_claim_ends_by_itself(another: Another) -> None:
    """Then another process may be at it, and the first one may not."""
    promises, other = another(SHORT), another(LONG)
    await promises.put("discord", "1", "a", within=SOON)
    await asyncio.sleep(SHORT * 2)

    assert await other.claim("discord", "1")
    assert not await promises.claim("discord", "1")
    assert await other.standing("discord") == {"1": "a"}


@pytest.mark.promise("encrypted")
async def test_in_redis_they_are_sealed_and_expire(redis_url: str) -> None:
    """They hold what somebody wrote, and a way to answer in their name; with another key nobody can read them."""
    async with clean(redis_url) as client:
        await RedisPromises(client, seal=Seal([SECRET])).put("discord", "1", "What is a robot?", within=SOON)
        lives = [await client.pttl(key) for key in (KEY, f"{KEY}:claims")]

        assert b"robot" not in bytes(str(await say(client, "HGETALL", KEY)), "utf-8")
        assert all(0 < life <= KEPT.total_seconds() * 1000 for life in lives)
        assert await RedisPromises(client, seal=Seal([SECRET[::-1]])).standing("discord") == {}


async def test_in_redis_each_goes_by_itself(redis_url: str) -> None:
    """However many come after it: here nobody has been at it for longer than it is kept."""
    async with clean(redis_url) as client:
        promises = RedisPromises(client, seal=Seal([SECRET]))
        for key in ("1", "2", "3"):
            await promises.put("discord", key, "a", within=SOON)
        now = int(cast("list[bytes]", await say(client, "TIME"))[0]) * 1000
        for key, ago in (("1", KEPT.total_seconds() + 60), ("2", KEPT.total_seconds() - 60)):
            await say(client, "HSET", f"{KEY}:claims", key, f"somebody {now - int(ago * 1000)}")

        assert await promises.standing("discord") == {"2": "a", "3": "a"}
        assert [await promises.claim("discord", key) for key in ("1", "2")] == [None, True]
