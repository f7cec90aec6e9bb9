"""What becomes of a question whose worker is gone, and what one that comes back may still do."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import cast

import pytest

from adapters.redis.inbox import READY, Lease, RedisInbox
from adapters.redis.inbox_store import PREFIX
from adapters.redis.secrets import Seal
from core.events import Event, TakenOver
from core.model import MOST_ATTEMPTS, Backlog, Claim, Delivery, Interruption, MessageRef
from tests.adapters.redis.desk import Desk
from tests.fixtures.redis import say
from tests.inboxes import ADA, PATIENCE, POSTED, SECRET, asked, asks, deleted, edited, fail, fall_short, is_empty, taken
from tests.past import let_pass

LEASE = 0.8  # seconds; nothing here depends on how much longer it takes, and a busy machine renews within them


async def begun(desk: Desk, *, consumer: str = "dead") -> None:
    """Take the next question as a process does that ends right after it."""
    inbox = desk.inbox(lease=LEASE, consumer=consumer)
    await inbox.fetch()
    found = await inbox.take()
    assert found
    await inbox.record(found.task, POSTED)


@pytest.mark.promise("crash-safe")
async def test_a_question_whose_worker_died_goes_to_another_with_what_was_posted(desk: Desk) -> None:
    """It is one attempt more, and whoever watches hears of it; nothing new has to be put for that."""
    events = list[Event]()
    async with desk.inbox(lease=LEASE, observer=events.append) as inbox:
        await inbox.put(asked())
        await begun(desk)

        again = await taken(inbox)

        assert again == Claim(asked().question, attempt=2, fence=2, delivery=POSTED)
        assert [each for each in events if isinstance(each, TakenOver)] == [TakenOver(asked().message, 2)]
        assert await is_empty(inbox)


@pytest.mark.promise("crash-safe")
async def test_one_that_was_handed_out_and_never_taken_is_taken_over_too(desk: Desk) -> None:
    """The process ended between the two; that was no attempt."""
    async with desk.inbox(lease=LEASE) as inbox:
        await inbox.put(asked())
        await desk.inbox(consumer="dead").fetch()

        assert await taken(inbox) == Claim(asked().question, attempt=1, fence=1)


@pytest.mark.promise("crash-safe")
async def test_what_changed_meanwhile_is_what_the_next_worker_finds(desk: Desk) -> None:
    """An edit gives the newer words, and a deletion a withdrawal of what was posted."""
    async with desk.inbox(lease=LEASE) as inbox:
        await inbox.put(asked("m1"))
        await begun(desk)
        await inbox.put(edited("m1"))
        assert asks(await taken(inbox)) == edited("m1").question

        await inbox.put(asked("m2", in_thread="2"))
        await begun(desk)
        await inbox.put(deleted(asked("m2", in_thread="2")))
        withdrawal = await taken(inbox)

    assert (withdrawal.delivery, isinstance(withdrawal, Claim)) == (POSTED, False)


@pytest.mark.promise("crash-safe")
async def test_a_worker_that_was_frozen_can_do_nothing_when_it_wakes(desk: Desk) -> None:
    """It may neither post nor settle nor return the question; whoever took it over can."""
    async with desk.inbox(lease=LEASE) as here, desk.inbox(lease=60.0) as frozen:
        await frozen.put(asked())
        async with frozen.claim() as old:  # which renews only after 20 seconds
            async with here.claim() as new:
                assert (new.attempt, new.fence) == (2, 2)
                assert not await frozen.record(old, POSTED)
                old_ending = (await frozen.record(old, Delivery()), await frozen.keep(old))
                assert await here.holds(new)
            assert old_ending == (False, False)
        assert await is_empty(here)
    assert (await desk.question())[b"state"] == b"done"


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize(("is_robbed", "held"), [(True, [True, False, False]), (False, [True, True, True])])
async def test_a_worker_that_has_slept_asks_before_it_acts(desk: Desk, is_robbed: bool, held: list[bool]) -> None:
    """After half of its lease it believes nobody but the server; before that, nobody can have robbed it."""
    now = [0.0]
    async with desk.inbox() as inbox:
        await inbox.put(asked())
    slow = desk.inbox(lease=60.0, consumer="slow", now=lambda: now[0])
    await slow.fetch()
    found = await slow.take()
    assert found
    if is_robbed:
        await say(desk.client, "HSET", f"{PREFIX}question:{found.task.message}", "holder", "another")

    answers = list[bool]()
    for now[0] in (29.0, 31.0, 70.0):
        answers.append(await slow.holds(found.task))

    assert answers == held


@pytest.mark.promise("crash-safe")
async def test_what_was_lost_and_comes_back_is_held_although_the_first_hold_ends_later(desk: Desk) -> None:
    """Another worker had taken it meanwhile, and died."""
    robber = desk.inbox(lease=0.001, consumer="dead")
    async with desk.inbox(lease=LEASE) as inbox, AsyncExitStack() as again, AsyncExitStack() as first:
        await inbox.put(asked())
        old = await first.enter_async_context(inbox.claim())
        await asyncio.sleep(0.01)
        await robber.fetch()
        assert await robber.take()

        new = await again.enter_async_context(inbox.claim())
        await first.aclose()

        assert (await inbox.holds(old), await inbox.holds(new), await inbox.record(new, POSTED)) == (False, True, True)


@pytest.mark.promise("crash-safe")
async def test_a_lease_begins_anew_when_a_task_is_taken(desk: Desk) -> None:
    """Whoever slept between reading and taking has the whole of it; another may take it over only after that."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
    slow = desk.inbox(lease=LEASE, consumer="slow")
    await slow.fetch()
    await asyncio.sleep(4 * LEASE)

    assert await slow.take()
    (pending,) = await desk.client.xpending_range(READY, "workers", "-", "+", 1)

    assert cast("int", pending["time_since_delivered"]) < 4 * LEASE * 1000


@pytest.mark.promise("tried-again")
async def test_a_worker_that_died_makes_no_later_wait_longer(desk: Desk) -> None:
    """Only failures do; a platform that was away for a moment is often back after the first of them."""
    async with desk.inbox(lease=LEASE, delays=(0.0, 2 * PATIENCE)) as inbox:
        await inbox.put(asked())
        await begun(desk)

        failed = await fail(inbox, OSError("the platform is away"))

        assert (failed.attempt, (await taken(inbox)).attempt) == (2, 3)


@pytest.mark.promise("tried-again")
async def test_a_second_failure_is_followed_by_the_second_wait(desk: Desk) -> None:
    """The longer one: what was away for a moment would be back."""
    async with desk.inbox(delays=(0.0, 2 * PATIENCE)) as inbox:
        await inbox.put(asked())
        failed = [(await fail(inbox, OSError("the platform is away"))).attempt for _ in range(2)]

        assert (failed, await is_empty(inbox)) == ([1, 2], True)


class Sleeper(RedisInbox):
    """Hears what it has taken long after that was said, as a process does that was frozen meanwhile."""

    async def take(self) -> Lease | None:
        """Take it, and sleep over it for longer than the lease."""
        found = await super().take()
        await asyncio.sleep(3 * LEASE)
        return found


@pytest.mark.promise("crash-safe")
async def test_a_worker_that_slept_over_what_it_took_asks_too(desk: Desk) -> None:
    """Its lease began when it asked for a task, and not when it woke up and read which one it had been given."""
    slow = Sleeper(desk.client, desk.blocking, seal=Seal([SECRET]), bounds=desk.bounds(LEASE))
    async with slow, desk.inbox(lease=LEASE) as here, AsyncExitStack() as held:
        await here.put(asked())
        sleeping = asyncio.create_task(held.enter_async_context(slow.claim()))
        async with asyncio.timeout(PATIENCE):
            while (await desk.question())[b"state"] != b"running":  # noqa: ASYNC110 - the store tells of nothing
                await asyncio.sleep(0.01)
        await taken(here)

        assert not await slow.holds(await sleeping)


@pytest.mark.promise("crash-safe")
async def test_what_was_lost_and_taken_by_nobody_is_done_again(desk: Desk) -> None:
    """A worker that could not renew has not answered, even if it was not robbed; it may have asked a model."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        for _ in range(MOST_ATTEMPTS):
            async with inbox.claim() as task:
                task.cancelled.set(Interruption.LOST)

        number = MOST_ATTEMPTS + 1
        assert await taken(inbox) == Claim(asked().question, attempt=number, fence=number, was_released=True)


@pytest.mark.promise("crash-safe")
async def test_workers_that_are_gone_are_forgotten(desk: Desk) -> None:
    """However many die."""
    async with desk.inbox(lease=0.05) as inbox:
        for number in range(3):
            await inbox.put(asked(f"m{number}", in_thread=str(number)))
            await begun(desk, consumer=f"dead{number}")
            await taken(inbox)
        async with asyncio.timeout(PATIENCE):
            while len(await say(desk.client, "XINFO", "CONSUMERS", f"{PREFIX}ready", "workers")) > 1:
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.1), inbox.claim():
                        raise AssertionError("there is nothing to do")


@pytest.mark.promise("bounded-asking")
async def test_only_so_many_questions_of_one_person_are_answered_at_once(desk: Desk) -> None:
    """What they ask beyond that waits, without an attempt, until one of them is done; others do not wait."""
    async with desk.inbox(bounds=desk.bounds(20.0, per_person=2)) as inbox, AsyncExitStack() as held:
        for number in range(4):
            await inbox.put(asked(f"m{number}", in_thread=str(number)))
        others = asked("other", in_thread="other")
        others = others.model_copy(
            update={"question": others.question.model_copy(update={"author": ADA.model_copy(update={"id": "else"})})}
        )
        await inbox.put(others)

        first = AsyncExitStack()
        running = [await first.enter_async_context(inbox.claim())]
        running += [await held.enter_async_context(inbox.claim()) for _ in range(2)]
        assert sorted(task.message.id for task in running) == ["m0", "m1", "other"]
        assert await inbox.waiting() == 2

        await first.aclose()
        third = await held.enter_async_context(inbox.claim())
        assert third == Claim(asked("m2", in_thread="2").question, attempt=1, fence=1)


@pytest.mark.promise("bounded-asking")
async def test_a_workspace_has_its_bound_too_and_a_dead_worker_frees_its_place(desk: Desk) -> None:
    """Nothing waits for ever for a process that is gone."""
    async with desk.inbox(bounds=desk.bounds(LEASE, per_workspace=1)) as inbox:
        await inbox.put(asked("m1"))
        await inbox.put(asked("m2", in_thread="2"))
        await begun(desk)

        assert {(await taken(inbox)).message.id, (await taken(inbox)).message.id} == {"m1", "m2"}


@pytest.mark.promise("queue-is-known")
async def test_what_is_taken_over_and_has_to_wait_for_others_counts_as_waiting(desk: Desk) -> None:
    """Nobody works on it any more."""
    gone = desk.inbox(bounds=desk.bounds(20.0, per_person=2), consumer="gone")
    entries: list[str] = []
    for number in range(2):
        await gone.put(asked(f"m{number}", in_thread=str(number)))
        await gone.fetch()
        held = await gone.take()
        assert held is not None
        entries.append(str(held.hold["entry"]))
    await say(desk.client, "XCLAIM", f"{PREFIX}ready", "workers", "gone", "0", entries[0], "IDLE", "30000")
    other = desk.inbox(bounds=desk.bounds(20.0, per_person=1))
    await other.fetch()

    assert await other.take() is None
    state = await say(desk.client, "HGET", f"{PREFIX}question:{asked('m0', in_thread='0').message}", "state")
    assert (state, await other.waiting()) == (b"waiting", 1)


@pytest.mark.promise("bounded-asking")
async def test_a_thread_that_waits_for_others_is_looked_at_every_five_seconds(desk: Desk) -> None:
    """Also where nobody has said that one of them is done: whoever should have may be gone."""
    async with desk.inbox(bounds=desk.bounds(20.0, per_person=1)) as inbox:
        for number in range(2):
            await inbox.put(asked(f"m{number}", in_thread=str(number)))
        async with inbox.claim():
            await inbox.fetch()
            assert await inbox.take() is None
            seconds, _ = cast("tuple[int, int]", await say(desk.client, "TIME"))
            delayed = cast(
                "list[list[bytes | float]]",
                await say(desk.client, "ZRANGE", f"{PREFIX}delayed", "0", "-1", "WITHSCORES"),
            )

    assert 3_000 < float(delayed[0][1]) - seconds * 1000 <= 6_000


@pytest.mark.promise("bounded-asking")
async def test_what_has_waited_longest_for_others_goes_on_as_soon_as_one_is_done(desk: Desk) -> None:
    """And no more than that one."""
    async with desk.inbox(bounds=desk.bounds(20.0, per_person=1)) as inbox:
        for number in range(3):
            await inbox.put(asked(f"m{number}", in_thread=str(number)))
        async with inbox.claim():
            for _ in range(2):
                await inbox.fetch()
                assert await inbox.take() is None
        waiting = await say(desk.client, "ZRANGE", f"{PREFIX}delayed", "0", "-1")

    assert waiting == [str(asked(in_thread="2").message.thread).encode()]


@pytest.mark.promise("queue-is-known")
async def test_where_nothing_was_asked_nothing_waits(desk: Desk) -> None:
    """Nor where no worker was there yet."""
    assert await desk.inbox().backlog() == Backlog(0, 0, 0, 0.0)


async def test_the_backlog_counts_what_waits_and_runs_and_was_given_up(desk: Desk) -> None:
    """And tells how long the oldest has waited."""
    async with desk.inbox() as inbox:
        for number in range(3):
            await inbox.put(asked(f"m{number}", in_thread=str(number)))
        for _ in range(3):
            with suppress(ValueError):
                async with inbox.claim():
                    raise ValueError
        async with inbox.claim():
            backlog = await inbox.backlog()
    assert (backlog.waiting, backlog.running, backlog.dead) == (2, 1, 0)
    assert 0 <= backlog.oldest < PATIENCE


@pytest.mark.promise("queue-is-known")
async def test_the_question_that_has_waited_longest_says_how_long_it_takes(desk: Desk) -> None:
    """However many have come since."""
    async with desk.inbox() as inbox:
        await inbox.put(asked("m1"))
        await let_pass(desk.client, 60)
        await inbox.put(asked("m2"))

        assert 60 <= (await inbox.backlog()).oldest < 60 + PATIENCE


async def given_up(inbox: RedisInbox) -> MessageRef:
    """Ask something that nobody can answer."""
    await inbox.put(asked())
    for _ in range(3):
        with suppress(ValueError):
            async with asyncio.timeout(PATIENCE), inbox.claim():
                raise ValueError("words that nobody may see")
    return asked().message


@pytest.mark.promise("given-up-is-seen-to")
async def test_what_was_given_up_can_be_seen_tried_again_and_dropped(desk: Desk) -> None:
    """With its reason, which quotes nobody, and its words, as long as they are kept."""
    async with desk.inbox() as inbox:
        message = await given_up(inbox)

        (listed,) = await inbox.dead(limit=9)
        assert (listed.message, listed.attempts, listed.reason) == (message, 3, "ValueError")
        assert listed.can_be_retried
        assert await inbox.dead_letter(message) == listed
        assert listed.question == asked().question

        assert await inbox.revive(message)
        assert (await inbox.dead(limit=9), await inbox.dead_letter(message)) == ([], None)
        assert await fall_short(inbox) == Claim(asked().question, attempt=1, fence=4)
        assert not await inbox.revive(message)  # nobody has given it up this time


@pytest.mark.promise("given-up-is-seen-to")
async def test_what_was_dropped_is_gone_with_its_words(desk: Desk) -> None:
    """And cannot be tried again by anybody."""
    async with desk.inbox() as inbox:
        message = await given_up(inbox)

        assert [await inbox.drop(message), await inbox.drop(message)] == [True, False]
        assert (await inbox.dead(limit=9), await desk.kept("m1")) == ([], None)
        assert await is_empty(inbox)


@pytest.mark.promise("given-up-is-seen-to")
async def test_what_nobody_has_given_up_cannot_be_dropped(desk: Desk) -> None:
    """It is answered as if nobody had tried."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())

        assert not await inbox.drop(asked().message)
        assert asks(await taken(inbox)) == asked().question
