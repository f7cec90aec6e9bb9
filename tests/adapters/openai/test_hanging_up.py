"""Nobody listens any more: the connection is closed at once, so that the service stops writing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from adapters.openai import OpenAIChat
from core.model import TextDelta
from tests.adapters.openai.asking import ASKED, SEARCH, Item, ask, shown, turn_of
from tests.servers.openai import ChatServer, Stall
from tests.servers.service import Hang
from tests.waiting import wait_until


@asynccontextmanager
async def hung_up_within_a_second(server: ChatServer) -> AsyncGenerator[None, None]:
    """The server sees the connection end, and works on."""
    yield
    async with asyncio.timeout(1):
        await server.hung_up.wait()


@pytest.mark.parametrize("streams", [True, False])
async def test_closing_the_generator_hangs_up(model: OpenAIChat, server: ChatServer, streams: bool) -> None:
    """The next question is answered as if nothing had been."""
    server.say("A ", "robot", then=Stall())
    stream = model.stream(ASKED, tools=(SEARCH,))
    assert isinstance(await anext(stream), TextDelta)
    async with hung_up_within_a_second(server):
        await stream.aclose()
    server.streams = streams
    server.say("Yes.")
    assert (await turn_of(model)).text == "Yes."


async def test_cancelling_before_the_first_byte_hangs_up(model: OpenAIChat, server: ChatServer) -> None:
    """A request that waits is not tried again."""
    server.faults.append(Hang())
    asking = asyncio.create_task(ask(model))
    await wait_until(lambda: bool(server.received), what="the request")
    async with hung_up_within_a_second(server):
        asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert len(server.received) == 1


async def test_cancelling_between_two_tokens_hangs_up(model: OpenAIChat, server: ChatServer) -> None:
    """What was shown stays with whoever cancelled."""
    server.say("A ", "robot", then=Stall())
    seen: list[Item] = []
    both = asyncio.Event()

    async def listen() -> None:
        async for item in model.stream(ASKED, tools=()):
            seen.append(item)
            if shown(seen) == "A robot":
                both.set()

    listening = asyncio.create_task(listen())
    await both.wait()
    async with hung_up_within_a_second(server):
        listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert shown(seen) == "A robot"
    assert len(server.received) == 1


async def test_closing_the_client_is_possible_at_any_time_and_twice(model: OpenAIChat, server: ChatServer) -> None:
    """A client that is used again connects again."""
    await model.aclose()
    server.say("Yes.")
    assert (await turn_of(model)).text == "Yes."
    await model.aclose()
    await model.aclose()
    server.say("Yes.")
    assert (await turn_of(model)).text == "Yes."


async def test_a_hundred_questions_at_once_are_answered(model: OpenAIChat, server: ChatServer) -> None:
    """None waits for another's connection, and all share one client."""
    turns = await asyncio.gather(*(turn_of(model, tools=()) for _ in range(100)))
    assert {turn.text for turn in turns} == {"OK."}
