"""What whoever keeps messages that are to be removed promises."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from adapters.redis.dedup import RedisRemovals
from core.model import MessageRef, ThreadRef
from core.ports import Removals
from tests.fakes.removals import MemoryRemovals
from tests.fixtures.redis import clean, place

NOON = datetime(2026, 5, 4, 12, 0, 0, 250_000, UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture(name="removals", params=["memory", "redis", "cluster"])
async def _removals(request: pytest.FixtureRequest) -> AsyncIterator[Removals]:
    if request.param == "memory":
        yield MemoryRemovals()
        return
    async with clean(place(request.param, request).url) as client:
        yield RedisRemovals(client)


def message(name: str, platform: str = "discord") -> MessageRef:
    """Name a message."""
    return MessageRef(thread=ThreadRef(platform=platform, workspace="1", channel="2", thread="a b"), id=name)


async def test_what_is_due_is_given_out_the_earliest_first(removals: Removals) -> None:
    """Each platform for itself, and so many at most."""
    for minutes, name in ((2, "c"), (1, "b"), (0, "a"), (9, "later")):
        await removals.add(message(name), NOON + minutes * MINUTE)
    await removals.add(message("x", "slack"), NOON)

    early = await removals.due("discord", NOON - MINUTE, limit=9)
    first = await removals.due("discord", NOON + 2 * MINUTE, limit=2)
    rest = await removals.due("discord", NOON + 2 * MINUTE, limit=2)

    assert (early, first, rest) == ((), (message("a"), message("b")), (message("c"),))


async def test_what_is_not_done_is_given_out_once_more_after_a_minute(removals: Removals) -> None:
    """Whoever had it may have died; what is done never comes again."""
    await removals.add(message("a"), NOON)
    await removals.add(message("b"), NOON)
    taken = await removals.due("discord", NOON, limit=9)
    await removals.done(message("a"))
    await removals.done(message("unknown"))

    soon = await removals.due("discord", NOON + MINUTE / 2, limit=9)
    later = await removals.due("discord", NOON + MINUTE, limit=9)

    assert (taken, soon, later) == ((message("a"), message("b")), (), (message("b"),))
