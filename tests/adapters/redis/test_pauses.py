"""For how long a question waits in Redis that has failed."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from redis.asyncio import Redis

from adapters.redis.inbox import RedisInbox
from adapters.redis.inbox_store import PREFIX, Bounds
from adapters.redis.secrets import Seal
from tests.adapters.redis.desk import Desk
from tests.fixtures.redis import say
from tests.inboxes import PATIENCE, SECRET, asked, edited, fail

LONG, SHORT = 600, 1.1  # seconds


async def time_of(client: Redis) -> int:
    """Read the clock of the server, in milliseconds."""
    seconds, microseconds = cast("tuple[int, int]", await say(client, "TIME"))
    return seconds * 1000 + microseconds // 1000


@pytest.mark.promise("tried-again")
async def test_what_fails_again_waits_longer_and_with_other_words_as_at_first(desk: Desk) -> None:
    """By the clock of the server, from the moment of the failure."""
    thread = str(asked().message.thread)
    async with desk.inbox(delays=(0, LONG, 2 * LONG)) as inbox:
        await inbox.put(asked())
        for seconds, follows in ((0, None), (LONG, edited()), (0, None), (LONG, None)):
            before = await time_of(desk.client)
            await fail(inbox, ValueError())
            due = await desk.client.zscore(f"{PREFIX}delayed", thread) or 0.0
            after = await time_of(desk.client)

            assert before <= due - 1000 * seconds <= after
            if follows:
                await inbox.put(follows)


@pytest.mark.promise("tried-again")
async def test_a_worker_that_waits_for_long_looks_as_soon_as_something_is_due(desk: Desk) -> None:
    """Whoever has failed at it."""
    patient = RedisInbox(desk.client, desk.blocking, seal=Seal([SECRET]), bounds=Bounds(lease=LONG), block=LONG)
    async with desk.inbox(delays=(SHORT,)) as inbox:
        await inbox.put(asked())
        await fail(inbox, ValueError())
    async with asyncio.timeout(PATIENCE):
        found = None
        while found is None:
            await patient.fetch()
            found = await patient.take()

    assert found.task.attempt == 2
