"""Whoever runs the bot hears that Discord is gone, and that it is back, and nothing of what is planned."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from discord.gateway import DiscordWebSocket

from adapters.chat.services import Presence
from adapters.discord.connection import connect, log_in, stay_connected
from adapters.discord.gateway import GATEWAY, Listener
from adapters.discord.limits import Throttle
from adapters.retry import CONNECTING, TOKEN_REFUSED
from core.errors import Misconfigured
from core.events import Connected, ConnectionLost, Event
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.eager import EagerClient, client_of
from tests.adapters.discord.ears import listening
from tests.fakes.box import Box
from tests.fakes.clock import Clock
from tests.servers.discord import TOKEN, DiscordServer, Reply
from tests.waiting import wait_until


@pytest.mark.promise("tells-how-it-is")
async def test_a_planned_reconnect_is_no_news_and_an_outage_is_told_once(server: DiscordServer, place: Place) -> None:
    """And once more when it is over; nothing is told of what Discord asks for every few hours."""
    told, box = list[Event](), Box()

    def connections() -> list[Event]:
        return [event for event in told if isinstance(event, ConnectionLost | Connected)]

    async with listening(server, box, observer=told.append) as client:
        server.gateway.ask_to_reconnect()
        await server.until(lambda: len(server.gateway.arrivals) == 2)
        await server.until(lambda: server.gateway.connected)
        server.post_as(place.ada, place.channel, "And now?", mentions=[server.bot])
        await box.question()
        was_told = connections()
        client.grace = 0.0
        server.gateway.refusing = True
        server.gateway.drop()
        await wait_until(lambda: bool(connections()), what="the outage")
        await server.until(lambda: server.gateway.refused)
        server.gateway.refusing = False
        await wait_until(lambda: len(connections()) > 1, what="its end")

    assert was_told == []
    assert connections() == [ConnectionLost("Discord", "shard 0 was disconnected"), Connected("Discord", "")]


@pytest.mark.promise("tells-how-it-is")
async def test_a_gateway_that_is_away_from_the_start_is_told_once(server: DiscordServer) -> None:
    """The library tries it for ever without a word; that the bot is there is told once it is."""
    told = list[Event]()
    presence = Presence("Discord", told.append)
    server.gateway.refusing = True

    async def hurry(client: Listener) -> None:
        presence.expect(GATEWAY)
        client.grace = 0.0

    async with listening(server, Box(), setup=hurry, presence=presence, is_awaited=False) as client:
        await wait_until(lambda: bool(told), what="the outage")
        server.gateway.refusing = False
        await client.wait_until_ready()
        presence.back(GATEWAY, "Footnote")

    assert told == [ConnectionLost("Discord", "the gateway cannot be reached"), Connected("Discord", "Footnote")]


@pytest.mark.promise("stays-connected")
async def test_a_token_that_was_good_is_tried_until_it_is_again(server: DiscordServer) -> None:
    """While it is being reset, Discord closes the gateway and refuses the old one."""
    clients, told = list[EagerClient](), list[str]()

    def make() -> EagerClient:
        clients.append(client_of(server))
        return clients[-1]

    async def reset(_: float) -> None:
        if len(told) > 1:
            server.token = TOKEN

    def tell(_: int, reason: str) -> None:
        told.append(reason)

    retries = replace(CONNECTING, sleep=reset, told=tell)
    running = asyncio.create_task(stay_connected(make, TOKEN, retries))
    await server.connected()
    await clients[-1].wait_until_ready()
    server.token = "another one"
    server.gateway.close(4004)
    await server.until(lambda: len(server.gateway.arrivals) == 2)
    await clients[-1].close()
    await running

    assert told == ["gateway closed with 4004", TOKEN_REFUSED]


@pytest.mark.promise("says-what-to-do")
async def test_a_token_of_the_wrong_form_is_not_tried_for_ever(server: DiscordServer) -> None:
    """Discord does not even read it."""
    server.faults.add("GET /users/@me", Reply(400, {"message": "400: Bad Request", "code": 0}))

    with pytest.raises(Misconfigured, match="token"):
        await stay_connected(lambda: client_of(server), "wrong")


async def test_the_address_of_the_gateway_may_do_without_its_last_slash(server: DiscordServer) -> None:
    """The library adds to the path that follows."""
    connect(EagerClient, message_content=False, gateway_url=server.gateway_url.rstrip("/"))

    assert str(DiscordWebSocket.DEFAULT_GATEWAY) == server.gateway_url


@pytest.mark.promise("says-what-to-do")
async def test_of_two_that_log_in_with_a_wrong_token_both_hear_that_it_is_refused(server: DiscordServer) -> None:
    """The second is not let through any more once the first was refused, which is no limit that passes."""
    addresses: dict[str, Any] = {"api_url": server.api_url, "gateway_url": server.gateway_url}
    throttle = Throttle()

    for _ in range(2):
        async with connect(EagerClient, message_content=False, throttle=throttle, **addresses) as client:
            with pytest.raises(Misconfigured, match="token"):
                await log_in(client, "wr0ng.t0ken.s3cret", replace(CONNECTING, attempts=1))

    assert [request.route for request in server.requests] == ["GET /users/@me"]


@pytest.mark.promise("stays-connected")
async def test_of_two_that_log_in_the_second_tries_a_token_again_that_was_good_for_the_first(
    server: DiscordServer,
) -> None:
    """It may be reset just when the bot starts."""
    addresses: dict[str, Any] = {"api_url": server.api_url, "gateway_url": server.gateway_url}
    throttle, clock, told = Throttle(), Clock(), dict[int, str]()
    throttle.gate.clock = clock

    async def reset(seconds: float) -> None:
        clock.advance(seconds)
        server.token = TOKEN

    for retries in (CONNECTING, replace(CONNECTING, sleep=reset, told=told.__setitem__)):
        async with connect(EagerClient, message_content=False, throttle=throttle, **addresses) as client:
            await log_in(client, TOKEN, retries, throttle.gate)
        server.token = "another one"

    assert told == {1: TOKEN_REFUSED}
