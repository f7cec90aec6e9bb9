"""A server whose clock is set right by an hour, either way: nothing is lost, done twice, or left for an hour."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from adapters.redis.connection import connect
from adapters.redis.inbox import RedisInbox
from adapters.redis.inbox_store import PREFIX, Bounds
from adapters.redis.quota import HELD, RedisQuota
from core.model import (
    Asked,
    Budget,
    Claim,
    Cost,
    Holder,
    Interaction,
    MessageRef,
    Period,
    Reached,
    ReplyAddress,
    Reservation,
)
from tests.adapters.redis.desk import Desk
from tests.builders import NOON, thread
from tests.fixtures.redis import say
from tests.inboxes import asked, asks, fail, taken
from tests.portion import WHOLE
from tests.servers.clock import ServerClock
from tests.servers.valkey import Node

HOUR = 3600
JUMPS = (HOUR, -HOUR)
ALL_JUMPS = (*JUMPS, 20, -20, 45, -45, 90, -90)


@pytest.fixture(name="desk")
async def _desk(server: Node, clock: ServerClock) -> AsyncIterator[Desk]:
    clock.put(ahead=0)
    server.say("FLUSHALL")
    url = f"redis://{server.host}"
    async with connect(url) as client, connect(url, blocking=True) as blocking:
        yield Desk(client, blocking)


def used() -> Asked:
    """A command that somebody has just used: there are 15 minutes to answer it."""
    token = Interaction(id="i", token="t", expires_at=datetime.now(UTC) + timedelta(minutes=15))
    return asked().model_copy(update={"address": ReplyAddress(thread=thread(), interaction=token)})


def test_the_clock_can_be_set(server: Node, clock: ServerClock) -> None:
    """Otherwise what follows shows nothing."""
    clock.put(ahead=0)
    before = int(server.say("TIME")[0])
    clock.put(ahead=HOUR)
    assert abs(int(server.say("TIME")[0]) - before - HOUR) < 60


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_command_keeps_its_way_back(desk: Desk, clock: ServerClock, jump: int) -> None:
    """While it waits."""
    async with desk.inbox() as inbox:
        await inbox.put(used())
        clock.put(ahead=jump)
        claim = await taken(inbox)

    assert isinstance(claim, Claim)
    assert claim.address is not None
    assert claim.address.interaction is not None


@pytest.mark.parametrize("jump", JUMPS)
async def test_an_accepted_command_is_neither_lost_nor_left(desk: Desk, clock: ServerClock, jump: int) -> None:
    """Whoever has accepted it has died; somebody else takes it over soon."""
    inbox = desk.inbox(bounds=Bounds(accepted=0.3))
    await inbox.accept(used(), within=5.0)
    clock.put(ahead=jump)

    found = None
    while found is None:
        found = await inbox.overdue("test")

    assert found.address is not None
    assert found.address.interaction is not None


@pytest.mark.parametrize("jump", JUMPS)
async def test_what_waits_for_its_next_attempt_does_not_wait_for_an_hour(
    desk: Desk, clock: ServerClock, jump: int
) -> None:
    """The attempt comes when it would have come, or at once."""
    async with desk.inbox(delays=(0.5, 0.5)) as inbox:
        await inbox.put(used())
        await fail(inbox, ValueError())
        clock.put(ahead=jump)
        assert asks(await taken(inbox)) == used().question


async def test_nobody_counts_as_being_answered_for_an_hour(desk: Desk, clock: ServerClock) -> None:
    """Whose worker died before the clock was put back is answered elsewhere."""
    bounds = Bounds(lease=0.5, per_person=1)
    dead = desk.inbox(consumer="dead", bounds=bounds)
    await dead.put(asked())
    await dead.fetch()
    assert await dead.take()
    clock.put(ahead=-HOUR)
    async with desk.inbox(bounds=bounds) as inbox:
        await inbox.put(asked("m2", in_thread="2"))
        assert asks(await taken(inbox)) == asked("m2", in_thread="2").question
        assert asks(await taken(inbox)) == asked().question


@pytest.mark.promise("bounded-asking")
async def test_nobody_has_to_wait_for_an_hour_because_of_a_limit_of_a_minute(desk: Desk, clock: ServerClock) -> None:
    """What was asked before the clock was put back does not lie ahead."""
    quota, budget = RedisQuota(desk.client, pseudonym=str), Budget(holder=Holder.PERSON, period=Period.MINUTE, most=1)

    async def reserve(name: str) -> Reached | None:
        given = Reservation(question=asked(name).question, run=name, most=Cost(questions=1), budgets=(budget,), at=NOON)
        return await quota.reserve(given)

    first = await reserve("m1")
    clock.put(ahead=-HOUR)
    second, third = await reserve("m2"), await reserve("m3")

    assert (first, second) == (None, None)
    assert third is not None
    assert third.until <= NOON + timedelta(minutes=1)


@pytest.mark.promise("bounded-asking")
async def test_what_is_set_aside_for_a_dead_worker_is_free_in_the_usual_time(desk: Desk, clock: ServerClock) -> None:
    """It was set aside before the clock was put back, and somebody asks after."""
    quota, budget = RedisQuota(desk.client, pseudonym=str), Budget(holder=Holder.COMMUNITY, period=Period.DAY, most=1)

    async def reserve(name: str) -> Reached | None:
        given = Reservation(question=asked(name).question, run=name, most=Cost(questions=1), budgets=(budget,), at=NOON)
        return await quota.reserve(given)

    first = await reserve("m1")
    clock.put(ahead=-HOUR)
    second = await reserve("m2")
    clock.put(ahead=int(HELD.total_seconds()) - HOUR + 1)
    third = await reserve("m3")

    assert (first, third) == (None, None)
    assert second is not None
    assert second.is_passing


@pytest.mark.promise("catches-up")
@pytest.mark.parametrize("ahead", [0, *JUMPS])
async def test_a_clock_that_is_wrong_hides_no_loss(desk: Desk, clock: ServerClock, ahead: int) -> None:
    """What was asked a minute ago, by the clocks of the platform and of ours, may have been answered before."""
    clock.put(ahead=ahead)
    async with desk.inbox() as inbox:
        await say(desk.client, "FLUSHALL")
        kept = await inbox.kept_for()
        assert await inbox.put(asked().model_copy(update={"age": timedelta(minutes=1)})) is None

    assert timedelta() <= kept.age < timedelta(minutes=1)


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("jump", JUMPS)
async def test_a_clock_that_is_set_makes_nothing_older_or_younger(
    desk: Desk, server: Node, clock: ServerClock, jump: int
) -> None:
    """It is no loss: what is asked then is taken at once, before anybody has looked and after, by any process."""
    async with desk.inbox() as inbox:
        await inbox.kept_for()
        await asyncio.sleep(0.1)
        before = await inbox.kept_for()
        clock.put(ahead=jump)
        server.say("TIME")  # until then, a script may be told the time at which the server last woke up
        taken_at_once = await inbox.put(asked().model_copy(update={"age": timedelta(milliseconds=1)}))
        ours, theirs = await inbox.kept_for(), await desk.inbox().kept_for()
        await lose_and_ask(desk, inbox)

    assert taken_at_once
    assert before.mark == ours.mark == theirs.mark
    assert timedelta() < ours.age <= theirs.age < timedelta(minutes=1)


async def lose_and_ask(desk: Desk, inbox: RedisInbox) -> None:
    """Whatever the clock was set to before, a loss is seen."""
    await say(desk.client, "FLUSHALL")
    assert await inbox.put(asked("m2").model_copy(update={"age": timedelta(minutes=1)})) is None


@pytest.mark.parametrize("jump", ALL_JUMPS)
async def test_whoever_works_on_a_question_keeps_it(desk: Desk, clock: ServerClock, jump: int) -> None:
    """Nobody else takes it over, and its time is not up; once its worker dies, it is taken over as soon as ever."""
    bounds = Bounds(lease=2.0)
    async with desk.inbox(bounds=bounds, consumer="one") as one, desk.inbox(bounds=bounds, consumer="other") as other:
        await one.kept_for()
        await other.fetch()
        await one.put(asked())
        await one.fetch()
        lease = await one.take()
        assert lease is not None
        clock.put(ahead=jump)
        await look(other)
        is_kept = await one.holds(lease.task)
        over = await taken(other)

    assert is_kept
    assert (over.attempt, over.spent < 60) == (2, True)


async def test_the_time_of_a_question_follows_once(desk: Desk, clock: ServerClock) -> None:
    """Also of one that waits for another attempt, and of whose thread a worker has read the entry."""
    async with desk.inbox() as inbox:
        await inbox.kept_for()
        await inbox.put(asked())
        await fail(inbox, ValueError())
        await inbox.fetch()
        clock.put(ahead=-HOUR)
        await inbox.kept_for()
        lease = await inbox.take()

    assert lease is not None
    assert (lease.task.attempt, lease.task.spent < 60) == (2, True)


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize(("jump", "frozen"), [(0, 45), (0, HOUR), (20, 45), (HOUR, 45)])
async def test_a_server_that_was_frozen_counts_as_no_clock_that_was_put_forward(
    desk: Desk, server: Node, clock: ServerClock, jump: int, frozen: int
) -> None:
    """What lay there meanwhile is as much older; by how much its clock was set as well is told apart."""
    time = [0.0]
    async with desk.inbox(now=lambda: time[0]) as inbox:
        await inbox.kept_for()
        server.freeze()
        looking = asyncio.create_task(inbox.kept_for())
        await asyncio.sleep(0.1)  # it has been sent
        time[0] += frozen
        clock.put(ahead=jump + frozen)
        server.thaw()
        kept = await looking
        noted = await desk.client.get(f"{PREFIX}put_back")

    assert frozen <= kept.age.total_seconds() < frozen + 5
    assert abs(int(noted or 0) / 1000 + jump) < 5


@pytest.mark.promise("bounded-asking")
@pytest.mark.parametrize("jump", JUMPS)
async def test_whoever_waits_beyond_a_bound_keeps_their_place(desk: Desk, clock: ServerClock, jump: int) -> None:
    """Also before those who come once the clock was set, and with more than one question in a thread."""
    async with desk.inbox(bounds=desk.bounds(1.5, per_workspace=1)) as inbox:  # which is renewed in every look
        await inbox.kept_for()
        for name, place in (("m0", "0"), ("m1", "1"), ("m1b", "1"), ("m2", "2")):
            await inbox.put(asked(name, in_thread=place))
        async with inbox.claim():
            while await desk.client.zcard(f"{PREFIX}delayed") < len("12"):
                await look(inbox)
            clock.put(ahead=jump)
            await look(inbox)
            await inbox.put(asked("m3", in_thread="3"))
            while await desk.client.zcard(f"{PREFIX}delayed") < len("123"):
                await look(inbox)
        following = [(await taken(inbox)).message.id for _ in range(4)]

    assert following == ["m1", "m2", "m1b", "m3"]


@pytest.mark.parametrize("jump", ALL_JUMPS)
async def test_an_accepted_command_is_left_to_whoever_moves_it(desk: Desk, clock: ServerClock, jump: int) -> None:
    """Two who do so at once would post two messages for it."""
    inbox = desk.inbox()
    await inbox.kept_for()
    await inbox.accept(used(), within=5.0)
    clock.put(ahead=jump)

    assert [await inbox.overdue("test") for _ in range(2)] == [None, None]


MANY = 5_000 if WHOLE else 100  # questions beyond the bound
IDLE = 300  # commands; a worker that finds nothing to do for a second, and looks at one thread, has about 200 done


@pytest.mark.promise("bounded-asking")
async def test_of_those_who_wait_beyond_a_bound_only_the_first_is_looked_at(
    desk: Desk, server: Node, clock: ServerClock
) -> None:
    """Whoever waits behind it costs the server nothing until one of them is done, and makes nobody else wait."""
    async with desk.inbox(bounds=desk.bounds(20.0, per_workspace=1)) as inbox:
        for number in range(MANY + 1):
            await inbox.put(asked(f"m{number}", in_thread=str(number)))
        async with inbox.claim():
            while await desk.client.zcard(f"{PREFIX}delayed") < MANY:
                await look(inbox)
            clock.put(ahead=6)
            before = commands(server)
            await look(inbox)
            spent = commands(server) - before
            await inbox.put(elsewhere())
            assert asks(await taken(inbox)) == elsewhere().question
        following = [(await taken(inbox)).message.id for _ in range(MANY)]

    assert spent <= IDLE  # however many wait
    assert sorted(following) == sorted(f"m{number}" for number in range(1, MANY + 1))


async def look(inbox: RedisInbox) -> None:
    """Do what a worker does that waits, for a second; it is given nothing."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.0), inbox.claim() as task:
            raise AssertionError(task.message)


def elsewhere() -> Asked:
    """Somebody asks in another workspace."""
    question = asked("other").question
    place = question.message.thread.model_copy(update={"workspace": "elsewhere"})
    return Asked(question=question.model_copy(update={"message": MessageRef(thread=place, id="other")}))


def commands(server: Node) -> int:
    """Count what the server has done so far, within scripts too."""
    told = cast("str", server.say("INFO", "commandstats"))
    return sum(int(line.split("calls=")[1].split(",")[0]) for line in told.splitlines() if "calls=" in line)


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_without_a_compiler_these_tests_are_skipped_but_never_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ci: str, outcome: type[BaseException]
) -> None:
    """A gate that says nothing of what it left out is none."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", ci)

    with pytest.raises(outcome):
        ServerClock(tmp_path / "clock")
