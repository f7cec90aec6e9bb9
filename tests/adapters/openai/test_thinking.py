"""Thoughts: shown to nobody, and given back to those services that want them."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.openai import OpenAIChat
from core.model import ModelTurn, Prompt, Restarted, TextDelta
from tests.adapters.openai.asking import ASKED, ask, calls_of, shown, turn_of
from tests.servers.openai import DONE, ChatServer, chunk
from tests.servers.openai_shapes import Rule, deepseek, groq_fields, kimi, openrouter_details

CALL = {"id": "call_00_a", "index": 0, "type": "function", "function": {"name": "search_documents", "arguments": "{}"}}
DETAIL = {"type": "reasoning.text", "text": "Hm. ", "format": "anthropic-claude-v1", "index": 0}


def thinking(server: ChatServer, *deltas: dict[str, Any]) -> None:
    """Script a turn that thinks, then calls."""
    server.stream(*map(chunk, deltas), chunk({"tool_calls": [CALL]}), chunk({}, finish="tool_calls"), DONE)


def after(turn: ModelTurn, *, id: str | None = None) -> Prompt:  # noqa: A002 - the field's name
    """The conversation with what the model has called, and with what that has found."""
    wishes = [
        {"id": id or each.id, "type": "function", "function": {"name": each.name, "arguments": each.arguments}}
        for each in turn.tool_calls
    ]
    results = [{"role": "tool", "tool_call_id": each["id"], "content": "Robots act."} for each in wishes]
    return Prompt((*ASKED.messages, {"role": "assistant", "content": None, "tool_calls": wishes}, *results))


@pytest.mark.parametrize(
    ("rule", "deltas", "sent"),
    [
        (
            deepseek,
            [{"reasoning_content": "Hm. "}, {"reasoning_content": "Robots."}],
            {"reasoning_content": "Hm. Robots."},
        ),
        (kimi, [{"reasoning_content": "Hm.", "reasoning": "Hm."}], {"reasoning_content": "Hm."}),
        (
            openrouter_details,
            [
                {"reasoning": "Hm. ", "reasoning_details": [DETAIL]},
                {"reasoning": "Robots.", "reasoning_details": [{**DETAIL, "text": "Robots."}]},
                {"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "s"}]},
            ],
            {"reasoning_details": [{**DETAIL, "text": "Hm. Robots.", "signature": "s"}]},
        ),
    ],
)
async def test_thoughts_go_back_with_the_calls_that_they_led_to(
    model: OpenAIChat, server: ChatServer, rule: Rule, deltas: list[dict[str, Any]], sent: dict[str, Any]
) -> None:
    """The service refuses the conversation without, and each question takes as many requests as it has turns."""
    server.rules.append(rule)
    thinking(server, *deltas)
    turn = await turn_of(model)
    server.say("Robots act.")
    answer = await turn_of(model, after(turn))

    assert (turn.text, answer.text, len(server.received)) == ("", "Robots act.", 2)
    told = server.received[-1].body["messages"][2]
    assert {name: each for name, each in told.items() if name.startswith("reasoning")} == sent


async def test_thoughts_that_are_not_known_cost_no_answer(model: OpenAIChat, server: ChatServer) -> None:
    """A call that the model made without any, or that somebody else made, is told in words."""
    server.rules.append(kimi)
    thinking(server, {"reasoning_content": ""})
    turn = await turn_of(model)
    for _ in range(2):
        server.say("Robots act.")
        assert (await turn_of(model, after(turn))).text == "Robots act."

    assert len(server.received) == 4  # the refusal is met once
    roles = [each["role"] for each in server.received[-1].body["messages"]]
    assert (roles, "Robots act." in server.received[-1].body["messages"][1]["content"]) == (["system", "user"], True)


async def test_a_service_that_knows_no_thoughts_is_given_none(model: OpenAIChat, server: ChatServer) -> None:
    """It has written them, and takes them from nobody."""
    server.rules.append(groq_fields)
    thinking(server, {"reasoning_content": "Hm."})
    turn = await turn_of(model)
    for _ in range(2):
        server.say("Robots act.")
        assert (await turn_of(model, after(turn))).text == "Robots act."

    assert ["reasoning_content" in one.body["messages"][-2] for one in server.received[1:]] == [True, False, False]


@pytest.mark.parametrize(
    "pieces",
    [
        ["[THINK]Robots?[/THINK]", "A robot acts."],
        ["<REASONING>Robots?", "</Reasoning>\n", "A robot acts."],
        ["<seed:think>Ro", "bots?</seed:", "think>A robot acts."],
        ["<Think>Robots? </THINK>\n\nA robot acts."],
        ["◁think▷Robots?◁/think▷A robot acts."],
        [
            "<|chan",
            "nel|>analysis<|message|>Robots?<|end|><|start|>assistant",
            "<|channel|>final<|message|>A robot acts.",
        ],
        ["<|channel|>final<|message|>A robot acts."],
        ["<|start|>assistant<|channel|>analysis<|message|>Hm.<|channel|>final<|mess", "age|>A robot acts."],
    ],
)
@pytest.mark.promise("any-model")
@pytest.mark.parametrize("streams", [True, False])
async def test_no_model_shows_its_thoughts(
    model: OpenAIChat, server: ChatServer, pieces: list[str], streams: bool
) -> None:
    """Whatever marks they have, in upper or lower case, and however they are cut."""
    server.streams = streams
    server.say(*pieces)
    items = await ask(model)
    assert [item for item in items if isinstance(item, TextDelta)] == [TextDelta("A robot acts.")]
    assert isinstance(items[-1], ModelTurn)
    assert items[-1].text == "A robot acts."


ALOUD = ["Robots? ", "I know.\n</th", "ink>", "\n\nA robot acts."]


async def test_thoughts_that_the_template_has_opened_are_seen_once_at_most(
    model: OpenAIChat, server: ChatServer
) -> None:
    """What nobody could know is taken back; from then on, it is held until the thoughts are over."""
    server.say(*ALOUD)
    first = await ask(model)
    server.say(*ALOUD)
    second = await ask(model)

    assert (shown(first), Restarted() in first) == ("A robot acts.", True)
    assert [item for item in second if not isinstance(item, ModelTurn)] == [TextDelta("A robot acts.")]
    assert [item.text for item in (first[-1], second[-1]) if isinstance(item, ModelTurn)] == ["A robot acts."] * 2


async def test_a_model_that_thinks_aloud_may_answer_without(model: OpenAIChat, server: ChatServer) -> None:
    """Its answer is shown at the end, and after a few of them as it comes."""
    server.say(*ALOUD)
    await ask(model)
    for _ in range(4):
        server.say("Yes, ", "it does.")
        assert shown(await ask(model)) == "Yes, it does."
    assert model.dialect.heard == 0


async def test_a_call_after_thoughts_that_nothing_has_opened_is_one(model: OpenAIChat, server: ChatServer) -> None:
    """Thoughts lead to searches, too."""
    for _ in range(2):
        server.say(
            "I have to search.\n</think>\n", '<tool_call>{"name": "search_documents", "arguments": {"query": "x"}}'
        )
        turn = await turn_of(model)
        assert (calls_of(turn), turn.text) == ([("search_documents", '{"query": "x"}')], "")


@pytest.mark.parametrize(
    "text",
    [
        "Close it with `</think>`, as always.",
        "```\n<b>x</b></think>\n```\nSo.",
        "It begins with <think> and ends with </think> there.",
        "a < b and c > d, as in </b>",
    ],
)
async def test_an_answer_about_such_marks_is_an_answer(model: OpenAIChat, server: ChatServer, text: str) -> None:
    """In code, or with both of them, they are what is spoken about."""
    server.say(*(text[at : at + 3] for at in range(0, len(text), 3)))
    items = await ask(model)
    assert (shown(items), Restarted() in items) == (text, False)


async def test_thoughts_that_are_cut_are_no_answer(model: OpenAIChat, server: ChatServer) -> None:
    """Also where the model opens none, which is known by then."""
    server.say(*ALOUD)
    await ask(model)
    server.say("Robots? Hm", finish="length")
    server.say("never asked for")
    items: list[Any] = []
    with pytest.raises(Exception, match="not give a complete answer"):
        items += await ask(model)
    assert (items, len(server.script)) == ([], 1)
