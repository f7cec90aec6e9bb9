"""How much the server does in one step, and how much it keeps, however much has come together."""

from __future__ import annotations

from typing import cast

from adapters.redis.inbox import READY, Lease
from adapters.redis.inbox_store import PREFIX
from tests.adapters.redis.desk import Desk
from tests.fixtures.redis import say
from tests.inboxes import asked, edited, heard, taken

PORTION, MANY = 100, 150  # threads that one step looks at, and more than those
NAMES = [f"test:t:{number:04}" for number in range(MANY)]


async def noted_long_ago(desk: Desk, index: str) -> None:
    """Let many names be in an index, each noted a little later than the one before it."""
    scores = [each for number, name in enumerate(NAMES, start=1) for each in (str(number), name)]
    await say(desk.client, "ZADD", PREFIX + index, *scores)
    await say(desk.client, "PEXPIRE", PREFIX + index, "60000")


async def left(desk: Desk, index: str) -> list[str]:
    """Read the names that an index still has."""
    return [name.decode() for name in cast("list[bytes]", await say(desk.client, "ZRANGE", PREFIX + index, "0", "-1"))]


async def handed_out(desk: Desk, consumer: str, count: int, *, idle: int) -> None:
    """Let a worker have entries that it has not renewed for some milliseconds."""
    for _ in range(count):
        entry = await desk.client.xadd(READY, {"thread": "test:t:1"})
        await desk.client.xgroup_setid(READY, "workers", "$")
        await say(desk.client, "XCLAIM", READY, "workers", consumer, "0", entry, "IDLE", str(idle), "FORCE")


async def test_a_worker_looks_through_a_hundred_entries_for_one_that_was_left(desk: Desk) -> None:
    """Those behind them are for its next look, or for somebody else."""
    worker = desk.inbox(lease=1.0, consumer="worker")
    await worker.fetch()
    await handed_out(desk, "worker", MANY, idle=10_000)
    await handed_out(desk, "dead", 1, idle=10_000)
    await worker.fetch()
    found = await worker.take()
    pending = await desk.client.xpending_range(READY, "workers", "-", "+", 9, "dead")

    assert (found, len(pending)) == (None, 1)


async def test_a_worker_takes_nothing_over_from_itself(desk: Desk) -> None:
    """It may have it although the server has not heard of that for long; others do take it over."""
    worker, other = (desk.inbox(lease=1.0, consumer=name) for name in ("worker", "other"))
    await worker.put(asked())
    await worker.fetch()
    held = await worker.take()
    assert held is not None
    await say(desk.client, "XCLAIM", READY, "workers", "worker", "0", str(held.hold["entry"]), "IDLE", "10000")
    found: list[Lease | None] = []
    for inbox in (worker, worker, worker, other):
        await inbox.fetch()
        found.append(await inbox.take())

    assert [each and each.task.attempt for each in found] == [None, None, None, 2]


async def test_how_long_the_oldest_entries_were_left_is_looked_up_for_a_hundred(desk: Desk) -> None:
    """They come in the order in which they were offered, so that it is one of the first."""
    inbox = desk.inbox(lease=1.0)
    await inbox.fetch()
    await handed_out(desk, "dead", MANY, idle=10_000)
    await handed_out(desk, "dead", 1, idle=10_000_000)

    assert 10 <= (await inbox.backlog()).oldest < 10_000


async def test_a_hundred_threads_that_are_due_are_offered_at_once(desk: Desk) -> None:
    """Those that have been due for longest; the others are next."""
    await noted_long_ago(desk, "delayed")
    inbox = desk.inbox()
    await inbox.fetch()

    assert await left(desk, "delayed") == NAMES[PORTION:]


async def test_a_hundred_uses_that_are_known_no_more_are_passed_over_at_once(desk: Desk) -> None:
    """The oldest of them; one that waits behind them is found by the next look."""
    await noted_long_ago(desk, "accepted:test")

    assert await desk.inbox().overdue("test") is None
    assert await left(desk, "accepted:test") == NAMES[PORTION:]


async def test_of_signals_that_nobody_has_read_about_a_thousand_are_kept(desk: Desk) -> None:
    """The server removes whole pages of them, and a signal that was missed is found without it."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            async with desk.client.pipeline() as many:
                for _ in range(15 * PORTION):
                    many.xadd(f"{PREFIX}signals", {"message": "another"})
                await many.execute()
            await inbox.put(edited())
            await heard(task.cancelled)
        await taken(inbox)

    assert 10 * PORTION <= await desk.client.xlen(f"{PREFIX}signals") <= 11 * PORTION


async def test_of_what_is_done_nothing_is_left_to_look_at(desk: Desk) -> None:
    """A thread whose last question is answered is offered to nobody."""
    async with desk.inbox() as inbox:
        for name in ("m1", "m2"):
            await inbox.put(asked(name))
        for _ in range(2):
            await taken(inbox)

        assert await desk.client.xlen(f"{PREFIX}ready") == 0
