"""Thoughts: shown to nobody, and given back to those services that want them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from adapters.openai import OpenAIChat
from core.answering.agent import Agent
from core.model import Answer, Cost, ModelTurn, Prompt, Restarted, Status, TextDelta
from tests.adapters.openai.asking import ASKED, ask, calls_of, model_of, shown, turn_of
from tests.builders import hit, question
from tests.fakes.shelf import Shelf
from tests.servers.openai import DONE, ChatServer, chunk
from tests.servers.openai_shapes import Rule, deepseek, groq_fields, kimi, openrouter_details

CALL = {"id": "call_00_a", "index": 0, "type": "function", "function": {"name": "search_documents", "arguments": "{}"}}
DETAIL = {"type": "reasoning.text", "text": "Hm. ", "format": "anthropic-claude-v1", "index": 0}


ACTS = ("A ro", "bot acts.")
CALL_IN_WORDS = '<tool_call>{"name": "search_documents", "arguments": {"query": "x"}}</tool_call>'


def thinking(server: ChatServer, *deltas: dict[str, Any]) -> None:
    """Script a turn that thinks, then calls."""
    server.stream(*map(chunk, deltas), chunk({"tool_calls": [CALL]}), chunk({}, finish="tool_calls"), DONE)


def after(*turns: ModelTurn) -> Prompt:
    """The conversation with what the model has called, and with what that has found."""
    messages = list(ASKED.messages)
    for turn in turns:
        results = [{"role": "tool", "tool_call_id": each.id, "content": "Robots act."} for each in turn.tool_calls]
        messages += [turn.message(turn.tool_calls), *results]
    return Prompt(tuple(messages))


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


async def test_thoughts_that_come_with_text_go_back_too(model: OpenAIChat, server: ChatServer) -> None:
    """In the same event, or in a whole answer."""
    server.rules.append(deepseek)
    thinking(server, {"reasoning_content": "Hm.", "content": "Let me look."})
    turn = await turn_of(model)
    server.say("Robots act.")
    await turn_of(model, after(turn))
    assert (turn.text, server.received[-1].body["messages"][2]["reasoning_content"]) == ("Let me look.", "Hm.")
    assert len(server.received) == 2


async def test_thoughts_that_are_taken_back_are_paid_once(model: OpenAIChat, server: ChatServer) -> None:
    """The prompt was sent once."""
    server.say(*ALOUD[:-1], "\n\nA robot acts [1].")
    spent = list[Cost]()
    agent = Agent(model, Shelf(hit(text="A robot acts.")), clock=time.monotonic)
    *_, answer = [item async for item in agent.run(question(), spent=spent.append)]
    assert isinstance(answer, Answer)
    assert (answer.status, len(server.received), len(spent)) == (Status.ANSWERED, 1, 1)
    assert spent[0].tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


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


def call_of_kimi(number: int, about: str) -> list[dict[str, Any]]:
    """What leads to a call, which Kimi numbers anew in each conversation."""
    function = {"name": "search_documents", "arguments": f'{{"query": "{about}"}}'}
    call = {"id": f"functions.search_documents:{number}", "index": 0, "type": "function", "function": function}
    signed = {**call, "extra_content": {"google": {"thought_signature": about}}}
    return [chunk({"reasoning_content": about}), chunk({"tool_calls": [signed]}), chunk({}, finish="tool_calls")]


def sent_back(server: ChatServer) -> list[tuple[str, str, str]]:
    """The thoughts, signatures and queries of the calls that were last sent, in their order."""
    turns = [each for each in server.received[-1].body["messages"] if each.get("tool_calls")]
    return [
        (turn["reasoning_content"], call["extra_content"]["google"]["thought_signature"], call["function"]["arguments"])
        for turn in turns
        for call in turn["tool_calls"]
    ]


@pytest.mark.promise("any-model")
async def test_thoughts_stay_with_the_question_that_they_are_about(model: OpenAIChat, server: ChatServer) -> None:
    """Whoever else asks at the same time, in another community, and whatever the service calls its calls."""
    turns: list[ModelTurn] = []
    for about in ("her salary", "his lunch"):
        server.stream(*call_of_kimi(0, about), DONE)
        turns.append(await turn_of(model))
    sent: list[list[tuple[str, str, str]]] = []
    for turn in turns:
        server.say("Robots act.")
        await turn_of(model, after(turn))
        sent.append(sent_back(server))
        [call] = server.received[-1].body["messages"][2]["tool_calls"]
        assert call["id"] == "functions.search_documents:0"  # as the service gave it

    assert sent == [[(about, about, f'{{"query": "{about}"}}')] for about in ("her salary", "his lunch")]


async def test_calls_of_the_same_id_in_one_answer_are_told_apart(model: OpenAIChat, server: ChatServer) -> None:
    """Each turn has its own thoughts, and each result is that of its own call."""
    for about in ("arms", "legs"):
        server.stream(*call_of_kimi(0, about), DONE)
    server.say("A robot acts [1].")
    answer = await Agent(model, Shelf(hit(text="A robot acts.")), clock=time.monotonic).answer(question())

    assert (answer.status, [about for about, _, _ in sent_back(server)]) == (Status.ANSWERED, ["arms", "legs"])
    messages = server.received[-1].body["messages"]
    ids = [call["id"] for each in messages for call in each.get("tool_calls", ())]
    results = {each["tool_call_id"]: each["content"] for each in messages if "tool_call_id" in each}
    assert (len(set(ids)), ["arms" in results[ids[0]], "legs" in results[ids[1]]]) == (2, [True, True])


async def test_the_thoughts_of_one_service_are_no_other_ones(server: ChatServer) -> None:
    """Where the second model goes on, it is told of the calls in its own way."""
    first, second = model_of(server), model_of(server)
    server.stream(*call_of_kimi(0, "arms"), DONE)
    turn = await turn_of(first)
    server.say("Robots act.")
    await turn_of(second, after(turn))
    told = server.received[-1].body["messages"][2]
    assert told.keys() == {"role", "content", "tool_calls"}
    assert "extra_content" not in told["tool_calls"][0]
    await first.aclose()
    await second.aclose()


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
        ["<|channel|>final<|message|>A robot ", "acts.<|ret", "urn|>"],
        [
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final <|constrain|>md<|message|>",
            *ACTS,
        ],
        ["ana", "lysisWe need to search.", "assistantfi", "nalA robot acts."],
        ["<|begin_of_thought|>Hm.<|end_of_thought|>\n<|begin_of_solution|>", *ACTS, "<|end_of_solution|>"],
        ["<analysis>Robots?</analysis>\n", *ACTS],
        ["**<think>**Robots?**</think>**\n", *ACTS],
        ["**<think>**Robots?**</think>*", "*\n", *ACTS],
        ["<think>Robots?</think>\n", *ACTS],
        ['<think type="deep">Robots?</think>', *ACTS],
        ["<think>Robots?</thinking>\n", *ACTS],
        ["<think>Robots?</think>\n<answ", "er>\n", *ACTS, "</answer>"],
        ["<think>Robots?</think><response>", *ACTS, "</resp", "onse>"],
        ["<|channel>thought\nRobots?<channel|>", *ACTS],
        ["<|inner_prefix|>Robots?<|inner_", "suffix|>", *ACTS],
        ["<mm:think>Robots?</mm:", "think>", *ACTS],
        ["\n" * 1001, "<think>Robots?</think>", *ACTS],
        ["</think>\n\n", *ACTS],
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


@pytest.mark.promise("any-model")
@pytest.mark.parametrize("size", [1, 1_000])
@pytest.mark.parametrize(
    "thoughts",
    [
        "Robots? I know.[/THINK]",
        "Robots? I know.◁/think▷",
        "Robots? I know.</think> ",
        "Robots? I know. </thinking> ",
        "Robots: `<b>`, say\n**</think>**\n",
        "Robots? I know <|end_of_thought|>\n",
        f"{CALL_IN_WORDS}\nNo, I know.\n</think>\n",
    ],
)
async def test_thoughts_end_however_they_are_marked(
    model: OpenAIChat, server: ChatServer, thoughts: str, size: int
) -> None:
    """Where nothing has opened them, and calls that were thought of are not made; from then on nobody sees any."""
    text = f"{thoughts}A robot acts."
    for _ in range(2):
        server.say(*(text[at : at + size] for at in range(0, len(text), size)))
    first, second = await ask(model), await ask(model)
    assert (shown(first), shown(second), Restarted() in second) == ("A robot acts.", "A robot acts.", False)
    assert [item.tool_calls for item in (first[-1], second[-1]) if isinstance(item, ModelTurn)] == [(), ()]


@pytest.mark.parametrize("size", [1, 1_000])
async def test_thoughts_behind_a_word_are_left_out(model: OpenAIChat, server: ChatServer, size: int) -> None:
    """They begin on a line of their own."""
    text = "Okay.\n<think>\nThey want [1].\n</think>\nA robot acts [1].<|im_end|>"
    server.say(*(text[at : at + size] for at in range(0, len(text), size)))
    items = await ask(model)
    assert (shown(items), Restarted() in items) == ("Okay.\n\nA robot acts [1].", False)


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
        "A robot acts [1]. The block ends with </think> and then the robot acts [1].",
        "It ends with ``</think>`` or `[/THINK]`. Then it acts.",
        "Some write this:\n\n```xml\n<think>\nHm.\n</think>\n```\n\nand `<|channel|>final<|message|>` too.",
        "analysis of robots, thoughts on <|this|> and [/b] and ◁ are text.",
        "a < b and c > d, as in </b>",
        "<answer> and </answer> are marks, and so is <response>.",
    ],
)
async def test_an_answer_about_such_marks_is_an_answer(model: OpenAIChat, server: ChatServer, text: str) -> None:
    """In code, within a sentence, or with both of them, they are what is spoken about, also where a model was heard."""
    for is_heard in (False, True):
        if is_heard:
            server.say(*ALOUD)
            await ask(model)
        server.say(*(text[at : at + 3] for at in range(0, len(text), 3)))
        items = await ask(model)
        assert (shown(items), Restarted() in items, is_heard) == (text, False, is_heard)


async def test_thoughts_that_are_cut_are_no_answer(model: OpenAIChat, server: ChatServer) -> None:
    """Also where the model opens none, which is known by then."""
    server.say(*ALOUD)
    await ask(model)
    server.say("Robots? Hm", finish="length")
    server.say("never asked for")
    items: list[Any] = []
    with pytest.raises(Exception, match="Set OPENAI_MAX_TOKENS"):
        items += await ask(model)
    assert (items, len(server.script)) == ([], 1)
