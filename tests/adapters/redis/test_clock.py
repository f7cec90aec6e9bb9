"""A server whose clock is set right by an hour, either way: no command loses its answer, and nothing waits an hour."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from adapters.redis.connection import connect
from adapters.redis.inbox_store import Bounds
from core.model import Asked, Claim, Interaction, ReplyAddress
from tests.adapters.redis.desk import Desk
from tests.builders import thread
from tests.inboxes import asked, asks, fail, taken
from tests.servers.clock import ServerClock
from tests.servers.valkey import Node, alone

HOUR = 3600
JUMPS = (HOUR, -HOUR)


@pytest.fixture(name="clock", scope="module")
def _clock(tmp_path_factory: pytest.TempPathFactory) -> ServerClock:
    return ServerClock(tmp_path_factory.mktemp("clock") / "lib")


@pytest.fixture(name="server", scope="module")
def _server(clock: ServerClock, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with alone(tmp_path_factory.mktemp("clocked"), clock=clock) as server:
        yield server


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
