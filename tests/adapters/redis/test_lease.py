"""What a hold on a question means while it lasts: whose it is while the store is away, and whose place it takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from adapters.redis.connection import connect
from adapters.redis.runner import ScriptRunner
from core.model import Interruption
from tests.adapters.redis.desk import Desk
from tests.builders import question
from tests.inboxes import ADA, asked, taken
from tests.servers.valkey import free_port

LEASE = 0.3  # seconds; nothing here depends on how much longer it takes


@pytest.fixture(name="desk")
async def _desk(redis_client: Redis, redis_url: str) -> AsyncIterator[Desk]:
    blocking = connect(redis_url, blocking=True)
    yield Desk(redis_client, blocking)
    await blocking.aclose()


@pytest.mark.promise("crash-safe")
async def test_while_the_store_is_away_a_hold_lasts_as_long_as_its_lease_and_no_longer(desk: Desk) -> None:
    """Nobody can have taken the question before; from then on anybody may, and it is lost."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
    other = desk.inbox(lease=60.0)
    await other.fetch()
    found = await other.take()
    assert found
    nowhere, now = connect(f"redis://127.0.0.1:{free_port()}"), [0.0]
    away = ScriptRunner(nowhere, "inbox", "signals", "tasks")
    lease = replace(found, run=away, renewed=0.0, now=lambda: now[0])

    held = list[bool]()
    for now[0] in (1.0, 40.0, 59.0, 61.0):
        held.append(await lease.is_held())
    await nowhere.aclose()

    assert (held, found.task.cancelled.reason) == ([True, True, True, False], Interruption.LOST)


@pytest.mark.promise("bounded-asking")
async def test_a_question_that_is_answered_for_long_takes_a_place_of_its_asker_for_as_long(desk: Desk) -> None:
    """Longer than a lease: another question of theirs still waits, and the next one is somebody else's."""
    bobs = question("What is an arm?", id="bobs", in_thread="bobs")
    bobs = bobs.model_copy(update={"author": ADA.model_copy(update={"id": "bob"})})
    async with desk.inbox(bounds=desk.bounds(LEASE, per_person=1)) as inbox, AsyncExitStack() as held:
        await inbox.put(asked("m1", in_thread="1"))
        first = await held.enter_async_context(inbox.claim())
        await asyncio.sleep(4 * LEASE)
        await inbox.put(asked("m2", in_thread="2"))
        await inbox.put(asked("bobs", in_thread="bobs").model_copy(update={"question": bobs}))

        following = await taken(inbox)

    assert (first.message.id, following.message.id) == ("m1", "bobs")
