"""How long votes, quotas and notes are kept in Redis."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from redis.asyncio import Redis

from adapters.redis import community, dedup
from adapters.redis.community import RedisVotes
from adapters.redis.dedup import RedisChannelCursor, RedisDedup
from adapters.redis.quota import RedisQuota
from core.model import Budget, ChannelRef, Cost, Holder, Period, Reservation, Tally, Vote
from tests.builders import NOON, question, thread
from tests.fixtures.redis import all_keys, say
from tests.past import let_pass

HOME = thread().home
DAY = timedelta(days=1).total_seconds()


def vote(on: str = "a1", *, by: str = "p1") -> Vote:
    """Somebody is content."""
    return Vote(answer_id=on, person_id=by, is_helpful=True, at=NOON)


async def test_each_vote_ends_with_its_own_time(redis_client: Redis) -> None:
    """Newer ones on the same answer, or by the same person, do not keep it."""
    store = RedisVotes(redis_client)
    await store.cast(HOME, vote())
    await let_pass(redis_client, 50 * DAY)
    await store.cast(HOME, vote(by="p2"))
    await store.cast(HOME, vote("a2"))
    assert await store.count(HOME) == Tally(helpful=3)
    await let_pass(redis_client, 50 * DAY)

    assert await store.count(HOME) == Tally(helpful=2)
    assert await store.forget_person(HOME, "p1") == 1


async def test_of_an_old_vote_only_a_number_is_left_beside_newer_ones(redis_client: Redis) -> None:
    """What they are counted by may hold it longer, and names nobody."""
    store = RedisVotes(redis_client)
    await store.cast(HOME, vote("old", by="old one"))
    await let_pass(redis_client, 80 * DAY)
    await store.cast(HOME, vote("new", by="new one"))
    await let_pass(redis_client, 20 * DAY)
    names = await all_keys(redis_client)
    stored = b"".join([cast("bytes", await say(redis_client, "DUMP", name)) for name in names])

    assert [word in b"".join([*names, stored]) for word in (b"old", b"new")] == [False, True]


async def test_of_old_votes_nothing_is_left(redis_client: Redis) -> None:
    """Not even what they were counted by."""
    await RedisVotes(redis_client).cast(HOME, vote())
    await let_pass(redis_client, community.LIFE / 1_000)

    assert await all_keys(redis_client) == []


async def test_of_a_forgotten_voter_nothing_is_left(redis_client: Redis) -> None:
    """Neither an id nor an opinion."""
    store = RedisVotes(redis_client)
    await store.cast(HOME, vote())
    await store.forget_person(HOME, "p1")

    assert await all_keys(redis_client) == []


@pytest.mark.promise("forget-workspace")
async def test_of_the_voters_of_a_forgotten_workspace_nothing_is_left(redis_client: Redis) -> None:
    """Whoever they were, and whatever they thought."""
    store = RedisVotes(redis_client)
    for by, is_helpful in (("p1", True), ("p 2", False)):
        await store.cast(HOME, vote(by=by).model_copy(update={"is_helpful": is_helpful}))
    await store.forget_workspace(HOME)

    assert await all_keys(redis_client) == []


async def test_what_was_asked_is_gone_when_its_time_is_over(redis_client: Redis) -> None:
    """A minute, or two days after the day and the month."""
    quota = RedisQuota(redis_client, pseudonym=str)
    budgets = (Budget(holder=Holder.PERSON, period=Period.MINUTE, most=1), Budget(holder=Holder.PERSON, most=1))
    run = Reservation(question=question(), run="1", most=Cost(questions=1), budgets=budgets, at=NOON)
    await quota.reserve(run)
    await quota.settle(run, Cost(questions=1))
    lives = [len(await all_keys(redis_client))]
    for days in (1 / 1_440, 2, 0.5, 31):
        await let_pass(redis_client, days * DAY)
        lives.append(len(await all_keys(redis_client)))

    assert lives == [4, 3, 2, 1, 0]


async def test_a_note_that_is_repeated_is_kept(redis_client: Redis) -> None:
    """It goes when its time has passed since the last repetition."""
    store = RedisDedup(redis_client, pseudonym=str)
    assert await store.changed("commands", "a")
    for _ in range(2):
        await let_pass(redis_client, 20 * DAY)
        assert not await store.changed("commands", "a")
    await let_pass(redis_client, dedup.KEPT.total_seconds())

    assert await all_keys(redis_client) == []


async def test_of_channels_that_were_heard_long_ago_nothing_is_left(redis_client: Redis) -> None:
    """Neither a name nor a time."""
    cursor = RedisChannelCursor(redis_client)
    await cursor.note(ChannelRef(platform="slack", workspace="T1", channel="C1"), datetime.now(UTC))
    await let_pass(redis_client, 29 * DAY)
    assert len(await all_keys(redis_client)) == 1
    await let_pass(redis_client, DAY)

    assert await all_keys(redis_client) == []
