"""Whose turn it is: somebody who is at a bound makes nobody else wait."""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack

import pytest

from adapters.redis.inbox import RedisInbox
from adapters.redis.inbox_store import PREFIX
from bot.settings import Settings
from core.model import Asked, Claim, MessageRef, Person, Question, ThreadRef
from tests.adapters.redis.desk import Desk
from tests.builders import NOON

LARGE, MIDDLE, SMALL = "large", "middle", "small"
PER_COMMUNITY, PER_PERSON = 4, 2


def asked(community: str, number: int, *, by: str = "", channel: str = "c") -> Asked:
    """Somebody asks in a community, in a thread of its own."""
    place = ThreadRef(platform="test", workspace=community, channel=channel, thread=str(number))
    message, author = MessageRef(thread=place, id=f"{community}-{number}"), Person(id=by or f"{community}-{number}")
    return Asked(question=Question.create(message=message, text="Why?", author=author, asked_at=NOON))


async def begun(desk: Desk, count: int) -> list[MessageRef]:
    """Let so many be begun one after the other, none of which ends; give them in their order."""
    bounds = desk.bounds(20.0, per_person=PER_PERSON, per_workspace=PER_COMMUNITY)
    async with desk.inbox(bounds=bounds) as inbox, AsyncExitStack() as held:
        found = list[MessageRef]()
        for _ in range(count):
            task = await held.enter_async_context(inbox.claim())
            assert isinstance(task, Claim)
            found.append(task.message)
        return found


@pytest.mark.promise("bounded-asking")
async def test_a_large_community_leaves_turns_for_smaller_ones(desk: Desk) -> None:
    """However many of it wait before them: it has as many turns as its bound, and the others come next."""
    async with desk.inbox() as inbox:
        for community, count in ((LARGE, 60), (MIDDLE, 3), (SMALL, 1)):
            for number in range(count):
                await inbox.put(asked(community, number))

    found = await begun(desk, PER_COMMUNITY + 4)

    assert [one.id for one in found] == [
        *(f"large-{number}" for number in range(PER_COMMUNITY)),
        *("middle-0", "middle-1", "middle-2"),
        "small-0",
    ]


@pytest.mark.promise("bounded-asking")
async def test_a_person_and_a_busy_channel_leave_turns_for_others_in_their_community(desk: Desk) -> None:
    """A person has as many as their bound, and a channel no more than comes to it in order."""
    async with desk.inbox() as inbox:
        for number in range(20):
            await inbox.put(asked(SMALL, number, by="ada", channel="busy"))
        for number in (20, 21):
            await inbox.put(asked(SMALL, number, channel="other"))

    found = await begun(desk, PER_COMMUNITY)

    assert Counter(one.thread.channel for one in found) == {"busy": PER_PERSON, "other": 2}


@pytest.mark.promise("bounded-asking")
async def test_beyond_the_bound_of_a_community_its_channels_take_turns(desk: Desk) -> None:
    """However many wait in one of them; in each it goes by when they were asked."""
    async with desk.inbox() as inbox:
        for channel, count in (("busy", 20), ("other", 3), ("third", 1)):
            for number in range(count):
                await inbox.put(asked(SMALL, number, by=f"{channel}-{number}", channel=channel))
    found = list[str]()
    async with desk.inbox(bounds=desk.bounds(20.0, per_workspace=1)) as inbox:
        async with inbox.claim() as task:
            await all_parked(desk, inbox, 19 + 3 + 1)
            found.append(task.message.thread.channel)
        for _ in range(9):
            async with inbox.claim() as task:
                found.append(f"{task.message.thread.channel} {task.message.thread.thread}")

    assert found == [
        "busy",
        *("busy 1", "other 0", "third 0", "busy 2", "other 1", "busy 3", "other 2", "busy 4", "busy 5"),
    ]


@pytest.mark.promise("bounded-asking")
async def test_who_waits_in_the_one_line_of_an_older_version_comes_to_their_turn(desk: Desk) -> None:
    """An update loses nobody who waits."""
    async with desk.inbox(bounds=desk.bounds(20.0, per_workspace=1)) as inbox:
        for number in range(4):
            await inbox.put(asked(SMALL, number))
        async with inbox.claim():
            await all_parked(desk, inbox, 3)
            place = f"test:{SMALL}"
            await desk.client.rename(f"{PREFIX}parked:{place} {place}:c", f"{PREFIX}parked:{place}")
            await desk.client.delete(f"{PREFIX}lines:{place}")
        found = list[str]()
        for _ in range(3):
            async with inbox.claim() as task:
                found.append(task.message.id)

    assert found == ["small-1", "small-2", "small-3"]


async def all_parked(desk: Desk, inbox: RedisInbox, count: int) -> None:
    """Let so many threads be looked at, all of which have to wait."""
    while await desk.client.zcard(f"{PREFIX}delayed") < count:
        await inbox.fetch()
        assert await inbox.take() is None


@pytest.mark.promise("bounded-asking")
def test_usually_no_community_can_take_all_turns_of_a_process() -> None:
    """Three more can have as many, and no person can take those of a community."""
    usual = Settings()

    assert usual.answers_per_workspace * 4 <= usual.answers_at_once
    assert usual.answers_per_person * 4 <= usual.answers_per_workspace
