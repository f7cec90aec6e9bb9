"""Answers of all the shapes that services give, read as turns."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import aclosing
from typing import Any

import pytest

from adapters.openai import OpenAIChat
from adapters.openai.client import OpenAILimits
from adapters.openai.connection import FIRST_WORDS
from core.model import ModelTurn, Prompt, TextDelta, ToolCall, Usage
from tests.adapters.openai.asking import ASKED, SEARCH, ask, model_of, search, shown, turn_of
from tests.servers.openai import DONE, KEY, MODEL, ChatServer, Forever, chunk
from tests.servers.service import Reply


async def test_text_comes_first_and_then_as_a_whole_turn(model: OpenAIChat, server: ChatServer) -> None:
    """The turn has the whole text, the usage with what was cached, and the model's name."""
    server.say("A robot ", "acts [1].")
    usage = Usage(prompt_tokens=23, completion_tokens=5)
    assert await ask(model) == [
        TextDelta("A robot acts [1]."),
        ModelTurn("A robot acts [1].", (), usage, MODEL),
    ]


async def test_a_tool_call_is_put_together_from_its_pieces(model: OpenAIChat, server: ChatServer) -> None:
    """Text before the call is streamed like any other."""
    server.call("search_documents", {"query": "robot"}, text="Let me look.")
    turn = await turn_of(model)
    assert (turn.text, turn.tool_calls) == ("Let me look.", (search("robot", id="call_0001"),))


async def test_the_request_holds_no_more_than_it_needs(model: OpenAIChat, server: ChatServer) -> None:
    """Some endpoints refuse what they do not know."""
    server.say("Yes.")
    await ask(model)
    assert server.received[0].body == {
        "model": MODEL,
        "messages": list(ASKED.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": SEARCH.name,
                    "description": SEARCH.description,
                    "parameters": SEARCH.parameters,
                },
            }
        ],
        "tool_choice": "auto",
    }


async def test_without_tools_none_are_spoken_of(model: OpenAIChat, server: ChatServer) -> None:
    """A choice without tools is refused by the real service."""
    server.say("Yes.")
    await ask(model, tools=())
    assert server.received[0].body.keys() == {"model", "messages", "stream", "stream_options"}


async def test_the_second_round_repeats_the_first_with_the_results(model: OpenAIChat, server: ChatServer) -> None:
    """The server checks that each result answers a call, and reports the common beginning as cached."""
    long = Prompt(({"role": "system", "content": "Cite. " * 1000}, {"role": "user", "content": "Robots?"}))
    server.call("search_documents", {"query": "robot"})
    call = (await turn_of(model, long)).tool_calls[0]
    wished = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    found = [{"number": 1, "text": "A robot acts. It moves."}, {"number": 2, "text": "Arms."}]
    result = json.dumps({"data": {"results": found}})
    turn = await turn_of(
        model,
        Prompt(
            (
                *long.messages,
                {"role": "assistant", "content": None, "tool_calls": [wished]},
                {"role": "tool", "tool_call_id": call.id, "content": result},
            )
        ),
    )
    assert turn.text == "A robot acts [1] [2]."
    assert turn.usage.cached_tokens == 1408


async def test_a_whole_answer_in_place_of_a_stream_is_read(model: OpenAIChat, server: ChatServer) -> None:
    """Some endpoints ignore the wish for a stream."""
    server.streams = False
    server.say("A robot ", "acts.")
    usage = Usage(prompt_tokens=23, completion_tokens=4)
    whole = ModelTurn("A robot acts.", (), usage, MODEL)
    assert await ask(model) == [TextDelta("A robot acts."), whole]


async def test_a_whole_answer_as_the_only_event_is_read(model: OpenAIChat, server: ChatServer) -> None:
    """As gateways make a stream of it."""
    server.stream({"choices": [{"message": {"content": "A robot acts."}, "finish_reason": "stop"}]}, DONE)
    assert (await turn_of(model)).text == "A robot acts."


async def test_tool_calls_of_a_whole_answer_are_read(model: OpenAIChat, server: ChatServer) -> None:
    """They have no index there."""
    server.streams = False
    server.call("search_documents", {"query": "robot"})
    assert (await turn_of(model)).tool_calls == (search("robot", id="call_0001"),)


@pytest.mark.parametrize("finish", ["stop", "length", "content_filter", "tool_calls", "eos"])
async def test_an_answer_that_ended_is_kept_for_whatever_reason_it_ended(
    model: OpenAIChat, server: ChatServer, finish: str
) -> None:
    """To ask again would end the same way, and cost the same again."""
    server.say("A robot acts", finish=finish)
    assert (await turn_of(model)).text == "A robot acts"


async def test_a_refusal_is_text(model: OpenAIChat, server: ChatServer) -> None:
    """What is shown of it is decided elsewhere."""
    server.stream(chunk({"refusal": "I cannot "}), chunk({"refusal": "do that."}), chunk({}, finish="stop"), DONE)
    assert (await turn_of(model)).text == "I cannot do that."


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({**chunk({}), "choices": None}, id="null choices"),
        pytest.param({**chunk({}), "choices": []}, id="no choices"),
        pytest.param({**chunk({}), "choices": [None]}, id="a null choice"),
        pytest.param(chunk(None), id="a null delta"),
        pytest.param(chunk({"content": None, "tool_calls": None}), id="null fields"),
        pytest.param(chunk({"content": 7, "tool_calls": "x"}), id="fields of a wrong type"),
        pytest.param(chunk({"tool_calls": [None, 7]}), id="calls that are none"),
        pytest.param({"choices": [""]}, id="hardly anything"),
        pytest.param({"id": "", "usage": None, "model": None}, id="no fields of use"),
        pytest.param(b": a comment\n\n", id="a comment"),
    ],
)
async def test_events_that_say_nothing_are_passed_over(
    model: OpenAIChat, server: ChatServer, odd: dict[str, Any] | bytes
) -> None:
    """Services send such things to keep the line open, or for no reason."""
    server.stream(odd, chunk({"content": "Yes."}), odd, chunk({}, finish="stop"), odd, DONE)
    assert await ask(model) == [TextDelta("Yes."), ModelTurn("Yes.", model=MODEL)]


@pytest.mark.parametrize("whole", [True, False])
async def test_missing_usage_is_counted_as_nothing(model: OpenAIChat, server: ChatServer, whole: bool) -> None:
    """An answer without it is an answer."""
    if whole:
        server.faults.append(Reply(200, {"choices": [{"message": {"content": "Yes."}}]}))
    else:
        server.reports_usage = False
        server.say("Yes.")
    assert await turn_of(model) == ModelTurn("Yes.", model=MODEL)


@pytest.mark.parametrize("usage", [7, {}, {"prompt_tokens": None}, {"prompt_tokens": "9", "prompt_tokens_details": 1}])
async def test_usage_that_is_no_usage_is_counted_as_nothing(model: OpenAIChat, server: ChatServer, usage: Any) -> None:
    """Figures are never worth an error."""
    server.stream(chunk({"content": "Yes."}), {**chunk({}, finish="stop"), "usage": usage}, DONE)
    assert (await turn_of(model)).usage == Usage()


async def test_usage_that_grows_with_every_event_is_not_summed(model: OpenAIChat, server: ChatServer) -> None:
    """Some services report the sum so far each time."""
    first = {**chunk({"content": "Yes."}), "usage": {"prompt_tokens": 9, "completion_tokens": 1}}
    last = {**chunk({}, finish="stop"), "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    server.stream(first, last, DONE)
    assert (await turn_of(model)).usage == Usage(prompt_tokens=9, completion_tokens=2)


@pytest.mark.parametrize(
    "pieces",
    [
        ["<think>Robots? I know.</think>", "\n\nA robot <think> acts."],
        ["<th", "ink>Ro", "bots?</th", "ink>\n\n", "A robot <think> acts."],
        ["\n<thinking>a</thinking><think>b</think>\n", "A robot <think> acts."],
        ["<thought>Robots?", " </think> </thought>", "A robot <think> acts."],
    ],
)
async def test_thoughts_before_the_answer_are_never_shown(
    model: OpenAIChat, server: ChatServer, pieces: list[str]
) -> None:
    """Further on, such a mark is a part of the text."""
    server.say(*pieces)
    items = await ask(model)
    last = items[-1]
    assert shown(items) == "A robot <think> acts."
    assert isinstance(last, ModelTurn)
    assert last.text == "A robot <think> acts."


async def test_thoughts_in_fields_of_their_own_are_never_shown(model: OpenAIChat, server: ChatServer) -> None:
    """Services have several names and shapes for them."""
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Yes."}]
    thoughts = chunk({"reasoning_content": "Hm.", "reasoning": "Hm.", "content": None})
    server.stream(thoughts, chunk({"content": parts}), chunk({}, finish="stop"), DONE)
    assert await ask(model) == [TextDelta("Yes."), ModelTurn("Yes.", model=MODEL)]


async def test_text_that_only_begins_like_thoughts_is_shown(model: OpenAIChat, server: ChatServer) -> None:
    """What was held back comes at the end."""
    server.say(" <th")
    assert shown(await ask(model)) == " <th"


async def test_a_model_that_sends_more_after_its_end_is_understood(model: OpenAIChat, server: ChatServer) -> None:
    """Once the answer has ended, nothing can break it any more."""
    server.stream(chunk({"content": "Yes."}), chunk({}, finish="stop"), b"data: {nonsense\n\n")
    assert await turn_of(model) == ModelTurn("Yes.", model=MODEL)


async def test_nothing_of_the_clients_own_variables_counts(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are ours to read."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Environment: environment\nAuthorization: Bearer environment")
    model = model_of(server)
    server.say("Yes.")
    await ask(model)
    await model.aclose()
    headers = {name.lower(): value for name, value in server.received[0].headers.items()}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert not [name for name, value in headers.items() if "environment" in value or name == "openai-organization"]


async def test_a_request_says_who_asks_and_nothing_of_the_machine(server: ChatServer) -> None:
    """Neither the system nor the versions of what runs on it are a provider's business."""
    model = model_of(server)
    server.say("Yes.")
    await ask(model)
    await model.aclose()
    headers = {name.lower(): value for name, value in server.received[0].headers.items()}
    assert headers["user-agent"] == "Footnote"
    assert not [name for name in headers if name.startswith("x-")]


async def test_an_endpoint_without_keys_needs_none(server: ChatServer) -> None:
    """Some want the header all the same, so it has a word in it."""
    server.key = "none"
    model = model_of(server, api_key="")
    server.say("Yes.")
    assert (await turn_of(model)).text == "Yes."
    await model.aclose()


def test_importing_and_constructing_loads_no_vendor() -> None:
    """The command line's help must not pay for a client."""
    code = (
        "import sys; from adapters.openai import OpenAIChat; OpenAIChat('m', api_key='k');"
        "assert not {'openai', 'httpx2', 'aiohttp'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_calls_of_tools_that_do_not_exist_and_bad_arguments_pass_as_they_are(
    model: OpenAIChat, server: ChatServer
) -> None:
    """The model is told about them by the tools, not by an error."""
    server.call("fly", '{"query": ')
    assert (await turn_of(model)).tool_calls == (ToolCall(id="call_0001", name="fly", arguments='{"query": '),)


async def test_what_comes_during_an_interval_is_one_piece(server: ChatServer) -> None:
    """The first words wait for a twentieth of it only."""
    piece = f"data: {json.dumps(chunk({'content': 'w'}))}\n\n".encode()
    server.stream(chunk({"role": "assistant", "content": ""}), Forever(piece))
    model = OpenAIChat(MODEL, api_key=KEY, base_url=server.base_url, limits=OpenAILimits(interval=0.25))
    sizes: list[int] = []
    async with aclosing(model.stream(ASKED, tools=())) as pieces:
        async for each in pieces:
            assert isinstance(each, TextDelta)
            sizes.append(len(each.text))
            if sum(sizes) > 3 * FIRST_WORDS:
                break
    await model.aclose()

    later = [size for at, size in enumerate(sizes) if sum(sizes[:at]) > FIRST_WORDS]
    assert sizes[0] == 1
    assert min(later) > 1
