"""What every store of the communities that may use the bot promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import TypeAlias

import pytest

from adapters.redis.community import RedisCommunities
from adapters.redis.conversations import RedisConversations
from adapters.redis.secrets import Seal
from core.model import Communities, MessageRef, ThreadRef, WorkspaceRef
from core.ports import CommunityStore
from tests.builders import turn_of
from tests.fakes.communities import MemoryCommunities
from tests.fixtures.redis import clean, place
from tests.inboxes import SECRET
from tests.portion import FORMS


def server(name: str, platform: str = "discord") -> WorkspaceRef:
    """A community on a platform."""
    return WorkspaceRef(platform=platform, workspace=name)


ONE, TWO, THREE, FOUR = map(server, ("1", "{2}: b", "3", "4"))
TEAM, OTHER_TEAM, WHOLE = (server(name, "slack") for name in ("T1", "T2", "E1"))
WITHIN = server("E1/T9", "slack")  # a workspace that an organization has installed the bot in
HERE = ThreadRef(platform="discord", workspace="1", channel="7", thread="8")
FIRST, SECOND = (MessageRef(thread=HERE, id=id_) for id_ in ("m1", "m2"))
NOTHING = Communities()

Opening: TypeAlias = Callable[..., AbstractAsyncContextManager[CommunityStore]]


@pytest.fixture(name="opened", params=FORMS)
def _opened(request: pytest.FixtureRequest) -> Opening:
    """Give what opens one implementation after the other: with the *named* ones, where it has *answered* in some."""

    @asynccontextmanager
    async def opened(
        named: Sequence[WorkspaceRef] = (), answered: Sequence[WorkspaceRef] = ()
    ) -> AsyncGenerator[CommunityStore]:
        if request.param == "memory":
            yield MemoryCommunities(named=named, answered=[part for home in answered for part in home.communities])
            return
        async with clean(place(request.param, request).url) as client:
            conversations = RedisConversations(client, ttl=timedelta(hours=1), seal=Seal([SECRET]))
            for home in answered:
                thread = ThreadRef(platform=home.platform, workspace=home.workspace, channel="7", thread="8")
                await conversations.append(thread, turn_of("What is a robot?"))
            yield RedisCommunities(client, named=named)

    return opened


@pytest.fixture(name="communities")
async def _communities(opened: Opening) -> AsyncIterator[CommunityStore]:
    """Give a store in which nothing is set, with no answer anywhere."""
    async with opened() as store:
        yield store


async def test_nobody_may_at_first(communities: CommunityStore) -> None:
    """Nothing is decided, nobody waits, and no community has the documents."""
    assert await communities.load() == NOTHING


async def test_nothing_is_decided_where_the_bot_is_in_none(communities: CommunityStore) -> None:
    """So the first one that it joins afterwards may use it."""
    assert await communities.settle("discord", ()) == NOTHING

    after = await communities.settle("discord", [ONE])

    assert after == Communities(allowed=(ONE,), first=ONE, settled=frozenset({"discord"}))
    assert await communities.load() == after


async def test_the_only_community_may_and_each_later_one_waits(communities: CommunityStore) -> None:
    """It is decided once, whatever the bot joins or leaves afterwards."""
    settled = await communities.settle("discord", [ONE])

    assert await communities.settle("discord", [ONE, TWO]) == settled
    assert await communities.settle("discord", [TWO]) == settled
    assert settled.allowed == (ONE,)


async def test_of_several_those_that_were_answered_before_stay(opened: Opening) -> None:
    """In the order in which the bot joined them; what it is not in any more is not among them."""
    async with opened(answered=[ONE, FOUR, THREE]) as store:
        after = await store.settle("discord", [THREE, TWO, ONE])

    assert after == Communities(allowed=(THREE, ONE), first=THREE, settled=frozenset({"discord"}))


async def test_of_several_none_may_where_nothing_was_answered(communities: CommunityStore) -> None:
    """It is decided all the same, so that the operator has the word."""
    after = await communities.settle("discord", [ONE, TWO])

    assert after == Communities(settled=frozenset({"discord"}))
    assert await communities.settle("discord", [ONE]) == after


async def test_an_organization_was_answered_where_a_workspace_of_it_was(opened: Opening) -> None:
    """Another workspace was not by that."""
    async with opened(answered=[WITHIN]) as store:
        after = await store.settle("slack", [TEAM, WHOLE])

    assert after.allowed == (WHOLE,)


async def test_each_platform_is_decided_by_itself(communities: CommunityStore) -> None:
    """The first community is the first of all."""
    await communities.settle("slack", [TEAM])
    after = await communities.settle("discord", [ONE])

    assert after == Communities(allowed=(TEAM, ONE), first=TEAM, settled=frozenset({"discord", "slack"}))


async def test_processes_that_decide_at_once_decide_the_same(communities: CommunityStore) -> None:
    """Whichever comes first, all of them get what it has decided."""
    found = await asyncio.gather(*(communities.settle("discord", [each]) for each in (ONE, TWO, THREE, FOUR)))

    assert len(found[0].allowed) == 1
    assert found == [await communities.load()] * 4


async def test_a_community_whose_token_is_set_always_may(communities: CommunityStore) -> None:
    """It cannot be removed; after the token of another one was set, it may be, and stays until then."""
    await communities.settle("discord", [ONE])
    settled = frozenset({"discord", "slack"})
    own = Communities(allowed=(ONE, TEAM), first=ONE, own=(TEAM,), settled=settled)

    assert await communities.settle("slack", [TEAM], is_own=True) == own
    assert (await communities.remove(TEAM), await communities.load()) == (False, own)
    both = Communities(allowed=(ONE, TEAM, OTHER_TEAM), first=ONE, own=(OTHER_TEAM,), settled=settled)
    assert await communities.settle("slack", [OTHER_TEAM], is_own=True) == both
    assert await communities.remove(TEAM)
    none = await communities.settle("slack", [TEAM, OTHER_TEAM])
    assert (none.allowed, none.own) == ((ONE, OTHER_TEAM), ())


async def test_an_order_allows_and_removes(communities: CommunityStore) -> None:
    """Whoever gives it hears whether that is new; the first one keeps the documents, and one allowed again is last."""
    told = [await communities.allow(each) for each in (ONE, TWO, ONE)]
    told += [await communities.remove(each) for each in (ONE, ONE, THREE)]

    assert told == [True, True, False, True, False, False]
    assert await communities.load() == Communities(allowed=(TWO,), first=ONE)
    assert await communities.allow(ONE)
    assert await communities.load() == Communities(allowed=(TWO, ONE), first=ONE)


async def test_an_order_puts_another_one_in_the_place_of_the_first(opened: Opening) -> None:
    """Such as where the settings have named a wrong one; it keeps the place once it is named or removed."""
    async with opened(named=[TWO]) as store:
        await store.settle("discord", [ONE])
        told = [await store.allow(ONE, is_first=True), await store.allow(ONE, is_first=True)]
        after = await store.load()
        await store.remove(ONE)

        assert (told, after.allowed, after.first) == ([True, False], (TWO, ONE), ONE)
        assert (await store.settle("discord", [ONE])).first == ONE


async def test_what_was_decided_can_be_removed(communities: CommunityStore) -> None:
    """Nothing is decided anew afterwards."""
    await communities.settle("discord", [ONE])

    assert (await communities.allow(ONE), await communities.remove(ONE)) == (False, True)
    assert await communities.settle("discord", [ONE]) == Communities(first=ONE, settled=frozenset({"discord"}))


async def test_an_order_comes_before_what_is_decided(opened: Opening) -> None:
    """Where the operator has allowed one, the only one that is there may not for that alone, but if it was answered."""
    async with opened() as store:
        await store.allow(ONE)
        assert (await store.settle("discord", [TWO])).allowed == (ONE,)

    async with opened(answered=[TWO]) as store:
        await store.allow(ONE)
        assert (await store.settle("discord", [TWO])).allowed == (ONE, TWO)


async def test_those_that_the_settings_name_come_first(opened: Opening) -> None:
    """With them, the only one that is there waits like any other; what is ordered, or whose token is set, may too."""
    async with opened(named=[TWO, THREE]) as store:
        assert await store.load() == Communities(allowed=(TWO, THREE), first=TWO, named=(TWO, THREE))
        assert (await store.settle("discord", [ONE])).settled == frozenset()
        await store.settle("slack", [TEAM], is_own=True)
        told = [await store.allow(ONE), await store.allow(TWO), await store.remove(TWO)]

        assert told == [True, False, False]
        after = await store.load()
        assert (after.allowed, after.first, after.own) == ((TWO, THREE, TEAM, ONE), TWO, (TEAM,))


async def test_whoever_asks_first_is_known(communities: CommunityStore) -> None:
    """However often that message comes; the community waits until it is allowed, and after that may wait again."""
    told = [await communities.wait(ONE, message) for message in (FIRST, SECOND, FIRST)]
    told.append(await communities.wait(THREE, SECOND))

    assert told == [True, False, True, True]
    assert (await communities.load()).waiting == (ONE, THREE)
    await communities.allow(ONE)
    assert (await communities.load()).waiting == (THREE,)
    for each in (ONE, THREE):
        await communities.remove(each)
    assert (await communities.load()).waiting == ()
    assert await communities.wait(ONE, SECOND)


async def test_nobody_waits_where_the_bot_is_not_any_more(communities: CommunityStore) -> None:
    """On the platform of which is said where it is; who asks after it came back is the first again."""
    for each in (ONE, THREE, TEAM):
        await communities.wait(each, FIRST)

    assert (await communities.settle("discord", [TWO, THREE])).waiting == (THREE, TEAM)
    assert await communities.wait(ONE, SECOND)
