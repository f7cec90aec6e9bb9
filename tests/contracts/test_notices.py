"""What whoever remembers notices promises."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from adapters.redis.notices import KEPT, RedisNotices
from core.model import Notice
from core.ports import Notices
from tests.builders import question
from tests.fakes.notices import MemoryNotices
from tests.fixtures.redis import clean, place, say


@pytest.fixture(name="notices", params=["memory", "redis", "cluster"])
async def _notices(request: pytest.FixtureRequest) -> AsyncIterator[Notices]:
    """Give one implementation after the other."""
    if request.param == "memory":
        yield MemoryNotices()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisNotices(client)


NOW = datetime.now(UTC)


def notice(message: str = "m1", posted: str = "", platform: str = "discord") -> Notice:
    """Make a notice below a message."""
    asked = question(id=message).message
    thread = asked.thread.model_copy(update={"platform": platform})
    below = asked.model_copy(update={"thread": thread})
    return Notice(question=below, revision=1, place="C 1", words="I'm busy — wait.", at=NOW, posted=posted)


async def test_what_is_put_stands_until_it_is_removed(notices: Notices) -> None:
    """Of each question what was put last; other platforms are for themselves, and to remove it twice is no error."""
    for each in (notice("m1"), notice("m2"), notice("m1", "7"), notice("m3", platform="slack")):
        await notices.put(each)
    both = await notices.standing("discord")
    for _ in range(2):
        await notices.remove(notice("m1"))

    assert sorted(both, key=lambda each: each.question.id) == [notice("m1", "7"), notice("m2")]
    assert await notices.standing("discord") == (notice("m2"),)
    assert await notices.standing("slack") == (notice("m3", platform="slack"),)
    assert await notices.standing("elsewhere") == ()


async def test_in_redis_what_is_too_old_or_unreadable_goes(redis_url: str) -> None:
    """Others are said meanwhile, so the platform's notices live on."""
    async with clean(redis_url) as client:
        for hours, each in ((25, notice("old")), (23, notice("new"))):
            await RedisNotices(client).put(each.model_copy(update={"at": NOW - timedelta(hours=hours)}))
        await say(client, "HSET", "footnote:notices:discord", "m3", "{}")
        standing = await RedisNotices(client, now=lambda: NOW).standing("discord")

        assert [each.question.id for each in standing] == ["new"]
        assert len(cast("list[bytes]", await say(client, "HKEYS", "footnote:notices:discord"))) == 1


async def test_in_redis_they_expire(redis_url: str) -> None:
    """Where nobody ever listens again."""
    async with clean(redis_url) as client:
        await RedisNotices(client).put(notice())

        assert 0 < await client.ttl("footnote:notices:discord") <= KEPT.total_seconds()
