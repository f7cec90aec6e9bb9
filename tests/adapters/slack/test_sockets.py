"""Socket Mode: what happens on Slack arrives, whatever becomes of single connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import pytest

from adapters.retry import CONNECTING
from adapters.slack.health import APP_TOKEN_REFUSED, SOCKET_MODE_OFF
from adapters.slack.sockets import SocketPool
from core.errors import Misconfigured, StoreUnavailable
from tests.adapters.slack.intake import Place
from tests.servers.slack import limit, refuse
from tests.waiting import adapters_at_work

BOTH = 2


@dataclass
class Told:
    """What an operator is told, and how long was waited."""

    lines: list[str] = field(default_factory=list[str])
    waits: list[float] = field(default_factory=list[float])

    async def sleep(self, seconds: float) -> None:
        """Let no time pass."""
        self.waits.append(seconds)
        await asyncio.sleep(0)

    def connected(self, app_id: str) -> None:
        """Slack can be heard."""
        self.lines.append(f"connected to {app_id}")

    def lost(self, attempt: int, reason: str) -> None:
        """Slack cannot be heard."""
        self.lines.append(f"{attempt}: {reason}")


@pytest.fixture(name="place")
async def _place() -> AsyncIterator[Place]:
    """Run Slack."""
    async with Place.open() as place:
        yield place


def pool(place: Place, told: Told, app_token: str = "") -> SocketPool:
    """Connect without waiting."""
    retries = replace(CONNECTING, sleep=told.sleep, told=told.lost)
    token, answer = app_token or place.server.app_token, place.app().async_dispatch
    return SocketPool(place.client, token, answer, retries=retries, connected=told.connected)


@asynccontextmanager
async def listening(place: Place, told: Told) -> AsyncGenerator[asyncio.Task[None]]:
    """Listen, on both connections."""
    task = asyncio.create_task(pool(place, told).run())
    await place.server.connected(BOTH)
    try:
        yield task
    finally:
        if not task.cancelling():
            task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.mark.promise("acknowledged-when-kept")
async def test_what_could_be_done_is_acknowledged_and_all_else_comes_again(place: Place) -> None:
    """Over two connections; a command is acknowledged with what it says."""
    async with listening(place, Told()):
        mention = place.server.post_as(place.ada, place.channel, "one").deliveries[0]
        said = await place.server.slash(place.ada, place.channel, "/footnote", "ask").acknowledged()
        await mention.acknowledged()
        place.ears.failure = StoreUnavailable("The data store cannot be reached.")
        lost = place.server.post_as(place.ada, place.channel, "two").deliveries[0]
        await place.server.until(lambda: place.ears.failures)
        was_lost, place.ears.failure = not lost.acked, None
        (again,) = await place.server.redeliver(lost)
        await again.acknowledged()

    assert (was_lost, place.ears.heard) == (True, ["one", "two", "two"])
    assert said == {"response_action": "errors", "errors": {"question": "It is empty."}}
    assert place.server.sockets.unknown_acks == []


async def test_an_envelope_without_anything_in_it_closes_nothing(place: Place) -> None:
    """What comes after it on the same connection is taken, and nobody is told of a loss."""
    told = Told()
    async with listening(place, told):
        for payload in (None, 5, "x"):
            for each in place.server.sockets.connected:
                each.send({"envelope_id": "1", "type": "events_api", "payload": payload})
        await place.server.post_as(place.ada, place.channel, "one").deliveries[0].acknowledged()
        arrivals = len(place.server.sockets.arrivals)

    assert (place.ears.heard, arrivals) == (["one"], BOTH)
    assert told.lines == [f"connected to {place.server.app_id}"]


@pytest.mark.promise("stays-connected")
async def test_a_connection_is_replaced_before_it_is_closed(place: Place) -> None:
    """So that one stands at every moment, and what it still brings is taken; nobody is told of it."""
    told, server = Told(), place.server
    async with listening(place, told):
        old = server.sockets.connected[0]
        place.ears.free.clear()
        asked = server.post_as(place.ada, place.channel, "in between").deliveries[0]
        await server.until(lambda: place.ears.heard)
        server.refresh(everybody=True)
        await server.until(lambda: len(server.sockets.arrivals) == 2 * BOTH)
        is_open_still = not old.socket.closed
        place.ears.free.set()
        await asked.acknowledged()
        later = server.post_as(place.ada, place.channel, "after").deliveries[0]
        await later.acknowledged()

    assert (is_open_still, place.ears.heard) == (True, ["in between", "after"])
    assert told.lines == [f"connected to {server.app_id}"]


@pytest.mark.promise("orderly-stop")
async def test_a_second_stop_waits_for_no_answer_and_leaves_nothing_behind(place: Place) -> None:
    """What was not acknowledged comes again."""
    async with listening(place, Told()) as task:
        place.ears.free.clear()
        asked = place.server.post_as(place.ada, place.channel, "too late").deliveries[0]
        await place.server.until(lambda: place.ears.heard)
        task.cancel()
        await place.server.until(lambda: any(not one.open for one in place.server.sockets.arrivals))
        was_waiting = not task.done()
        task.cancel()
        await asyncio.wait({task})

        assert (was_waiting, asked.acked, adapters_at_work()) == (True, False, set())


@pytest.mark.promise("stays-connected")
async def test_an_outage_is_told_once_and_over_by_itself(place: Place) -> None:
    """All connections are cut, Slack fails, then wants to be left alone, then is there again."""
    told, server = Told(), place.server
    async with listening(place, told):
        server.faults.add("apps.connections.open", refuse("internal_error"), limit(20))
        server.sockets.drop()
        await server.connected(BOTH)
        await server.post_as(place.ada, place.channel, "still there?").deliveries[0].acknowledged()

    connected, cut = f"connected to {server.app_id}", "1: the connection was closed"
    assert told.lines == [connected, cut, "1: internal_error", "2: rate limit", connected]
    assert max(told.waits) == 20


@pytest.mark.promise("stays-connected")
@pytest.mark.parametrize("is_switched_off", [False, True])
async def test_connections_that_end_as_announced_and_have_no_successor_are_told(
    place: Place, *, is_switched_off: bool
) -> None:
    """Slack cannot be heard from the moment on when the last of them is closed, however that began."""
    told, server = Told(), place.server
    async with listening(place, told):
        server.faults.break_(
            "apps.connections.open", refuse("socket_mode_not_enabled" if is_switched_off else "internal_error")
        )
        if is_switched_off:
            server.sockets.ask_to_reconnect("link_disabled", everybody=True)
        else:
            server.refresh(everybody=True)
            for connection in server.sockets.arrivals:
                connection.abort()
        await server.until(lambda: len(told.lines) > 1, what="a word")
        server.faults.mend()
        await server.connected(BOTH)
        await server.post_as(place.ada, place.channel, "still there?").deliveries[0].acknowledged()

    connected, said = f"connected to {server.app_id}", SOCKET_MODE_OFF if is_switched_off else "internal_error"
    assert (told.lines[0], told.lines[-1]) == (connected, connected)
    assert {line.partition(": ")[2] for line in told.lines[1:-1]} <= {said, "the connection was closed"}


@pytest.mark.promise("stays-connected")
async def test_the_first_connection_may_fail(place: Place) -> None:
    """A bot that starts before its network does comes up by itself."""
    told = Told()
    place.server.faults.add("apps.connections.open", refuse("internal_error"), refuse("fatal_error"))
    async with listening(place, told):
        pass

    assert told.lines == ["1: internal_error", "2: fatal_error", f"connected to {place.server.app_id}"]
    assert told.waits == [1.0, 2.0]


@pytest.mark.promise("no-secrets")
async def test_what_only_the_operator_can_change_ends_it_with_a_sentence(place: Place) -> None:
    """A token that Slack refuses, a token of the other kind, and Socket Mode that is switched off."""
    told = Told()
    refusals: list[str] = []
    for token in ("xapp-hunter2", place.workspace.token, place.server.app_token):
        if token == place.server.app_token:
            place.server.faults.break_("apps.connections.open", refuse("socket_mode_not_enabled"))
        with pytest.raises(Misconfigured) as refused:
            await pool(place, told, token).run()
        refusals.append(str(refused.value))

    assert refusals == [APP_TOKEN_REFUSED, APP_TOKEN_REFUSED, SOCKET_MODE_OFF]
    assert told.lines == []


@pytest.mark.promise("orderly-stop")
async def test_a_stop_finishes_what_is_being_taken(place: Place) -> None:
    """And acknowledges it, on the connection it came on."""
    async with listening(place, Told()) as task:
        place.ears.free.clear()
        asked = place.server.post_as(place.ada, place.channel, "last").deliveries[0]
        await place.server.until(lambda: place.ears.heard)
        task.cancel()
        await asyncio.sleep(0)
        was_open = not asked.acked
        place.ears.free.set()
        await asked.acknowledged()
    await place.server.until(lambda: not place.server.sockets.connected)

    assert was_open


@pytest.mark.promise("orderly-stop")
async def test_a_stop_finishes_what_is_being_taken_on_a_connection_that_was_replaced(place: Place) -> None:
    """It is acknowledged before the end, and no connection stays open."""
    server = place.server
    async with listening(place, Told()) as task:
        first = list(server.sockets.connected)
        place.ears.free.clear()
        asked = server.post_as(place.ada, place.channel, "in between").deliveries[0]
        await server.until(lambda: place.ears.heard)
        server.refresh(everybody=True)
        await server.until(lambda: len(server.sockets.arrivals) == 2 * BOTH)
        server.post_as(place.ada, place.channel, "after")
        await server.until(lambda: len(place.ears.heard) == BOTH)
        task.cancel()
        await asyncio.sleep(0)
        was_open = not asked.acked
        place.ears.free.set()
        with suppress(asyncio.CancelledError):
            await task
        was_acknowledged = asked.acked
    await server.until(lambda: all(each.socket.closed for each in first))

    assert (was_open, was_acknowledged) == (True, True)
