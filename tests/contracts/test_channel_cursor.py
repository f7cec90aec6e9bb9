"""What whoever remembers when channels were heard last promises."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from adapters.redis.dedup import KEPT, RedisChannelCursor
from core.model import ChannelRef, WorkspaceRef
from core.ports import ChannelCursor
from tests.fakes.channel_cursor import MemoryChannelCursor
from tests.fixtures.redis import clean, place

NOON = datetime(2026, 5, 4, 12, 0, 0, 123_456, UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture(name="heard", params=["memory", "redis", "cluster"])
async def _heard(request: pytest.FixtureRequest) -> AsyncIterator[ChannelCursor]:
    """Give one implementation after the other."""
    if request.param == "memory":
        yield MemoryChannelCursor()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisChannelCursor(client)


def channel(name: str, workspace: str = "E1/T1", platform: str = "slack") -> ChannelRef:
    """Name a channel."""
    return ChannelRef(platform=platform, workspace=workspace, channel=name)


async def test_the_channels_that_were_heard_last_come_first(heard: ChannelCursor) -> None:
    """Each with the latest time, whatever the order in which it was told; other platforms are for themselves."""
    for name, at in (("a", NOON), ("b c", NOON + 2 * MINUTE), ("a", NOON + MINUTE), ("b c", NOON), ("old", NOON)):
        await heard.note(channel(name), at)
    await heard.note(channel("x", platform="discord"), NOON)

    assert await heard.channels("slack", limit=2) == (
        (channel("b c"), NOON + 2 * MINUTE),
        (channel("a"), NOON + MINUTE),
    )
    assert await heard.channels("slack", limit=0) == ()
    assert await heard.channels("discord", limit=9) == ((channel("x", platform="discord"), NOON),)


@pytest.mark.promise("forget-workspace")
async def test_a_workspace_is_forgotten_and_no_other(heard: ChannelCursor) -> None:
    """Nor one whose name begins alike."""
    others = [channel("a", "E1/T12"), channel("a", "T1")]
    for minutes, each in enumerate((channel("a"), *others, channel("b"))):
        await heard.note(each, NOON + minutes * MINUTE)
    await heard.forget_workspace(WorkspaceRef(platform="slack", workspace="E1/T1"))

    assert [each for each, _ in sorted(await heard.channels("slack", limit=9), key=str)] == others


async def test_in_redis_old_and_too_many_notes_go(redis_url: str) -> None:
    """So that the set does not grow for ever."""
    async with clean(redis_url) as client:
        heard = RedisChannelCursor(client, most=2)
        await heard.note(channel("old"), NOON - KEPT - MINUTE)
        await heard.note(channel("a"), NOON)
        after_one = await heard.channels("slack", limit=9)
        for minutes, name in enumerate("bc"):
            await heard.note(channel(name), NOON + (minutes + 1) * MINUTE)

        assert [each.channel for each, _ in after_one] == ["a"]
        assert [each.channel for each, _ in await heard.channels("slack", limit=9)] == ["c", "b"]
