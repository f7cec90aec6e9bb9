"""What endpoints refuse, and what they want back."""

from __future__ import annotations

import asyncio

import pytest

from adapters.openai import OpenAIChat
from core.errors import ModelUnavailable
from core.model import ChatMessage, ModelTurn, Prompt, ToolCall
from tests.adapters.openai.asking import ASKED, ask, turn_of
from tests.servers.openai import DONE, MODEL, ChatServer, chunk
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
