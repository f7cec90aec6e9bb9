"""What endpoints refuse, and what they want back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from adapters.openai import OpenAIChat, OpenAILimits
from adapters.openai.dialect import LEARNED
from core.errors import ModelUnavailable, PromptTooLong
from core.model import ChatMessage, ModelTurn, Prompt, ToolCall
from tests.adapters.openai.asking import ASKED, QUICK, SEARCH, ask, model_of, turn_of
from tests.fakes.clock import Clock
from tests.servers.openai import DONE, KEY, MODEL, ChatServer, chunk
from tests.servers.openai_refusals import TOO_LONG, WITHOUT_SYSTEM
from tests.servers.openai_shapes import STREAM_REFUSED, WITHOUT_TOOLS, openai_effort
from tests.servers.service import Reply

SIGNATURE = {"google": {"thought_signature": "c2lnbmVk"}}


def with_call(id: str = "a", arguments: str = "{}", turn: ModelTurn | None = None) -> Prompt:  # noqa: A002 - the field's name
    """A conversation with one call and its result; that of a *turn*, if there is one."""
    turn = turn or ModelTurn("", (ToolCall(id=id, name="search_documents", arguments=arguments),))
    id_ = turn.tool_calls[0].id
    called = turn.message(turn.tool_calls)
    return Prompt((*ASKED.messages, called, {"role": "tool", "tool_call_id": id_, "content": "{}"}))


def sent_call(server: ChatServer) -> ChatMessage:
    """The call as it was last sent."""
    return server.received[-1].body["messages"][2]["tool_calls"][0]


async def test_an_endpoint_that_knows_no_stream_options_is_asked_without_from_then_on(
    model: OpenAIChat, server: ChatServer
) -> None:
    """The refusal is met once, and is no failed attempt."""
    server.knows_stream_options = False
    for _ in range(2):
        server.say("Yes.")
        assert await turn_of(model) == ModelTurn("Yes.", model=MODEL)
    assert ["stream_options" in received.body for received in server.received] == [True, False, False]


@pytest.mark.parametrize("says", STREAM_REFUSED)
async def test_an_endpoint_that_refuses_to_stream_is_asked_for_whole_answers(
    model: OpenAIChat, server: ChatServer, says: str
) -> None:
    """The refusal is met once."""
    error = {"message": says, "type": "invalid_request_error", "param": "stream", "code": "unsupported_value"}
    server.rules.append(lambda body: Reply(400, {"error": error}) if body["stream"] else None)
    for _ in range(2):
        server.say("Yes.")
        assert (await turn_of(model)).text == "Yes."
    asked = [(received.body["stream"], "stream_options" in received.body) for received in server.received]
    assert asked == [(True, True), (False, False), (False, False)]


async def test_a_model_that_takes_tools_only_without_thinking_is_given_them(
    model: OpenAIChat, server: ChatServer
) -> None:
    """The refusal is met once, and where there are no tools, it thinks as it likes."""
    server.rules.append(openai_effort)
    for tools in ((SEARCH,), (SEARCH,), ()):
        server.say("Yes.")
        assert (await turn_of(model, tools=tools)).text == "Yes."
    asked = [("tools" in received.body, received.body.get("reasoning_effort")) for received in server.received]
    assert asked == [(True, None), (True, "none"), (True, "none"), (False, None)]


async def test_several_requests_at_once_meet_the_same_refusal(model: OpenAIChat, server: ChatServer) -> None:
    """Each of them is sent again, also those that were on the way when the first one was refused."""
    server.knows_stream_options = False
    turns = await asyncio.gather(*(turn_of(model, tools=()) for _ in range(5)))
    assert [turn.text for turn in turns] == ["OK."] * 5


async def test_another_status_for_the_same_refusal_is_understood(model: OpenAIChat, server: ChatServer) -> None:
    """Services that validate say 422."""
    detail = [{"type": "extra_forbidden", "loc": ["body", "stream_options", "include_usage"]}]
    server.faults.append(Reply(422, {"message": {"detail": detail}}))
    server.say("Yes.")
    assert (await turn_of(model)).text == "Yes."


async def test_an_endpoint_that_refuses_even_less_is_not_asked_forever(model: OpenAIChat, server: ChatServer) -> None:
    """What was given up cannot be given up again."""
    server.broken = Reply(400, {"error": {"message": "stream_options and thought_signature are bad"}})
    with pytest.raises(ModelUnavailable):
        await turn_of(model, with_call())
    assert len(server.received) == 3
    with pytest.raises(ModelUnavailable):
        await ask(model)
    assert len(server.received) == 4


async def test_what_came_with_a_call_goes_back_with_it(model: OpenAIChat, server: ChatServer) -> None:
    """Gemini signs its thoughts, and refuses the call's result without the signature."""
    function = {"name": "search_documents", "arguments": "{}"}
    call = {"id": "a", "type": "function", "function": function, "extra_content": SIGNATURE}
    server.stream(chunk({"tool_calls": [call]}), chunk({}, finish="stop"), DONE)
    turn = await turn_of(model)
    server.say("Yes.")
    await turn_of(model, with_call(turn=turn))
    assert sent_call(server)["extra_content"] == SIGNATURE
    server.say("Yes.")
    await turn_of(model, with_call("a"))
    assert "extra_content" not in sent_call(server)


async def test_calls_that_the_model_did_not_make_are_marked_where_signatures_are_asked_for(
    model: OpenAIChat, server: ChatServer
) -> None:
    """The service has a word for calls that somebody else made."""
    refusal = "Function call is missing a thought_signature in functionCall parts."
    server.faults.append(Reply(400, {"error": {"message": refusal}}))
    server.say("Yes.")
    assert (await turn_of(model, with_call())).text == "Yes."
    assert sent_call(server)["extra_content"] == {"google": {"thought_signature": "skip_thought_signature_validator"}}


@pytest.mark.parametrize(("written", "sent"), [('{"query": ', "{}"), ("7", "{}"), ('{"query": "x"}', '{"query": "x"}')])
async def test_bad_arguments_are_not_sent_back(model: OpenAIChat, server: ChatServer, written: str, sent: str) -> None:
    """Services that parse them would refuse the whole conversation."""
    server.say("Yes.")
    await turn_of(model, with_call(arguments=written))
    assert sent_call(server)["function"]["arguments"] == sent


def as_json(body: Mapping[str, Any]) -> str:
    """All messages."""
    return json.dumps(body["messages"])


ASKING = (
    "Why does Ollama say that the model does not support tools?",
    "What do stream_options and max_tokens mean where they are unknown?",
    "Is the system role not supported?",
    "What is tool_choice?",
)


def whole(body: Mapping[str, Any]) -> str:
    """The question as it stands in a request."""
    return body["messages"][-1]["content"]


@pytest.mark.parametrize("said", ASKING)
@pytest.mark.parametrize("echo", [whole, as_json])
async def test_what_people_wrote_is_no_refusal(
    server: ChatServer, said: str, echo: Callable[[Mapping[str, Any]], str]
) -> None:
    """A service that repeats a question refuses nothing that stands in it."""
    model = model_of(server, limits=OpenAILimits(tokens=8_192))
    server.rules.append(lambda body: Reply(400, {"error": {"message": f"1 validation error: {echo(body)}"}}))
    with pytest.raises(ModelUnavailable):
        await ask(model, Prompt((ASKED.messages[0], {"role": "user", "content": said})))
    server.rules.clear()
    server.say("Yes.")
    await ask(model)
    first, second = (received.body for received in server.received)
    assert first.keys() == second.keys()
    assert [each["role"] for each in second["messages"]] == ["system", "user"]
    await model.aclose()


FAILED_CALL = {"type": "invalid_request_error", "code": "tool_use_failed"}


@pytest.mark.parametrize(
    "message", ["Failed to call a function. See 'failed_generation'.", "Tool choice is none, but model called a tool"]
)
async def test_what_the_model_wrote_is_no_refusal(model: OpenAIChat, server: ChatServer, message: str) -> None:
    """Groq quotes it where a call failed, which is the model's own mistake."""
    wrote = "Here a function call is not needed, and tool_choice is not supported."
    error = {"message": message, **FAILED_CALL, "failed_generation": wrote}
    for reply in (Reply(400, {"error": error}), None):
        server.faults.append(reply)
        server.say("Yes.")
        async for _ in model.stream(with_call(), tools=(SEARCH,), may_call=False):
            pass
    assert model.dialect.takes_no_calls
    assert ["tools" in received.body for received in server.received] == [True, False, True]


async def test_what_was_learned_is_tried_again_after_a_while(server: ChatServer) -> None:
    """It may have been a passing trouble of one of those behind a gateway; then all is as it was."""
    clock = Clock()
    model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, retries=replace(QUICK, clock=clock))
    for name in ("OpenRouter", "LiteLLM"):
        server.faults.append(WITHOUT_TOOLS[name]({"tools": []}))
        for _ in range(2):
            server.say("Yes.")
            await ask(model)
        clock.advance(LEARNED)
    server.faults.append(TOO_LONG["vLLM"][0])
    with pytest.raises(PromptTooLong):
        await ask(model)
    known = model.context_tokens
    clock.advance(LEARNED)
    server.say("Yes.")
    await ask(model)
    tools = ["tools" in received.body for received in server.received if received.method == "POST"]
    assert tools == [True, False, False] * 2 + [True, True]
    assert (known, model.context_tokens) == (4096, None)
    await model.aclose()


@pytest.mark.parametrize("says", WITHOUT_SYSTEM)
async def test_a_template_without_a_system_is_given_none(model: OpenAIChat, server: ChatServer, says: str) -> None:
    """However it says so."""

    def rule(body: Mapping[str, Any]) -> Reply | None:
        is_wrong = body["messages"][0]["role"] == "system"
        return Reply(400, {"error": {"message": says, "type": "BadRequestError", "code": 400}}) if is_wrong else None

    server.rules.append(rule)
    for _ in range(2):
        server.say("Yes.")
        assert (await turn_of(model)).text == "Yes."
    assert len(server.received) == 3
