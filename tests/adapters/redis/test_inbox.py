"""What is peculiar to the inbox in Redis: servers that are away, leases, what is lost and found again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import cast

import pytest
from redis.asyncio import Redis

from adapters.redis.connection import connect
from adapters.redis.inbox import UNREADABLE, RedisInbox
from adapters.redis.inbox_store import PREFIX, Bounds
from adapters.redis.secrets import Seal
from core.errors import ApologyFailed, StoreUnavailable
from core.model import Claim, Delivery, Interruption
from tests.adapters.redis.desk import Desk, key_of
from tests.fixtures.redis import Place, clean, place, say
from tests.inboxes import (
    POSTED,
    SECRET,
    asked,
    asks,
    doubted,
    edited,
    fail,
    heard,
    is_empty,
    retried,
    stopped,
    taken,
)
from tests.past import let_pass

THREE_DAYS = 3 * 86_400  # seconds


@pytest.mark.promise("queue-is-known")
async def test_questions_that_nobody_came_for_are_counted_as_long_as_they_are_kept(desk: Desk) -> None:
    """What has expired waits no longer, once a worker has asked again for how long the store has kept all."""
    async with desk.inbox() as inbox:
        await inbox.put(asked("m1"))
        await let_pass(desk.client, THREE_DAYS - 60)
        await inbox.put(asked("m2", in_thread="2"))
        counts = [await inbox.waiting()]
        await let_pass(desk.client, 120)
        await inbox.kept_for()
        counts.append(await inbox.waiting())

    assert counts == [2, 1]


@pytest.mark.promise("queue-is-known")
async def test_a_question_that_expired_in_its_line_is_passed_over(desk: Desk) -> None:
    """And is counted no longer."""
    async with desk.inbox() as inbox:
        await inbox.put(asked("m1"))
        await inbox.put(asked("m2"))
        await desk.client.delete(key_of("question", "m1"))

        assert asks(await taken(inbox)).message.id == "m2"
        assert await inbox.waiting() == 0


async def test_what_was_heard_first_of_a_revision_counts(desk: Desk) -> None:
    """An edit may come before the question that it is of, which was read after it."""
    async with desk.inbox() as inbox:
        await inbox.put(edited())
        await inbox.put(asked(revision=1))

        assert asks(await taken(inbox)) == edited().question


async def test_a_question_that_cannot_be_read_is_laid_aside(desk: Desk) -> None:
    """The thread goes on, and the reason says what has happened."""
    async with desk.inbox() as inbox, desk.inbox(secret="another secret, just as long as the first") as other:
        await inbox.put(asked("m1"))
        await other.put(asked("m2"))

        assert asks(await taken(other)).message.id == "m2"
    assert (await desk.question())[b"reason"].decode() == UNREADABLE


@pytest.mark.promise("tried-again")
async def test_what_was_given_up_keeps_its_reason(desk: Desk) -> None:
    """In words of ours: of a stranger's error only its kind."""
    async with desk.inbox() as inbox:
        for name, error in (("m1", ConnectionError("http://vendor")), ("m2", StoreUnavailable("Try again later."))):
            await inbox.put(asked(name))
            for _ in range(3):
                await fail(inbox, error)
        reasons = [(await desk.question(name))[b"reason"] for name in ("m1", "m2")]
        dead = cast("list[bytes]", await say(desk.client, "ZRANGE", f"{PREFIX}dead", "0", "-1"))

    assert reasons == [b"ConnectionError", b"Try again later."]
    assert dead == [str(asked(name).message).encode() for name in ("m1", "m2")]


@pytest.mark.promise("given-up-is-seen-to")
async def test_what_was_dropped_and_is_given_up_again_has_the_reason_of_this_time(desk: Desk) -> None:
    """A worker that had lost it has changed its answer since, so that it was tried once more."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        for _ in range(3):
            await fail(inbox, ConnectionError())
        await inbox.drop(asked().message)
        await inbox.put(doubted(asked()))
        for _ in range(2):
            await fail(inbox, ValueError())
        (listed,) = await inbox.dead(limit=9)

    assert listed.reason == "ValueError"


@pytest.mark.promise("retry")
async def test_what_is_tried_again_is_no_longer_laid_aside(desk: Desk) -> None:
    """It has neither a reason nor a place among the dead."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        for _ in range(3):
            await fail(inbox, ValueError())
        await inbox.put(retried(asked()))

        assert await desk.client.exists(f"{PREFIX}dead") == 0
        assert b"reason" not in await desk.question()


@pytest.mark.promise("stops-count")
@pytest.mark.parametrize(
    ("field", "reason"),
    [("stopped", Interruption.STOPPED), ("revision", Interruption.EDITED), ("deleted", Interruption.DELETED)],
)
async def test_a_signal_that_was_missed_is_found_when_the_lease_is_renewed(
    desk: Desk, field: str, reason: Interruption
) -> None:
    """Nothing depends on the stream of signals alone."""
    async with desk.inbox(lease=1.5) as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            await say(desk.client, "HSET", key_of("question", "m1"), field, "1")
            assert await heard(task.cancelled) is reason
            assert task.cancelled.reason != Interruption.LOST


async def test_a_task_that_another_has_taken_over_is_lost(desk: Desk) -> None:
    """Whoever held it hears of it, and can neither record nor settle nor return anything."""
    async with desk.inbox(lease=1.5) as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            await say(desk.client, "HSET", key_of("question", "m1"), "holder", "another")
            assert await heard(task.cancelled) is Interruption.LOST
            assert not await inbox.record(task, POSTED)
        assert (await desk.question())[b"state"] == b"running"


async def test_what_is_recorded_already_is_not_written_again(desk: Desk) -> None:
    """The end of an answer repeats what was noted before; whoever has lost the task hears of it all the same."""
    async with desk.inbox(lease=1.5) as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            assert await inbox.record(task, POSTED)
            await say(desk.client, "HDEL", key_of("question", "m1"), "delivery")
            assert await inbox.record(task, POSTED)
            assert b"delivery" not in await desk.question()
            assert await inbox.record(task, Delivery())
            assert await inbox.record(task, POSTED)
            assert b"delivery" in await desk.question()
            await say(desk.client, "HSET", key_of("question", "m1"), "holder", "another")
            assert await heard(task.cancelled) is Interruption.LOST
            assert not await inbox.record(task, POSTED)


@pytest.fixture(name="where")
def _where(request: pytest.FixtureRequest) -> Place:
    return place("redis", request)


@asynccontextmanager
async def impatient(where: Place) -> AsyncGenerator[RedisInbox]:
    """Open the inbox of a server that can be frozen."""
    async with clean(where.url):
        client, blocking = connect(where.url, timeout=1.0), connect(where.url, blocking=True)
        seal, bounds = Seal([SECRET]), Bounds(lease=1.0)
        async with RedisInbox(client, blocking, seal=seal, bounds=bounds, block=0.05) as inbox:
            yield inbox
        await client.aclose()
        await blocking.aclose()


async def test_whoever_cannot_renew_takes_the_task_for_lost(where: Place) -> None:
    """After the time of the lease another may have it."""
    async with impatient(where) as inbox:
        await inbox.put(asked())
        async with inbox.claim() as task:
            where.servers[0].freeze()
            try:
                assert await heard(task.cancelled) is Interruption.LOST
            finally:
                where.servers[0].thaw()


@pytest.mark.promise("asked-once")
async def test_what_was_answered_while_the_server_was_away_is_settled_later(where: Place) -> None:
    """It is not given out a second time, and the thread goes on."""
    async with impatient(where) as inbox:
        await inbox.put(asked("m1"))
        await inbox.put(asked("m2"))
        async with inbox.claim():
            where.servers[0].freeze()
        try:
            with pytest.raises(StoreUnavailable):
                await taken(inbox)
        finally:
            where.servers[0].thaw()

        assert asks(await taken(inbox)).message.id == "m2"
        assert await is_empty(inbox)


@pytest.mark.promise("asked-once")
async def test_a_server_that_stands_still_for_a_moment_costs_nobody_an_answer(where: Place) -> None:
    """The question is put again: whether it was written the first time makes no difference."""
    async with impatient(where) as inbox:
        where.servers[0].freeze()
        asyncio.get_running_loop().call_later(1.2, where.servers[0].thaw)  # longer than the client waits for an answer
        try:
            await inbox.put(asked())
        finally:
            where.servers[0].thaw()

        assert asks(await taken(inbox)) == asked().question
        assert await is_empty(inbox)


async def test_a_server_that_has_lost_everything_is_used_again(desk: Desk) -> None:
    """One failure at most tells of it; what was put since is given out."""
    async with desk.inbox() as inbox:
        await inbox.put(asked("m1"))
        await taken(inbox)
        await say(desk.client, "FLUSHALL")
        await inbox.put(asked("m2"))
        try:
            task = await taken(inbox)
        except StoreUnavailable:
            task = await taken(inbox)

        assert asks(task).message.id == "m2"


async def test_what_came_back_to_nobody_is_given_out_again(desk: Desk) -> None:
    """The server has handed it out, but the answer was lost on the way."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        assert await is_empty_handed(desk, inbox)
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                await taken(inbox)

        assert await taken(inbox) == Claim(asked().question, attempt=1, fence=2, was_released=True)
        assert await is_empty(inbox)


@pytest.mark.promise("queue-is-known")
async def test_what_came_back_to_nobody_waits_again(desk: Desk) -> None:
    """As soon as it is given back."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        assert await is_empty_handed(desk, inbox)
        counts = [await inbox.waiting()]
        async with desk.inbox(consumer=inbox.consumer):
            pass
        counts.append(await inbox.waiting())

    assert counts == [0, 1]


async def test_what_came_to_nobody_is_given_to_others_while_work_goes_on(desk: Desk) -> None:
    """A worker that stops takes nothing more, and may need long for what it has begun."""
    async with desk.inbox() as inbox, desk.inbox() as other:
        await inbox.put(asked("m1", in_thread="1"))
        async with inbox.claim() as busy:
            await inbox.put(asked("m2", in_thread="2"))
            assert await is_empty_handed(desk, inbox)
            with suppress(TimeoutError):
                async with asyncio.timeout(0):
                    await taken(inbox)

            assert asks(await taken(other)).message.id == "m2"
            assert busy.cancelled.reason is None


async def is_empty_handed(desk: Desk, inbox: RedisInbox) -> bool:
    """Take a question in the name of *inbox*, without its knowledge."""
    namesake = desk.inbox(consumer=inbox.consumer)
    await namesake.fetch()
    return await namesake.take() is not None


async def test_four_questions_of_a_person_are_worked_on_at_once(desk: Desk) -> None:
    """Unless another number is set; the others wait for their turn."""
    inbox, found = desk.inbox(), list[bool]()
    for name in "abcdef":
        await inbox.put(asked(name, in_thread=name))
    for _ in "abcdef":
        await inbox.fetch()
        found.append(await inbox.take() is not None)

    assert found == [True] * 4 + [False] * 2


async def test_who_is_left_at_work_still_hears_what_happens(desk: Desk) -> None:
    """Long before the lease is renewed, although what was begun beside has ended."""
    first, second = asked("m1", in_thread="1"), asked("m2", in_thread="2")
    async with desk.inbox(lease=600.0) as inbox:
        await inbox.put(first)
        async with inbox.claim() as task:
            for name in ("m3", "m4"):
                await inbox.put(asked(name, in_thread=name))
                await taken(inbox)
            await inbox.put(second)
            async with inbox.claim() as other:
                await inbox.put(stopped(second))
                assert await heard(other.cancelled) is Interruption.STOPPED
            await asyncio.sleep(0.2)  # longer than the read that had begun by then
            await inbox.put(stopped(first))
            assert await heard(task.cancelled) is Interruption.STOPPED


@pytest.mark.promise("tried-again")
async def test_an_apology_that_cannot_be_given_is_tried_again_and_again(desk: Desk) -> None:
    """Also more often than there are pauses of their own."""
    async with desk.inbox(delays=(0.0, 0.0)) as inbox:
        await inbox.put(asked())
        for attempt in range(1, 6):
            assert (await fail(inbox, ApologyFailed("It cannot be said."))).attempt == attempt
        assert asks(await taken(inbox)).message.id == "m1"


async def test_a_worker_that_leaves_listens_no_longer(desk: Desk) -> None:
    """Nothing of it goes on."""
    before = asyncio.all_tasks()
    async with desk.inbox():
        during = asyncio.all_tasks()

    assert len(during) > len(before)
    assert asyncio.all_tasks() == before


async def test_a_worker_that_leaves_is_forgotten_by_the_server(desk: Desk) -> None:
    """However many come and go."""
    for number in range(3):
        async with desk.inbox() as inbox:
            await inbox.put(asked(str(number)))
            await taken(inbox)

    groups = await say(desk.client, "XINFO", "CONSUMERS", f"{PREFIX}ready", "workers")
    assert groups == []


async def test_a_question_costs_few_commands(desk: Desk) -> None:
    """Put, read, taken and settled: four, and one look at what is due; scripts count as one."""
    async with desk.inbox() as inbox:
        await inbox.put(asked("warm"))
        await taken(inbox)
        before = await calls(desk.client)
        for number in range(20):
            await inbox.put(asked(str(number), in_thread=str(number)))
            await taken(inbox)
        spent = await calls(desk.client) - before

    assert spent / 20 < 6


async def calls(client: Redis) -> int:
    """Count what clients have sent so far, but not what scripts do."""
    found = cast("dict[str, dict[str, int]]", await say(client, "INFO", "commandstats"))
    names = ("cmdstat_evalsha", "cmdstat_xreadgroup", "cmdstat_xread")
    return sum(found[name]["calls"] for name in names if name in found)


async def test_a_stop_before_its_turn_outlives_a_worker(desk: Desk) -> None:
    """It is written down with the question."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        await inbox.put(stopped(asked()))
    async with desk.inbox() as inbox:
        assert (await taken(inbox)).cancelled.reason is Interruption.STOPPED
