"""Communities in Redis: what becomes of them where the store is emptied, or was written by another version."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from adapters.redis.community import COMMUNITIES, RedisCommunities
from core.model import Communities, MessageRef, WorkspaceRef
from tests.builders import thread
from tests.fixtures.redis import clean, place, say
from tests.portion import FORMS

ONE, TWO, THREE = (WorkspaceRef(platform="discord", workspace=name) for name in "123")


@pytest.fixture(name="client", params=FORMS[1:])
async def _client(request: pytest.FixtureRequest) -> AsyncIterator[Redis]:
    """Give each form of server."""
    async with clean(place(request.param, request).url) as client:
        yield client


@pytest.mark.promise("operator-decides")
async def test_a_store_that_was_emptied_gets_back_what_a_process_knows(client: Redis) -> None:
    """Whichever looks first; who knows nothing takes what is there by then."""
    here, there, new = (RedisCommunities(client) for _ in range(3))
    await here.settle("discord", [ONE])
    await here.allow(TWO)
    await here.wait(THREE, MessageRef(thread=thread("é: 1"), id="m1"))
    await there.load()
    await new.allow(TWO, is_first=True)
    known = await here.load()
    assert (known.first, await there.load()) == (TWO, known)
    await say(client, "DEL", COMMUNITIES)

    assert await new.load() == Communities()
    assert await there.load() == known
    await there.remove(TWO)
    assert (await here.load()).allowed == (await new.load()).allowed == (ONE,)


@pytest.mark.promise("operator-decides")
async def test_what_a_process_knows_comes_back_also_where_others_were_first(client: Redis) -> None:
    """One platform is decided again before the other, whose people have asked in vain meanwhile.

    What is removed after that stays so.
    """
    team = WorkspaceRef(platform="slack", workspace="T1")
    here, there = (RedisCommunities(client, named=[ONE]) for _ in range(2))
    await here.settle("slack", [team], is_own=True)
    await here.allow(TWO)
    known = await here.load()
    await say(client, "DEL", COMMUNITIES)
    await there.settle("discord", [ONE])
    await there.wait(team, MessageRef(thread=thread(), id="m1"))

    assert not (await there.load()).admits(team)
    assert await here.load() == known
    await here.remove(TWO)
    assert [await each.load() for each in (here, there)] == [known.model_copy(update={"allowed": (ONE, team)})] * 2


async def test_what_is_asked_after_a_loss_is_not_decided_anew(client: Redis) -> None:
    """The bot may be in several by then."""
    communities = RedisCommunities(client)
    known = await communities.settle("discord", [ONE])
    await say(client, "DEL", COMMUNITIES)

    assert await communities.settle("discord", [TWO, ONE]) == known


async def test_what_another_version_wrote_says_nothing_and_stays(client: Redis) -> None:
    """What can be read counts."""
    await say(client, "HSET", COMMUNITIES, "allowed:discord:1", "1", "allowed:none", "2", "allowed:discord:2", "soon")
    await say(client, "HSET", COMMUNITIES, "mood:discord:1", "good", "first", "nobody", b"\xff", b"\xff")

    assert await RedisCommunities(client).load() == Communities(allowed=(ONE,), first=ONE)
    await RedisCommunities(client).allow(ONE)
    assert await say(client, "HGET", COMMUNITIES, "mood:discord:1") == b"good"
