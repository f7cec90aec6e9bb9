"""How long somebody has been at a question is kept with it, whoever has it next."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from adapters.redis.connection import connect
from core.errors import PeopleUnavailable, ShutOut
from core.model import Task
from tests.adapters.redis.desk import Desk
from tests.adapters.redis.test_lost import lose
from tests.inboxes import POSTED, asked, edited, fail, fall_short, hand_back, retried, taken
from tests.servers.clock import ServerClock
from tests.servers.valkey import Node

SLACK = 10.0  # seconds that a busy machine may take
PAST = 100


@pytest.fixture(name="desk")
async def _desk(server: Node, clock: ServerClock) -> AsyncIterator[Desk]:
    clock.put(ahead=0)
    server.say("FLUSHALL")
    url = f"redis://{server.host}"
    async with connect(url) as client, connect(url, blocking=True) as blocking:
        yield Desk(client, blocking)


def spent(task: Task, seconds: float) -> bool:
    """Return whether so many seconds count, and not many more."""
    return seconds <= task.spent < seconds + SLACK


@pytest.mark.promise("questions-end")
async def test_the_time_since_the_first_attempt_counts_and_none_before_it(desk: Desk, clock: ServerClock) -> None:
    """Also that between two attempts, and while nobody says who reads the answer."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        clock.put(ahead=PAST)
        first = await fail(inbox, ValueError())
        clock.put(ahead=2 * PAST)
        second = await fail(inbox, ValueError())
        clock.put(ahead=3 * PAST)
        third = await fail(inbox, PeopleUnavailable("Nobody says who reads.", wait=0.001))
        clock.put(ahead=4 * PAST)
        fourth = await taken(inbox)

    assert (spent(first, 0), spent(second, PAST), spent(third, 2 * PAST), spent(fourth, 3 * PAST)) == (True,) * 4


@pytest.mark.promise("questions-end")
async def test_a_take_over_extends_nothing(desk: Desk, clock: ServerClock) -> None:
    """The time in which a dead worker had it counts."""
    dead = desk.inbox(consumer="dead")
    await dead.put(asked())
    await dead.fetch()
    assert await dead.take()
    clock.put(ahead=PAST)
    async with desk.inbox() as inbox:
        assert spent(await taken(inbox), PAST)


@pytest.mark.promise("questions-end")
async def test_the_time_in_which_nobody_has_it_does_not_count(desk: Desk, clock: ServerClock) -> None:
    """A bot that stops in good order hands it back, as one does that the platform has shut out; work before counts."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        await fail(inbox, ValueError())
        clock.put(ahead=PAST)
        await hand_back(inbox)
        clock.put(ahead=10 * PAST)
        await fail(inbox, ShutOut(0.001))
        clock.put(ahead=20 * PAST)
        assert spent(await taken(inbox), PAST)


@pytest.mark.promise("questions-end")
async def test_an_edit_and_a_wish_to_have_it_tried_again_begin_anew(desk: Desk, clock: ServerClock) -> None:
    """Somebody asks, after all."""
    async with desk.inbox() as inbox:
        await inbox.put(asked())
        await fail(inbox, ValueError())
        clock.put(ahead=PAST)
        await inbox.put(edited())
        after_edit = await fall_short(inbox)
        clock.put(ahead=2 * PAST)
        await inbox.put(retried(asked()))
        after_wish = await taken(inbox)

    assert (spent(after_edit, 0), spent(after_wish, 0)) == (True, True)


@pytest.mark.promise("questions-end")
@pytest.mark.promise("crash-safe")
async def test_a_store_that_was_emptied_is_told_how_long_it_has_been(desk: Desk) -> None:
    """By the worker that is at the question."""
    time = [0.0]
    async with desk.inbox(lease=20 * PAST, now=lambda: time[0]) as inbox:
        await inbox.put(asked())
        with suppress(ValueError):
            async with inbox.claim() as task:
                time[0] += PAST
                await lose(desk)
                assert await inbox.record(task, POSTED)
                raise ValueError
        assert spent(await taken(inbox), PAST)
