"""Two models as one: the second takes over where the first does not work, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import pytest

from adapters.openai import FallbackChat, OpenAIChat, OpenAILimits
from core.errors import ModelUnavailable, PromptTooLong
from core.events import Event, FellBack
from core.model import Handover, ModelTurn, Restarted, TextDelta
from tests.adapters.openai.asking import ASKED, PATIENT, QUICK, SEARCH, model_of, shown
from tests.servers.openai import ERROR_EVENT, KEY, ChatServer, Cut, Forever
from tests.servers.openai_refusals import GONE, HELD_BACK, LOADING, TOO_LONG, UNPAID
from tests.servers.service import Fault, Hang, Reply, Reset, Trickle

SECOND = "another-model"
BUSY = Reply(503, ERROR_EVENT, {"Retry-After": "60"})


class Pair(NamedTuple):
    """Two services, and the model that holds both."""

    first: ChatServer
    second: ChatServer
    model: FallbackChat
    two: OpenAIChat
    events: list[Event]

    async def asked(self) -> list[Any]:
        """All that is yielded, neighbouring text joined."""
        items: list[Any] = []
        async for item in self.model.stream(ASKED, tools=(SEARCH,)):
            if isinstance(item, TextDelta) and items and isinstance(items[-1], TextDelta):
                items[-1] = TextDelta(items[-1].text + item.text)
            else:
                items.append(item)
        return items

    @property
    def switches(self) -> list[FellBack]:
        """How often the second one took over, and why."""
        return [event for event in self.events if isinstance(event, FellBack)]


@pytest.fixture
async def pair() -> AsyncGenerator[Pair]:
    """Both are well."""
    async with ChatServer() as first, ChatServer(models=(SECOND,)) as second:
        events: list[Event] = []
        one = model_of(first, observer=events.append)
        two = OpenAIChat(SECOND, api_key=KEY, base_url=second.base_url, retries=QUICK, limits=PATIENT)
        yield Pair(first, second, FallbackChat(one, two, events.append), two, events)
        await one.aclose()
        await two.aclose()


@pytest.mark.promise("second-model")
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Reply(500), id="an outage"),
        pytest.param(Reset(), id="no connection"),
        pytest.param(LOADING, id="a model that loads"),
        pytest.param(Reply(429, ERROR_EVENT, {"Retry-After": "3600"}), id="a rate limit"),
        *(pytest.param(reply, id=f"a model that is gone at {name}") for name, reply in GONE.items()),
        *(pytest.param(reply, id=f"an empty account at {name}") for name, reply in UNPAID.items()),
        pytest.param(Reply(401, {"error": {"message": "x"}}), id="a key that was taken away"),
    ],
)
async def test_the_second_model_answers_while_the_first_does_not_work(pair: Pair, fault: Fault) -> None:
    """And the first does again as soon as it works; each change is told."""
    pair.first.say("First.")
    assert shown(await pair.asked()) == "First."
    pair.first.broken = fault
    pair.second.say("Second.")
    items = await pair.asked()

    assert (shown(items), items[-1].model, Restarted() in items) == ("Second.", SECOND, False)
    assert (len(pair.switches), pair.switches[0].service) == (1, "chat model")


async def test_the_first_model_is_back_when_it_works(pair: Pair) -> None:
    """It is asked first each time."""
    pair.first.faults += [Reply(500)] * 3
    pair.second.say("Second.")
    pair.first.say("First.")
    assert [shown(await pair.asked()) for _ in range(2)] == ["Second.", "First."]


async def test_nothing_is_shown_twice(pair: Pair) -> None:
    """Half an answer of the first is taken back before the second begins, which goes on for a while."""
    for _ in range(3):
        pair.first.say("Half an", then=Cut())
    pair.second.say("Second.")
    items = await pair.asked()
    half = TextDelta("Half an")
    assert items[:-1] == [half, Restarted(), half, Restarted(), half, Handover(), TextDelta("Second.")]
    assert isinstance(items[-1], ModelTurn)
    pair.second.say("Second again.")
    assert (shown(await pair.asked()), len(pair.first.received)) == ("Second again.", 3)
    pair.second.broken = Reply(429, ERROR_EVENT, {"Retry-After": "600"})
    with pytest.raises(ModelUnavailable) as caught:
        await pair.asked()
    assert 0 < (caught.value.wait or 0) < 600  # when the first is asked again


@pytest.mark.parametrize(
    "silence",
    [Hang(), Trickle(), Reply(524, ERROR_EVENT), Forever(b": PROCESSING\n\n")],
    ids=lambda each: type(each).__name__,
)
async def test_a_first_model_that_does_not_begin_leaves_time_for_the_second(
    pair: Pair, silence: Fault | Forever
) -> None:
    """It says nothing, keeps the line open, or fails late; what takes longest is not tried again."""
    first = model_of(pair.first, limits=OpenAILimits(first=30.0, read=30.0, patience=0.3), observer=pair.events.append)
    if isinstance(silence, Forever):
        pair.first.stream(silence)
    else:
        pair.first.broken = silence
    pair.first.delay = 0.4 if isinstance(silence, Reply) else 0.0
    pair.second.say("Second.")
    both = FallbackChat(first, pair.two, pair.events.append)
    async with asyncio.timeout(10):
        items = [item async for item in both.stream(ASKED, tools=(SEARCH,))]
    assert (shown(items), len(pair.first.received), len(pair.switches)) == ("Second.", 1, 1)
    await first.aclose()


@pytest.mark.parametrize(
    "reply",
    [
        TOO_LONG["vLLM"][0],
        Reply(400, {"error": {"message": "Bad."}}),
        *HELD_BACK.values(),
    ],
)
async def test_what_another_model_would_refuse_too_is_not_asked_of_it(pair: Pair, reply: Reply) -> None:
    """A prompt that is too long, or that nobody takes, is no outage."""
    pair.first.broken = reply
    with pytest.raises(ModelUnavailable):
        await pair.asked()
    assert (pair.second.received, pair.switches) == ([], [])


@pytest.mark.parametrize(
    ("replies", "wait", "lasts"),
    [
        ((Reply(500), BUSY), 60, False),
        ((BUSY, Reply(429, ERROR_EVENT, {"Retry-After": "600"})), 60, False),
        ((BUSY, Reply(401)), 60, False),
        ((Reply(500), Reply(401)), None, False),
        ((Reply(401), Reply(401)), None, True),
    ],
)
async def test_two_that_do_not_work_are_one_that_does_not(
    pair: Pair, replies: tuple[Reply, Reply], wait: float | None, lasts: bool
) -> None:
    """The error is that of the second, but whoever asks waits for the one that is back first."""
    pair.first.broken, pair.second.broken = replies
    with pytest.raises(ModelUnavailable) as caught:
        await pair.asked()
    assert (caught.value.wait, caught.value.is_lasting) == (wait, lasts)


async def test_a_second_model_may_read_less(pair: Pair) -> None:
    """It says so where nothing was shown, and what it reads counts until the first is back."""
    pair.first.faults += [Reply(500)] * 3
    pair.second.faults.append(TOO_LONG["vLLM"][0])
    with pytest.raises(PromptTooLong) as caught:
        await pair.asked()
    assert (caught.value.limit, pair.model.context_tokens) == (4096, 4096)
    pair.first.say("First.")
    assert (shown(await pair.asked()), pair.model.context_tokens) == ("First.", None)


async def test_a_prompt_that_is_too_long_for_the_second_is_no_news_to_readers(pair: Pair) -> None:
    """Who has seen half an answer is not shown another one, of less."""
    for _ in range(3):
        pair.first.say("Half an", then=Cut())
    pair.second.faults.append(TOO_LONG["vLLM"][0])
    with pytest.raises(ModelUnavailable) as caught:
        await pair.asked()
    assert not isinstance(caught.value, PromptTooLong)
