"""A service that asks to be left alone is, by all questions at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from adapters.openai import OpenAIChat, OpenAILimits, checked
from core.errors import ModelUnavailable
from tests.adapters.openai.asking import PATIENT, QUICK, ask, model_of, turn_of
from tests.fakes.clock import Clock
from tests.servers.openai import ERROR_EVENT, KEY, MODEL, ChatServer
from tests.servers.openai_refusals import GONE, HELD_BACK, LOADING, TOO_MANY, UNPAID
from tests.servers.service import Reply


@pytest.fixture
def clock() -> Clock:
    """What the model goes by."""
    return Clock()


@pytest.fixture
async def paced(server: ChatServer, clock: Clock) -> AsyncGenerator[OpenAIChat]:
    """A model that goes by the clock of the test."""

    async def sleep(seconds: float) -> None:
        clock.advance(seconds)
        await asyncio.sleep(0)

    retries = replace(QUICK, clock=clock, sleep=sleep)
    model = OpenAIChat(
        MODEL, api_key=KEY, base_url=server.base_url, retries=retries, limits=replace(PATIENT, loading=20.0)
    )
    yield model
    await model.aclose()


REPLIES = {
    **TOO_MANY,
    "a header": (Reply(429, ERROR_EVENT, {"Retry-After": "60"}), 60.0),
    "a server that loads": (Reply(503, ERROR_EVENT, {"Retry-After": "60"}), 60.0),
}


@pytest.mark.parametrize(("reply", "wait"), REPLIES.values(), ids=REPLIES)
async def test_a_long_pause_is_kept_by_all(
    paced: OpenAIChat, server: ChatServer, clock: Clock, reply: Reply, wait: float
) -> None:
    """The first question meets it, the others hear at once for how long, and when it is over all are answered."""
    server.faults.append(reply)
    waits: list[float | None] = []
    for _ in range(3):
        with pytest.raises(ModelUnavailable) as caught:
            await ask(paced)
        waits.append(caught.value.wait)
        assert reply.status == 503 or "is overloaded. Try again in" in str(caught.value)
        clock.advance(1.0)
    assert (waits, len(server.received)) == ([wait, wait - 1, wait - 2], 1)

    clock.advance(wait)
    turns = await asyncio.gather(*(turn_of(paced, tools=()) for _ in range(5)))
    assert {turn.text for turn in turns} == {"OK."}


async def test_a_short_pause_is_waited_out_by_all(paced: OpenAIChat, server: ChatServer, clock: Clock) -> None:
    """Nobody asks before it is over, and nobody hears of it."""
    server.faults.append(Reply(429, ERROR_EVENT, {"Retry-After": "3"}))
    began = clock()
    turns = await asyncio.gather(*(turn_of(paced, tools=()) for _ in range(2)))
    assert ({turn.text for turn in turns}, clock() - began >= 3) == ({"OK."}, True)
    assert len(server.received) <= 3  # both were under way before one of them was refused


async def test_a_pause_that_goes_on_is_met_by_one(paced: OpenAIChat, server: ChatServer, clock: Clock) -> None:
    """The one that goes first is refused again, and the others have not asked."""
    server.broken = Reply(429, ERROR_EVENT, {"Retry-After": "60"})
    with pytest.raises(ModelUnavailable):
        await ask(paced)
    clock.advance(61)
    with pytest.raises(ModelUnavailable):
        await ask(paced)
    for _ in range(5):
        with pytest.raises(ModelUnavailable):
            await ask(paced)
    assert len(server.received) == 2


async def test_a_model_that_loads_is_waited_for(paced: OpenAIChat, server: ChatServer, clock: Clock) -> None:
    """As long as that may take, and nobody is kept from asking meanwhile."""
    server.faults += [LOADING] * 9
    assert (await turn_of(paced, tools=())).text == "OK."

    server.broken, began = LOADING, clock()
    with pytest.raises(ModelUnavailable, match="set OPENAI_FIRST_SECONDS"):
        await ask(paced)
    assert clock() - began == pytest.approx(20, abs=1.0)


@pytest.mark.parametrize(("status", "kept"), [(503, 60), (429, 900)])
async def test_a_pause_of_a_day_is_told_and_not_kept(
    paced: OpenAIChat, server: ChatServer, clock: Clock, status: int, kept: int
) -> None:
    """One question goes first after a while, and so it is known that the service is well again."""
    server.faults.append(Reply(status, ERROR_EVENT, {"Retry-After": "86400"}))
    with pytest.raises(ModelUnavailable, match="Try again in about 24 hours") as caught:
        await ask(paced)
    clock.advance(kept - 9)
    with pytest.raises(ModelUnavailable) as later:
        await ask(paced)
    clock.advance(9)
    assert (caught.value.wait, later.value.wait) == (86_400, 86_400 - kept + 9)
    assert (await turn_of(paced, tools=())).text == "OK."


async def test_the_doctor_ends_a_pause(paced: OpenAIChat, server: ChatServer) -> None:
    """What it was told is newer."""
    server.faults.append(Reply(503, ERROR_EVENT, {"Retry-After": "60"}))
    with pytest.raises(ModelUnavailable):
        await ask(paced)
    await checked(paced)
    assert (await turn_of(paced, tools=())).text == "OK."


@pytest.mark.parametrize("reply", UNPAID.values(), ids=UNPAID)
async def test_an_empty_account_is_told_as_one(server: ChatServer, reply: Reply) -> None:
    """With any status; nothing else has to be changed, and the bound of tokens stays as it was."""
    model = model_of(server, limits=OpenAILimits(tokens=8_192))
    server.faults.append(reply)
    with pytest.raises(ModelUnavailable, match="has no credit left"):
        await ask(model)
    server.say("Yes.")
    await ask(model)
    assert [each.body.get("max_tokens") for each in server.received] == [8_192, 8_192]
    await model.aclose()


@pytest.mark.parametrize(
    ("reply", "says"),
    [*((each, "is not known at this address") for each in GONE.values())]
    + [(each, "a content filter") for each in HELD_BACK.values()],
    ids=[*GONE, *(f"{name}, held back" for name in HELD_BACK)],
)
async def test_what_a_service_means_is_told(model: OpenAIChat, server: ChatServer, reply: Reply, says: str) -> None:
    """With any status: that a model is gone, or that an answer is held back."""
    server.faults.append(reply)
    with pytest.raises(ModelUnavailable, match=says):
        await ask(model)
    assert len(server.received) == 1
