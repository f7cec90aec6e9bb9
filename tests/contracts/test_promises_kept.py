"""What whoever remembers promises has to keep."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from adapters.redis.promises import KEPT, RedisPromises
from adapters.redis.seal import Seal
from core.ports import Promises
from tests.fakes.promises import MemoryPromises
from tests.fixtures.redis import clean, place, say
from tests.inboxes import SECRET

SOON = 5.0


@pytest.fixture(name="promises", params=["memory", "redis", "cluster"])
async def _promises(request: pytest.FixtureRequest) -> AsyncIterator[Promises]:
    """Give one implementation after the other."""
    if request.param == "memory":
        yield MemoryPromises()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisPromises(client, seal=Seal([SECRET]))


async def test_what_was_promised_stands_until_it_is_done(promises: Promises) -> None:
    """Under its key, and for its platform; to take it out twice is no error."""
    for platform, key, text in (("discord", "1", "a"), ("discord", "2", "b"), ("slack", "1", "c")):
        assert await promises.put(platform, key, text, within=SOON)
    assert not await promises.put("discord", "1", "d", within=SOON)
    both = await promises.standing("discord")
    for _ in range(2):
        await promises.remove("discord", "1")

    assert both == {"1": "a", "2": "b"}
    assert await promises.standing("discord") == {"2": "b"}
    assert await promises.standing("slack") == {"1": "c"}


@pytest.mark.promise("encrypted")
async def test_in_redis_they_are_sealed_and_expire(redis_url: str) -> None:
    """They hold what somebody wrote, and a way to answer in their name; with another key nobody can read them."""
    async with clean(redis_url) as client:
        await RedisPromises(client, seal=Seal([SECRET])).put("discord", "1", "What is a robot?", within=SOON)

        assert b"robot" not in bytes(str(await say(client, "HGETALL", "footnote:promises:discord")), "utf-8")
        assert 0 < await client.pttl("footnote:promises:discord") <= KEPT.total_seconds() * 1000
        assert await RedisPromises(client, seal=Seal([SECRET[::-1]])).standing("discord") == {}
