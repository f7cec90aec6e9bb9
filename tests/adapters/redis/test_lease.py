"""What a hold on a question means while it lasts: whose it is while the store is away, and whose place it takes."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from adapters.redis.connection import connect
from core.model import Interruption, Stage, WaitNotice
from tests.adapters.redis.desk import Desk
from tests.builders import question
from tests.fixtures.redis import clean
from tests.inboxes import ADA, asked, deleted, hand_back, taken
from tests.past import let_pass
from tests.servers.valkey import Node

SHORT = 0.5  # seconds, for a server that is away
LEASE = 2.0  # seconds; a busy machine renews within them


@pytest.mark.promise("crash-safe")
async def test_while_the_store_is_away_a_hold_lasts_as_long_as_its_lease_and_no_longer(redis_alone: Node) -> None:
    """Nobody can have taken the question before; from then on anybody may, and it is lost."""
    held, now, url = list[bool](), [0.0], f"redis://{redis_alone.host}"
    async with clean(url) as blocking, connect(url, timeout=SHORT) as client:
        inbox = Desk(client, blocking).inbox(lease=60.0, now=lambda: now[0])
        await inbox.put(asked())
        await inbox.fetch()
        found = await inbox.take()
        assert found
        redis_alone.freeze()
        try:
            for now[0] in (1.0, 40.0, 59.0, 61.0):
                held.append(await inbox.holds(found.task))
        finally:
            redis_alone.thaw()

    assert (held, found.task.cancelled.reason) == ([True, True, True, False], Interruption.LOST)


@pytest.mark.promise("bounded-asking")
async def test_a_question_that_is_answered_for_long_takes_a_place_of_its_asker_for_as_long(desk: Desk) -> None:
    """Longer than a lease: another question of theirs still waits, and the next one is somebody else's."""
    bobs = question("What is an arm?", id="bobs", in_thread="bobs")
    bobs = bobs.model_copy(update={"author": ADA.model_copy(update={"id": "bob"})})
    async with desk.inbox(bounds=desk.bounds(LEASE, per_person=1)) as inbox, AsyncExitStack() as held:
        await inbox.put(asked("m1", in_thread="1"))
        first = await held.enter_async_context(inbox.claim())
        await asyncio.sleep(1.5 * LEASE)
        await inbox.put(asked("m2", in_thread="2"))
        await inbox.put(asked("bobs", in_thread="bobs").model_copy(update={"question": bobs}))

        following = await taken(inbox)

    assert (first.message.id, following.message.id) == ("m1", "bobs")


@pytest.mark.promise("deletions-count")
@pytest.mark.parametrize("is_deleted", [False, True])
async def test_a_renewal_alone_interrupts_nobody(desk: Desk, is_deleted: bool) -> None:
    """Neither whoever answers, nor whoever takes an answer back: to a question that is gone nothing can happen."""
    now = [0.0]
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        if is_deleted:
            await taken(inbox)
            await inbox.put(deleted(asked()))
    slow = desk.inbox(lease=60.0, now=lambda: now[0])
    await slow.fetch()
    found = await slow.take()
    assert found
    now[0] = 40.0

    assert (await slow.holds(found.task), found.task.cancelled.reason) == (True, None)


@pytest.mark.promise("crash-safe")
async def test_who_is_cancelled_at_the_end_of_the_work_still_says_that_it_is_done(desk: Desk) -> None:
    """The answer stands, so that nobody has to wait for the lease to end, only to answer once more."""

    async def work() -> None:
        async with inbox.claim():
            running = asyncio.current_task()
            assert running
            running.cancel()  # it is heard of behind the block

    async with desk.inbox() as inbox:
        await inbox.put(asked())
        working = asyncio.create_task(work())
        await asyncio.wait({working})

    assert (working.cancelled(), (await desk.question())[b"state"]) == (True, b"done")


async def die(desk: Desk) -> None:
    """Take the next question as a process does that ends right after it."""
    dead = desk.inbox(consumer="dead")
    await dead.fetch()
    assert await dead.take()


@pytest.mark.promise("never-silent")
@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("is_dead", [True, False])
async def test_what_nobody_has_been_at_for_a_while_is_known_to_be_left(desk: Desk, *, is_dead: bool) -> None:
    """Its worker shows no sign of life, or has handed it back; what is said below it comes with it."""
    message, notice = asked().message, WaitNotice(thread=asked().message.thread, nonce="n")
    async with desk.inbox(lease=0.09) as inbox, desk.inbox() as other:
        await inbox.put(asked())
        await (die(desk) if is_dead else hand_back(inbox))
        stages, noted = await other.stages([message]), [await other.announce(message, notice)]
        await (asyncio.sleep(0.04) if is_dead else let_pass(desk.client, 11.0))
        by = inbox if is_dead else other
        stages, noted = [*stages, *await by.stages([message])], [*noted, await by.announce(message, notice)]

        assert (stages, noted) == ([Stage.RUNNING if is_dead else Stage.RELEASED, Stage.LEFT], [False, True])
        assert (await taken(inbox)).delivery.notice == notice
