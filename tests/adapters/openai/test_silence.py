"""How long a model may be silent: before its first word, between two, and that it is not asked again after all that."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from adapters.openai import OpenAIChat, OpenAILimits
from adapters.openai.failures import SLOW
from adapters.retry import IN_A_ROW
from core.errors import ModelUnavailable
from core.events import Event, Retried, ServiceSkipped, only
from tests.adapters.openai.asking import ASKED, QUICK, ask, model_of, shown, turn_of
from tests.fakes.clock import Clock
from tests.servers.openai import DONE, KEY, MODEL, ChatServer, Forever, Stall, Step, chunk
from tests.servers.service import Hang

BRIEF = OpenAILimits(first=0.4, read=0.4)
FOREVER = 30.0


@pytest.mark.parametrize("comment", [b": OPENROUTER PROCESSING\n\n", b": keep-alive\n", b"\n", b"event: ping\r\n\r\n"])
@pytest.mark.parametrize("said", [[], [chunk({"content": "A robot "})]], ids=["before", "between"])
async def test_a_line_that_is_kept_open_is_no_silence(
    server: ChatServer, events: list[Event], comment: bytes, said: list[Step]
) -> None:
    """The answer comes after three times as long as silence may last."""
    server.pace = 0.1
    server.stream(*said, *[comment] * 12, chunk({"content": "acts."}), chunk({}, finish="stop"), DONE)
    model = model_of(server, limits=BRIEF, observer=only(events.append, Retried))
    assert shown(await ask(model)).endswith("acts.")
    assert (events, len(server.received)) == ([], 1)
    await model.aclose()


@pytest.mark.parametrize(
    "then", [Stall(), Forever(b" "), Forever(b'data: {"a": ')], ids=["nothing", "blanks", "half an event"]
)
@pytest.mark.parametrize("said", [(), (chunk({"content": "A robot "}),)], ids=["before", "between"])
async def test_silence_ends_an_answer_once(server: ChatServer, then: Step, said: tuple[Step, ...]) -> None:
    """Whoever was given all the time that there is does not get it three times over."""
    server.stream(*said, then)
    model = model_of(server, limits=BRIEF)
    with pytest.raises(ModelUnavailable, match="OPENAI_FIRST_SECONDS") as caught:
        await ask(model)
    await server.hung_up.wait()
    assert (str(caught.value), len(server.received)) == (SLOW, 1)
    await model.aclose()


async def test_no_answer_at_all_is_waited_for_once(server: ChatServer) -> None:
    """Ollama says nothing while it loads a model, and gives that up when the client leaves."""
    server.faults.append(Hang())
    model = model_of(server, limits=OpenAILimits(connect=0.1, first=0.3, read=FOREVER))
    with pytest.raises(ModelUnavailable, match="did not answer in time"):
        await ask(model)
    await server.hung_up.wait()
    assert len(server.received) == 1
    await model.aclose()


async def test_a_model_may_take_longer_to_begin_than_to_go_on(server: ChatServer) -> None:
    """It is loaded before its first word alone."""
    model = model_of(server, limits=OpenAILimits(first=FOREVER, read=0.2))
    server.pauses_before = b"robot"
    server.stream(b": loading\n\n", chunk({"content": "A robot acts."}), chunk({}, finish="stop"), DONE)
    asyncio.get_running_loop().call_later(0.6, server.goes_on.set)
    assert (await turn_of(model)).text == "A robot acts."

    server.say("A ", "b", then=Stall())
    async with asyncio.timeout(5):
        with pytest.raises(ModelUnavailable, match="did not answer in time"):
            await ask(model)
    await model.aclose()


async def test_a_slow_reader_is_no_silent_model(server: ChatServer) -> None:
    """What is counted is how long the model takes, and not what is done with its words."""
    model = model_of(server, limits=BRIEF)
    server.pace = 0.05
    server.say("A ", "robot ", "acts.")
    async for _ in model.stream(ASKED, tools=()):
        await asyncio.sleep(0.5)
    await model.aclose()
    assert len(server.received) == 1


async def test_a_question_that_ends_while_nothing_was_said_is_a_failure(server: ChatServer) -> None:
    """After some of them nobody waits any more; who leaves early, or has heard something, says nothing of the model."""
    server.broken = Hang()
    clock, events = Clock(), list[ServiceSkipped]()
    model = OpenAIChat(
        MODEL,
        api_key=KEY,
        base_url=server.base_url,
        retries=replace(QUICK, clock=clock),
        limits=OpenAILimits(patience=60.0),
        observer=only(events.append, ServiceSkipped),
    )

    async def left(after: float) -> None:
        asking = asyncio.create_task(ask(model))
        await server.was_asked(len(server.received) + 1, seconds=5)
        clock.advance(after)
        asking.cancel()
        await asyncio.wait([asking])

    for seconds in [10.0] * IN_A_ROW:
        await left(seconds)
    early = list(events)
    for seconds in [40.0] * IN_A_ROW:
        await left(seconds)
    assert (early, [event.reason for event in events]) == ([], ["no answer in time"])
    with pytest.raises(ModelUnavailable, match="so it is skipped"):
        await ask(model)
    server.broken = None
    clock.advance(60.0)
    for _ in range(2 * IN_A_ROW):
        server.say("A robot ", "acts.")
        async with aclosing(model.stream(ASKED, tools=())) as pieces:
            await anext(pieces)
            clock.advance(100.0)
    assert len(events) == 1
    await model.aclose()
