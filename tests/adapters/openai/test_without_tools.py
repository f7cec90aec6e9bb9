"""Models and servers that call no tools, or in their own way, answer all the same."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from adapters.openai import OpenAIChat
from core.answering.agent import Agent
from core.errors import ModelUnavailable
from core.events import Event, Retried
from core.model import ModelTurn, Prompt, Status, TextDelta
from tests.adapters.openai.asking import ASKED, SEARCH, ask, calls_of, shown, turn_of
from tests.adapters.openai.test_dialects import with_call
from tests.builders import hit, question
from tests.fakes.shelf import Shelf
from tests.servers.openai import DONE, ChatServer, chunk
from tests.servers.openai_refusals import SLIPS
from tests.servers.openai_shapes import WITHOUT_TOOLS, Rule, bedrock, gemma, mistral, without_choice
from tests.servers.service import Reply

ARGUMENTS = '{"query": "arms"}'
JSON = f'{{"name": "search_documents", "arguments": {ARGUMENTS}}}'


async def last_turn(model: OpenAIChat, prompt: Prompt) -> ModelTurn:
    """The turn of a model that is to answer now, and to call nothing."""
    async with aclosing(model.stream(prompt, tools=(SEARCH,), may_call=False)) as pieces:
        *_, turn = [piece async for piece in pieces]
    assert isinstance(turn, ModelTurn)
    return turn


@pytest.mark.promise("any-model")
@pytest.mark.parametrize("rule", WITHOUT_TOOLS.values(), ids=WITHOUT_TOOLS)
async def test_a_model_without_tools_is_given_none(
    model: OpenAIChat, server: ChatServer, events: list[Event], rule: Rule
) -> None:
    """The refusal is met once, is no failed attempt, and what was found is told in words, as data."""
    server.rules.append(rule)
    for prompt in (ASKED, with_call(), with_call()):
        server.say("A robot acts.")
        assert (await turn_of(model, prompt)).text == "A robot acts."

    assert (["tools" in one.body for one in server.received], events) == ([True, False, False, False], [])
    *_, last = server.received[-1].body["messages"]
    assert (last["role"], '<data kind="results of search_documents">' in last["content"]) == ("user", True)


async def test_a_model_without_tools_is_told_of_none(model: OpenAIChat, server: ChatServer) -> None:
    """It would write its call as text, of a tool that it knows from its instructions alone."""
    server.rules.append(WITHOUT_TOOLS["Ollama"])
    server.say("A robot acts [1].")
    answer = await Agent(model, Shelf(hit(text="A robot acts.")), clock=time.monotonic).answer(question())
    told = [json.dumps(one.body) for one in server.received]
    assert (answer.status, ["search_documents" in each for each in told]) == (Status.ANSWERED, [True, False])
    assert "Never answer from memory" in told[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"```json\n{JSON}\n```", ARGUMENTS),
        (f"```\n{JSON}\n```", ARGUMENTS),
        (JSON, ARGUMENTS),
        (f'  {{"type": "function", "function": {JSON}}}', ARGUMENTS),
        ('{"id": "a", "name": "search_documents", "parameters": {"query": "arms"}}', ARGUMENTS),
        ('{"arguments": {"query": "arms"}, "name": "search_documents"}', ARGUMENTS),
        (f"[{JSON}]", ARGUMENTS),
        (f"<tool_call>\n{JSON}\n</tool_call>", ARGUMENTS),
        (f"<tool_call>\n{JSON}\n</tool_call>\nRobots have 7 arms.", ARGUMENTS),
        (f"<|python_tag|>{JSON}", ARGUMENTS),
        (f"[TOOL_CALLS][{JSON}]", ARGUMENTS),
        (f"[TOOL_CALLS]search_documents[ARGS]{ARGUMENTS}", ARGUMENTS),
        (f"<function=search_documents>{ARGUMENTS}</function>", ARGUMENTS),
        (
            "<tool_call>\n<function=search_documents>\n<parameter=query>\narms\n</parameter>\n</function>\n</tool_call>",
            ARGUMENTS,
        ),
        (
            f"<|channel|>commentary to=functions.search_documents <|constrain|>json<|message|>{ARGUMENTS}<|call|>",
            ARGUMENTS,
        ),
        ('{"name": "search_documents", "query": "arms"}', ARGUMENTS),
        ('{"name": "search_documents", "arguments": {"query": ', '", "arguments": {"query": '),
    ],
)
@pytest.mark.promise("any-model")
@pytest.mark.parametrize("size", [3, 1_000])
async def test_a_call_that_is_written_as_text_is_a_call(
    model: OpenAIChat, server: ChatServer, text: str, expected: str, size: int
) -> None:
    """It is never shown, in whichever pieces it comes; half of one is for the tool to refuse."""
    server.say(*(text[at : at + size] for at in range(0, len(text), size)))
    items = await ask(model)
    assert isinstance(items[-1], ModelTurn)
    assert (calls_of(items[-1]), shown(items), items[-1].text) == ([("search_documents", expected)], "", "")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```",
        '```json\n{"kind": "robot", "name": "R2"}\n```',
        '```json\n{"name": "R2", "arms": 2}\n```',
        '{"name": "search_engine", "arguments": {}}',
        "[1] says so.",
        "[TOOL_CALLS] is what Mistral writes.",
        "<b>Robots</b> act.",
        "<tool_call> is a mark.",
        "{",
        "```json",
        f"Like this: {JSON}",
        '{"type": "object", "name": "search_documents"}',
        '{"arguments": {"query": "arms"}, "name": "fly"}',
    ],
)
async def test_what_is_no_call_is_shown(model: OpenAIChat, server: ChatServer, text: str) -> None:
    """Code and JSON are answers, too."""
    server.say(*text)
    items = await ask(model)
    assert isinstance(items[-1], ModelTurn)
    assert (shown(items), items[-1].tool_calls) == (text, ())


@pytest.mark.parametrize(
    ("text", "most"),
    [("A robot acts.", 1), ("```python\nprint()", 5), ('```json\n{"kind": "robot"}', 16), ('{"name": "R2", ', 11)],
)
async def test_an_answer_is_hardly_held_back(model: OpenAIChat, server: ChatServer, text: str, most: int) -> None:
    """Prose not at all, code for its language, and JSON until its first key tells that it is no call."""
    server.pace = 0.002
    server.say(*text)
    async with aclosing(model.stream(ASKED, tools=(SEARCH,))) as pieces:
        first = await anext(pieces)
    assert isinstance(first, TextDelta)
    assert len(first.text) <= most + 3  # what came together


async def test_a_call_beside_its_own_text_is_made_once(model: OpenAIChat, server: ChatServer) -> None:
    """Some servers read it, and leave it where it was."""
    call: dict[str, Any] = {"id": "a", "function": {"name": "search_documents", "arguments": ARGUMENTS}}
    server.stream(chunk({"content": JSON}), chunk({"tool_calls": [call]}), chunk({}, finish="tool_calls"), DONE)
    items = await ask(model)
    assert isinstance(items[-1], ModelTurn)
    assert (calls_of(items[-1]), shown(items)) == ([("search_documents", ARGUMENTS)], "")


async def test_tools_stay_where_none_may_be_called(model: OpenAIChat, server: ChatServer) -> None:
    """Bedrock refuses a history with calls without them; and the beginning of the prompt stays the same."""
    server.rules.append(bedrock)
    server.say("A robot acts.")
    assert (await last_turn(model, with_call())).text == "A robot acts."
    assert (server.received[-1].body["tool_choice"], len(server.received)) == ("none", 1)


@pytest.mark.parametrize("choices", [("none",), ("none", "auto")])
async def test_a_service_without_that_choice_is_given_no_tools_at_the_end(
    model: OpenAIChat, server: ChatServer, choices: Sequence[str]
) -> None:
    """And the calls of before in words, since it may want tools with them."""
    server.rules += [without_choice(*choices), bedrock]
    for _ in range(2):
        server.say("A robot acts.")
        assert (await last_turn(model, with_call())).text == "A robot acts."
    server.call("search_documents", {"query": "arms"})
    assert calls_of(await turn_of(model)) == [("search_documents", ARGUMENTS)]
    sent = [(("tools" in one.body), one.body.get("tool_choice")) for one in server.received]
    ends = [(True, "auto"), (True, None)] if "auto" in choices else [(True, "auto")]
    assert sent == [(True, "none"), (False, None), (False, None), *ends]


@pytest.mark.parametrize("is_text", [True, False])
async def test_a_call_that_may_not_be_made_is_dropped(model: OpenAIChat, server: ChatServer, is_text: bool) -> None:
    """It is asked again without tools; what was written beside it stands."""
    server.say(JSON) if is_text else server.call("search_documents", {"query": "arms"})
    server.say("A robot acts.")
    assert (await last_turn(model, with_call())).text == "A robot acts."
    assert ["tools" in one.body for one in server.received] == [True, False]

    server.call("search_documents", {"query": "arms"}, text="A robot acts.")
    turn = await last_turn(model, with_call())
    assert (turn.text, turn.tool_calls) == ("A robot acts.", ())


@pytest.mark.parametrize("status", [200, None])
@pytest.mark.parametrize("slip", SLIPS.values(), ids=SLIPS)
async def test_a_failed_call_is_asked_for_again_and_then_done_without(
    model: OpenAIChat, server: ChatServer, events: list[Event], slip: Reply, status: int | None
) -> None:
    """In place of an answer or in the middle of one; that is no outage."""
    for _ in range(2):
        if status == 200:
            server.stream(chunk({"role": "assistant"}), slip.body)
        else:
            server.faults.append(slip)
    server.say("A robot acts.")
    assert (await turn_of(model)).text == "A robot acts."
    assert ["tools" in one.body for one in server.received] == [True, True, False]
    assert [event.reason for event in events if isinstance(event, Retried)] == ["a failed tool call"] * 2


async def test_a_failed_call_that_stays_ends(model: OpenAIChat, server: ChatServer) -> None:
    """After three requests."""
    server.broken = SLIPS["Groq"]
    with pytest.raises(ModelUnavailable, match="not give a complete answer"):
        await ask(model)
    assert len(server.received) == 3


@pytest.mark.parametrize("id_", ["search-1", "call_0123456789abcdef01234567", "", "abc123XYZ"])
async def test_ids_of_calls_are_such_as_all_services_take(model: OpenAIChat, server: ChatServer, id_: str) -> None:
    """Mistral takes nine letters and digits alone."""
    server.rules.append(mistral)
    server.say("A robot acts.")
    assert (await turn_of(model, with_call(id_))).text == "A robot acts."
    assert len(server.received) == 1


async def test_ids_that_a_server_gives_and_its_template_refuses_are_shortened(
    model: OpenAIChat, server: ChatServer
) -> None:
    """The refusal is met once."""
    server.rules.append(mistral)
    server.call("search_documents", {"query": "arms"})
    turn = await turn_of(model)
    for _ in range(2):
        server.say("A robot acts.")
        assert (await turn_of(model, with_call(turn=turn))).text == "A robot acts."
    assert len(server.received) == 4


async def test_what_is_said_in_two_messages_is_sent_as_one(model: OpenAIChat, server: ChatServer) -> None:
    """Templates want the sides to take turns, and some know no system."""
    server.rules.append(gemma)
    said = [("user", "Hi."), ("assistant", "Hello."), ("user", "They said x."), ("user", "What is a robot?")]
    messages = [{"role": "system", "content": "Cite."}, *({"role": role, "content": text} for role, text in said)]
    for _ in range(2):
        server.say("A robot acts.")
        assert (await turn_of(model, Prompt(tuple(messages)), tools=())).text == "A robot acts."
    contents = [each["content"] for each in server.received[-1].body["messages"]]
    assert (contents, len(server.received)) == (["Cite.\n\nHi.", "Hello.", "They said x.\n\nWhat is a robot?"], 3)
