"""A server that forgets: one that was failed over to before it had heard of all that its master did."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import cast

import pytest

from adapters.redis.inbox import READY
from adapters.redis.inbox_store import PREFIX
from core.model import Interruption
from tests.adapters.redis.desk import Desk, key_of
from tests.fixtures.redis import say
from tests.inboxes import PATIENCE, POSTED, WRITTEN, asked, is_empty, taken


async def remembered(desk: Desk, *keys: str) -> Mapping[str, bytes]:
    """Give what the server has under some keys."""
    return {key: cast("bytes", await say(desk.client, "DUMP", key)) for key in keys}


async def forget(desk: Desk, memory: Mapping[str, bytes]) -> None:
    """Let the server know no more than it did."""
    for key, value in memory.items():
        await say(desk.client, "RESTORE", key, "60000", value, "REPLACE")


@pytest.mark.promise("crash-safe")
async def test_of_two_who_were_given_a_question_one_holds_it(desk: Desk) -> None:
    """The server has forgotten that it was taken, and counts from there again."""
    async with desk.inbox() as here, desk.inbox() as there, AsyncExitStack() as held:
        await here.put(asked())
        await say(desk.client, "XGROUP CREATE", READY, "workers", "0")
        memory = await remembered(desk, READY, key_of("question", "m1"))
        first = await held.enter_async_context(here.claim())
        await forget(desk, memory)
        second = await held.enter_async_context(there.claim())

        assert (first.message, first.fence) == (second.message, second.fence)
        assert [await here.record(first, POSTED), await there.record(second, POSTED)] == [False, True]


@pytest.mark.promise("crash-safe")
async def test_what_was_taken_and_forgotten_is_done_once_its_worker_is(desk: Desk) -> None:
    """The server knows that it handed the thread out and not what for, and nobody else has taken it since."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        memory = await remembered(desk, key_of("question", "m1"))
        async with inbox.claim():
            await forget(desk, memory)

        assert await is_empty(inbox)
        assert not await inbox.put(asked())


@pytest.mark.promise("queue-is-known")
async def test_a_question_whose_worker_is_gone_counts_as_one_that_waits_long(desk: Desk) -> None:
    """As long as no other worker is there to take it."""
    async with desk.inbox(lease=0.05) as inbox:
        await inbox.put(asked())
        dead = desk.inbox(lease=0.05, consumer="dead")
        await dead.fetch()
        assert await dead.take()
        fresh = (await inbox.backlog()).oldest
        async with asyncio.timeout(PATIENCE):
            while (await inbox.backlog()).oldest < 0.1:  # noqa: ASYNC110 - the store tells of nothing
                await asyncio.sleep(0.01)

        assert fresh < PATIENCE


@pytest.mark.promise("queue-is-known")
async def test_what_was_given_up_long_ago_is_counted_no_more(desk: Desk) -> None:
    """Its words are gone since, and so is all that is known of it."""
    async with desk.inbox() as inbox:
        await say(desk.client, "ZADD", f"{PREFIX}dead", "1", str(asked().message))
        await say(desk.client, "PEXPIRE", f"{PREFIX}dead", "60000")

        assert (await inbox.backlog()).dead == 0


async def test_a_thread_lives_as_long_as_somebody_asks_in_it(desk: Desk) -> None:
    """With the entry that leads to it, also where nobody has worked for days."""
    keys = READY, f"{PREFIX}thread:{asked().message.thread}"
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        for key in keys:
            await say(desk.client, "PEXPIRE", key, "60000")
        await inbox.put(asked("m2"))

        assert min([await desk.client.pttl(key) for key in keys]) > 60_000


@pytest.mark.promise("asked-once")
async def test_an_answer_that_the_server_forgets_is_left_to_whoever_is_next(desk: Desk) -> None:
    """Its worker has shown it, and loses the question before it could remember the turn."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            memory = await remembered(desk, key_of("question", "m1"))
            await inbox.record(task, WRITTEN)
            await inbox.record(task, POSTED)
            await forget(desk, memory)
            task.cancelled.set(Interruption.LOST)

        assert (await taken(inbox)).delivery == WRITTEN
