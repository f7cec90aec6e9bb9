"""Everything that goes wrong on the way: what may pass is tried again, and what is broken is no answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from adapters.openai import OpenAIChat, OpenAILimits
from adapters.openai.refusals import EndlessAnswer
from adapters.openai.watch import LARGEST, Watch
from adapters.retry import RetryPolicy
from core.answering.agent import Agent
from core.errors import ModelUnavailable
from core.events import Event, Retried, only
from core.model import ModelTurn, Restarted, Status, TextDelta
from tests.adapters.openai.asking import PATIENT, ask, ask_into, model_of, shown, turn_of
from tests.adapters.openai.faults import IN_PLACE, IN_THE_MIDDLE, InPlace, InTheMiddle
from tests.builders import hit, question
from tests.fakes.shelf import Shelf
from tests.servers.openai import DONE, ERROR_EVENT, KEY, MODEL, ChatServer, Cut, End, Forever, Step, chunk
from tests.servers.service import Reply, Trickle

GOOD = [TextDelta("A robot acts."), ModelTurn("A robot acts.", model=MODEL)]


@pytest.mark.parametrize("fault", IN_PLACE.values(), ids=IN_PLACE)
async def test_a_fault_in_place_of_an_answer_is_passed_by_asking_again(
    model: OpenAIChat, server: ChatServer, events: list[Event], fault: InPlace
) -> None:
    """The reader sees nothing of it."""
    server.faults.append(fault.fault)
    _script_good(server)
    assert await ask(model) == GOOD
    assert events == [Retried("chat model", 1, fault.reason)]


@pytest.mark.parametrize("fault", IN_PLACE.values(), ids=IN_PLACE)
async def test_a_fault_that_stays_ends_after_three_requests(
    model: OpenAIChat, server: ChatServer, events: list[Event], fault: InPlace
) -> None:
    """Then the model is unavailable, in a sentence for people."""
    server.broken = fault.fault
    with pytest.raises(ModelUnavailable, match=r"Try again in a moment"):
        await ask(model)
    assert len(server.received) == 3
    assert events == [Retried("chat model", attempt, fault.reason) for attempt in (1, 2)]


@pytest.mark.parametrize("fault", IN_THE_MIDDLE.values(), ids=IN_THE_MIDDLE)
async def test_a_stream_that_breaks_before_its_text_is_asked_for_again(
    model: OpenAIChat, server: ChatServer, events: list[Event], fault: InTheMiddle
) -> None:
    """Nothing was shown, so nothing is taken back."""
    server.stream(chunk({"role": "assistant", "content": ""}), *fault.steps)
    _script_good(server)
    assert await ask(model, tools=()) == GOOD
    assert events == [Retried("chat model", 1, fault.reason)]


@pytest.mark.parametrize("fault", IN_THE_MIDDLE.values(), ids=IN_THE_MIDDLE)
async def test_a_stream_that_breaks_after_its_text_is_taken_back_first(
    model: OpenAIChat, server: ChatServer, events: list[Event], fault: InTheMiddle
) -> None:
    """The half answer is gone before the whole one comes."""
    server.stream(chunk({"content": "Half "}), chunk({"content": "an"}), *fault.steps)
    _script_good(server)
    assert await ask(model, tools=()) == [TextDelta("Half an"), Restarted(), *GOOD]
    assert events == [Retried("chat model", 1, fault.reason)]


@pytest.mark.parametrize("fault", IN_THE_MIDDLE.values(), ids=IN_THE_MIDDLE)
async def test_a_stream_that_always_breaks_is_never_an_answer(
    model: OpenAIChat, server: ChatServer, fault: InTheMiddle
) -> None:
    """Three requests, each taken back but the last, which is an error."""
    for _ in range(3):
        server.stream(chunk({"content": "Half"}), *fault.steps)
    items: list[Any] = []
    with pytest.raises(ModelUnavailable):
        await ask_into(items, model)
    assert items == [TextDelta("Half"), Restarted(), TextDelta("Half"), Restarted(), TextDelta("Half")]
    assert len(server.received) == 3


@pytest.mark.parametrize("fault", IN_THE_MIDDLE.values(), ids=IN_THE_MIDDLE)
async def test_tool_calls_of_a_broken_stream_are_never_made(
    model: OpenAIChat, server: ChatServer, fault: InTheMiddle
) -> None:
    """The arguments were whole, but the answer was not."""
    function = {"name": "fly", "arguments": "{}"}
    server.stream(chunk({"tool_calls": [{"index": 7, "id": "b", "function": function}]}), *fault.steps)
    _script_good(server)
    assert await ask(model, tools=()) == GOOD


@pytest.mark.parametrize("then", [Cut(), End()], ids=["cut", "ended"])
async def test_a_whole_answer_that_breaks_off_is_asked_for_again(
    model: OpenAIChat, server: ChatServer, then: Step
) -> None:
    """Half of the JSON is no answer."""
    server.streams = False
    server.say("A robot acts.", then=then)
    server.say("A robot acts.")
    assert (await turn_of(model)).text == "A robot acts."
    assert len(server.received) == 2


@pytest.mark.parametrize("texts", [(), ("",), (" \n",), ("<think>Hm.</think>",), ("<think>Hm",)])
@pytest.mark.parametrize("finish", ["stop", "tool_calls"])
async def test_an_empty_answer_is_asked_for_again(
    model: OpenAIChat, server: ChatServer, texts: Sequence[str], finish: str
) -> None:
    """Neither text nor a call, or thoughts alone: nobody can use that."""
    server.say(*texts, finish=finish)
    _script_good(server)
    assert shown(await ask(model)) == "A robot acts."


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (400, {"message": "Bad."}, "refused the request. Check OPENAI_MODEL"),
        (401, {"message": f"Incorrect API key provided: {KEY}."}, "refused the key. Check OPENAI_API_KEY"),
        (403, {"message": "No."}, "cannot use the chat model 'gpt-4o-mini'. Check OPENAI_API_KEY"),
        (
            404,
            {"message": "The model does not exist."},
            "'gpt-4o-mini' is not known at this address. Check OPENAI_MODEL",
        ),
        (404, {"message": "Not Found"}, "no chat model at this address. Check OPENAI_BASE_URL"),
        (405, {"message": "Method Not Allowed"}, "no chat model at this address. Check OPENAI_BASE_URL"),
        (404, {"message": "The API deployment for this resource does not exist."}, "Check OPENAI_MODEL"),
        (400, {"message": "x", "code": "model_not_found"}, "is not known at this address. Check OPENAI_MODEL"),
        (400, {"message": "x", "code": "context_length_exceeded"}, "is too long for the chat model"),
        (429, {"message": "x", "code": "insufficient_quota"}, "has no credit left"),
        (422, {"message": "x"}, "refused the request"),
        (400, {"code": 400, "message": "API key not valid. Please pass a valid API key."}, "Check OPENAI_API_KEY"),
        (400, {"code": 400, "message": "This model's maximum context length is 4096 tokens."}, "is too long for"),
    ],
)
async def test_what_asking_again_cannot_change_is_asked_once(
    model: OpenAIChat, server: ChatServer, status: int, error: dict[str, Any], words: str
) -> None:
    """The sentence names the setting to change."""
    server.faults.append(Reply(status, {"error": error}))
    with pytest.raises(ModelUnavailable) as caught:
        await ask(model)
    assert words in str(caught.value)
    assert caught.value.is_lasting == ("too long" not in words)
    assert [one.method for one in server.received].count("POST") == 1


async def test_another_address_is_told_and_not_followed(model: OpenAIChat, server: ChatServer) -> None:
    """Nobody has said that it may read questions, or the key."""
    server.faults.append(Reply(307, "Moved.", {"Location": f"{server.url}/v2/chat"}))
    with pytest.raises(ModelUnavailable, match="Check OPENAI_BASE_URL") as caught:
        await ask(model)
    assert (caught.value.detail, len(server.received)) == (f"status 307: {server.url}/v2/chat", 1)


async def test_a_key_in_the_address_is_never_told(server: ChatServer) -> None:
    """Some gateways want it there, and name it in the address to which they send whoever asks."""
    model = OpenAIChat(MODEL, api_key=KEY, base_url=f"{server.base_url}?subscription-key=0123456789")
    server.faults.append(Reply(307, "Moved.", {"Location": f"{server.url}/v2?subscription-key=0123456789"}))
    with pytest.raises(ModelUnavailable) as caught:
        await ask(model)
    await model.aclose()
    assert caught.value.detail.startswith(f"status 307: {server.url}/v2?subscription-key")
    assert "0123456789" not in caught.value.detail


@pytest.mark.parametrize("status", [400, 503])
async def test_a_refusal_that_trickles_is_given_up(server: ChatServer, events: list[Event], status: int) -> None:
    """Every byte comes in time, and the whole never does; another one would take as long."""
    model = model_of(server, limits=OpenAILimits(connect=0.1, first=0.5), observer=only(events.append, Retried))
    server.broken = Trickle(status)
    with pytest.raises(ModelUnavailable, match="did not answer in time"):
        await ask(model)
    await model.aclose()
    assert (events, len(server.received)) == ([], 1)


@pytest.mark.parametrize("streams", [True, False])
async def test_an_answer_that_never_ends_is_given_up(server: ChatServer, events: list[Event], streams: bool) -> None:
    """A model that repeats itself would do so again, and somebody pays for each word."""
    model = model_of(server, limits=OpenAILimits(whole=0.6), observer=only(events.append, Retried))
    server.streams = streams
    server.say("Robots! ", then=Forever(chunk_of("Robots! ") if streams else b" "))
    with pytest.raises(ModelUnavailable, match="did not finish"):
        await ask(model)
    await server.hung_up.wait()
    await model.aclose()
    assert (len(server.received), events) == (1, [])


def chunk_of(text: str) -> bytes:
    """An event as its bytes."""
    return f"data: {json.dumps(chunk({'content': text}))}\n\n".encode()


def test_an_answer_larger_than_any_is_none() -> None:
    """It would fill the memory before its time is over."""
    watch = Watch(PATIENT)
    watch.saw(bytes(LARGEST), is_life=True, is_news=True)
    with pytest.raises(EndlessAnswer):
        watch.saw(b"x", is_life=True, is_news=True)


@pytest.mark.parametrize("header", [{"Retry-After": "3600"}, {"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"}])
async def test_a_long_wait_is_not_waited_for(model: OpenAIChat, server: ChatServer, header: dict[str, str]) -> None:
    """A person is waiting, so the model is unavailable at once."""
    server.faults.append(Reply(429, ERROR_EVENT, header))
    with pytest.raises(ModelUnavailable, match="is overloaded"):
        await ask(model)
    assert len(server.received) == 1


async def test_a_short_wait_is_as_long_as_the_service_says(server: ChatServer) -> None:
    """It comes in place of our own, longer one."""
    patient = RetryPolicy((1e6,), attempts=3, jitter=True)
    model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, retries=patient, limits=PATIENT)
    server.faults.append(Reply(429, ERROR_EVENT, {"Retry-After": "0"}))
    server.faults.append(Reply(503, ERROR_EVENT, {"retry-after-ms": "20"}))
    _script_good(server)
    async with asyncio.timeout(5):
        assert await ask(model) == GOOD
    await model.aclose()


async def test_a_refused_connection_is_unavailable_and_works_again_later(model: OpenAIChat, server: ChatServer) -> None:
    """Nothing has to be restarted when the service comes back."""
    await server.down()
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await ask(model)
    await server.up()
    _script_good(server)
    assert await ask(model) == GOOD


async def test_a_service_that_restarted_between_two_questions_costs_no_error(
    model: OpenAIChat, server: ChatServer
) -> None:
    """The connection that was kept is noticed to be gone, or the question is asked again."""
    for _ in range(2):
        _script_good(server)
        assert await ask(model) == GOOD
        await server.down()
        await server.up()


async def test_a_service_that_fails_twice_in_two_ways_is_asked_a_third_time(
    model: OpenAIChat, server: ChatServer
) -> None:
    """The attempts are bounded together, not for each kind of failure."""
    server.faults.append(Reply(500))
    server.stream(chunk({"content": "Half"}), Cut())
    _script_good(server)
    assert await ask(model) == [TextDelta("Half"), Restarted(), *GOOD]
    assert len(server.received) == 3


Breaking = Callable[[ChatServer], None]


def _stay_broken(server: ChatServer) -> None:
    server.broken = Reply(500)


def _break_off(server: ChatServer) -> None:
    server.script.clear()
    for _ in range(3):
        server.say("A robot acts [1]", then=Cut())


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("break_", [_stay_broken, _break_off])
async def test_the_agent_gives_a_whole_apology_and_later_a_whole_answer(
    server: ChatServer, streams: bool, break_: Breaking
) -> None:
    """A broken answer never becomes an answer, and nothing of it stays."""
    server.streams = streams
    model = model_of(server)
    agent = Agent(model, Shelf(hit(text="A robot acts. It moves.")), clock=lambda: 0.0)
    break_(server)
    failed = await agent.answer(question())
    server.broken = None
    answered = await agent.answer(question())
    await model.aclose()
    assert (failed.status, answered.status) == (Status.FAILED, Status.ANSWERED)
    assert answered.text == "A robot acts [1]."
    assert "robot" not in failed.text
    assert answered.usage.prompt_tokens > answered.usage.completion_tokens > 0


def _script_good(server: ChatServer) -> None:
    server.stream(chunk({"content": "A robot acts."}), chunk({}, finish="stop"), DONE)
