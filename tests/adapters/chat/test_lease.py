"""A request that changes something asks for the lease when it is written, whatever it had to wait for before."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector
from discord import AutoShardedClient
from discord.http import Route

from adapters.chat.lease import traced, while_held
from adapters.discord import connection as discord
from adapters.discord.poster import translated
from adapters.slack import api as slack
from core.errors import LeaseLost, Unreachable
from core.model import Claim, Task
from tests.builders import question
from tests.platforms import Notes
from tests.servers.discord import DiscordServer
from tests.servers.slack import Hold, SlackServer
from tests.waiting import wait_until

CLAIM = Claim(question())
TEXT = "A robot acts."


@dataclass
class Narrow:
    """A platform that one connection leads to, with requests of the bot's that only read, and that post something."""

    hold: Callable[[Hold], None]
    is_held: Callable[[], bool]
    read: Callable[[], Awaitable[object]]
    post: Callable[[], Awaitable[object]]
    posted: Callable[[], list[str]]
    notes: Notes = field(default_factory=lambda: Notes(told=lambda: None))


@asynccontextmanager
async def _discord() -> AsyncGenerator[Narrow]:
    async with DiscordServer() as server:
        channel = server.add_channel(server.add_guild())
        addresses: dict[str, Any] = {"api_url": server.api_url, "gateway_url": server.gateway_url}
        narrow = TCPConnector(limit=1)
        client = discord.connect(AutoShardedClient, message_content=False, connector=narrow, **addresses)
        await client.login(server.token)
        place, where = client.get_partial_messageable(channel.id), Route("GET", "/users/@me")
        yield Narrow(
            hold=lambda fault: server.faults.add("GET /users/@me", fault),
            is_held=lambda: bool(server.faults.met),
            read=lambda: client.http.request(where),
            post=lambda: translated(place.send(TEXT)),
            posted=lambda: [one.content for one in server.platform.messages.values()],
        )
        await client.close()


@asynccontextmanager
async def _slack() -> AsyncGenerator[Narrow]:
    async with SlackServer() as server, ClientSession(connector=TCPConnector(limit=1), trace_configs=[traced()]) as way:
        workspace = server.add_workspace()
        channel = server.add_channel(workspace)
        client = slack.connect(way, token=workspace.token, api_url=server.api_url, repeats=False)
        yield Narrow(
            hold=lambda fault: server.faults.add("auth.test", fault),
            is_held=lambda: bool(server.faults.met),
            read=lambda: slack.ask(client, "auth.test"),
            post=lambda: slack.tell(client, "chat.postMessage", channel=channel.id, text=TEXT),
            posted=lambda: [one.text for one in server.messages(channel, by=workspace.bot)],
        )


@pytest.fixture(name="way", params=[_discord, _slack], ids=["discord", "slack"])
async def _way(request: pytest.FixtureRequest) -> AsyncIterator[Narrow]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(request.param())


@pytest.mark.promise("crash-safe")
async def test_what_waited_for_a_connection_is_not_posted_by_who_has_lost_the_question_meanwhile(way: Narrow) -> None:
    """Whoever has it by then has looked for it, and has posted an answer of its own."""
    going_on = asyncio.Event()
    way.hold(Hold(going_on))
    reading = asyncio.ensure_future(way.read())
    await wait_until(way.is_held, what="a request that takes the connection")
    with while_held(CLAIM, way.notes):
        posting = asyncio.ensure_future(way.post())
        await asyncio.sleep(0.05)  # nothing tells that it waits
    way.notes.is_lost = True
    going_on.set()
    await reading

    with pytest.raises(LeaseLost):
        await posting
    assert way.posted() == []


@pytest.mark.promise("crash-safe")
async def test_what_waited_for_a_connection_is_posted_by_who_holds_the_question_still(way: Narrow) -> None:
    """And after that, what reads needs no lease."""
    with while_held(CLAIM, way.notes):
        await way.post()
        way.notes.is_lost = True
        await way.read()

    assert way.posted() == [TEXT]


@pytest.mark.promise("crash-safe")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="there, nothing comes between the headers and the body")
async def test_what_stood_still_before_its_body_was_written_is_not_posted(way: Narrow) -> None:
    """As a process does that is frozen, and goes on when another one has the question."""

    class Frozen(Notes):
        async def holds(self, task: Task) -> bool:
            asyncio.get_running_loop().call_soon(self.lose)
            return await super().holds(task)

        def lose(self) -> None:
            self.is_lost = True

    notes = Frozen(told=lambda: None)
    await way.read()  # so that there is a connection
    with while_held(CLAIM, notes):
        with pytest.raises(Unreachable):
            await way.post()
        with pytest.raises(LeaseLost):
            await way.post()

    assert way.posted() == []
