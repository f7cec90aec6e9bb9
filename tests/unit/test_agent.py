"""The loop: who asks whom, in which order, and how often."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from core.answering.agent import Agent, Limits
from core.answering.prompts import INSTRUCTIONS
from core.answering.tools import MOST_FOUND
from core.events import Event, InventionsRemoved, State, StateChanged, TokensUsed, ToolCalled
from core.model import (
    Answer,
    Citation,
    Message,
    ModelTurn,
    Prices,
    Prompt,
    Scope,
    Searching,
    Status,
    ToolRecord,
    Usage,
)
from tests.builders import NOON, OPEN, conversation, hit, question, turn_of
from tests.fakes.chat import Script, call, search, turn
from tests.fakes.clock import Clock
from tests.fakes.shelf import Asked, Shelf
from tests.fakes.surface import seen, streamed

ROBOTS = Citation(
    number=1,
    chapter="one",
    section="What they are",
    title="Robots",
    url="https://docs.example/robots#what",
    relevance_score=0.9,
    source="docs",
)


FOUND = """\
{"success": true, "data": {"results": [{"number": 1, "text": "A robot acts.", "title": "Robots", \
"section": "What they are", "url": "https://docs.example/robots#what", "score": 0.9}], "total": 1, \
"query": "What is a robot?"}, "error": null}"""


SEARCHED = ToolRecord(
    name="search_documents",
    arguments='{"query": "What is a robot?"}',
    success=True,
    result_size=len(FOUND),
    time_ms=1000.0,
)


def results(prompt: Prompt) -> list[dict[str, Any]]:
    """What the tools gave back so far."""
    return [json.loads(message["content"]) for message in prompt.messages if message["role"] == "tool"]


async def test_an_answer_holds_all_that_happened(script: Script) -> None:
    """Text, footnotes, tokens of all turns, tool calls and times are in the answer."""
    used = Usage(prompt_tokens=100, completion_tokens=10, cached_tokens=50)
    model = script(turn(search("What is a robot?"), usage=used), turn("Robots act [1].", usage=used, model="large"))

    answer = await Agent(model, Shelf(hit()), clock=Clock(step=1.0)).answer(question())

    assert answer.model_copy(update={"blocks": None}) == Answer(
        id="fd98f0a2b80f8c02",
        text="Robots act [1].",
        citations=(ROBOTS,),
        status=Status.ANSWERED,
        has_relevant_context=True,
        model="large",
        usage=Usage(prompt_tokens=200, completion_tokens=20, cached_tokens=100),
        tool_calls=(SEARCHED, SEARCHED),
        retrieval_time_ms=6.0,
        first_token_time_ms=2000.0,
        generation_time_ms=4000.0,
        total_time_ms=11000.0,
    )


async def test_an_answer_costs_what_the_tokens_of_all_turns_cost(script: Script) -> None:
    """Cached tokens have a price of their own; without prices nobody knows."""
    used = Usage(prompt_tokens=100, completion_tokens=10, cached_tokens=50)
    turns = (turn(search("robot"), usage=used), turn("Robots act [1].", usage=used))
    prices = Prices(prompt=2_000_000.0, cached=1_000_000.0, completion=3_000_000.0)

    priced = Agent(script(*turns), Shelf(hit()), clock=Clock(), prices=prices)
    unpriced = Agent(script(*turns), Shelf(hit()), clock=Clock())

    assert (await priced.answer(question())).cost == 2 * (50 * 2.0 + 50 * 1.0 + 10 * 3.0)
    assert (await unpriced.answer(question())).cost is None


async def test_progress_is_told_in_order_and_drained_it_is_the_same_answer(script: Script) -> None:
    """The answer that is not streamed comes from the same loop."""
    turns = (turn("Robots ", "act [1", "]."),)

    progress = [item async for item in Agent(script(*turns), Shelf(hit()), clock=Clock()).run(question())]
    drained = await Agent(script(*turns), Shelf(hit()), clock=Clock()).answer(question())

    assert seen(progress) == [Searching("What is a robot?"), "Robots act [1].", drained]


async def test_the_model_decides_what_else_to_search_and_when_to_stop(script: Script) -> None:
    """Each search of the model is made, with its words; numbers go on over all of them."""
    shelf = Shelf(by_query={"arms": [hit(0.8, "Arms grip.", url="https://docs.example/arms#a")], "legs": [hit()]})
    model = script(turn(search("arms")), turn(search("legs", id="call-2")), turn("Grip [1], act [2]."))

    answer = await Agent(model, shelf, clock=Clock()).answer(question("How do they move?"))

    assert shelf.asked == [
        Asked("How do they move?", MOST_FOUND, OPEN),
        Asked("arms", MOST_FOUND, OPEN),
        Asked("legs", MOST_FOUND, OPEN),
    ]
    assert [found["data"]["results"][0]["number"] for found in results(model.prompts[-1])] == [1, 2]
    assert [(c.number, c.url) for c in answer.citations] == [
        (1, "https://docs.example/arms#a"),
        (2, "https://docs.example/robots#what"),
    ]


async def test_the_prompt_only_ever_grows(script: Script) -> None:
    """What a service has cached of the first prompt serves the second: the calls and their results come behind it."""
    model = script(turn("Let me see.", search("What is a robot?", id="call-7")), turn("Robots act [1]."))

    await Agent(model, Shelf(hit()), clock=Clock()).answer(question())

    first, second = (prompt.messages for prompt in model.prompts)
    assert first == ({"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": ASKED})
    assert second[:2] == first
    assert second[2] == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [
            {
                "id": "call-7",
                "type": "function",
                "function": {"name": "search_documents", "arguments": '{"query": "What is a robot?"}'},
            }
        ],
    }
    assert second[3:] == ({"role": "tool", "tool_call_id": "call-7", "content": FOUND},)


@pytest.mark.promise("bounded-loop")
async def test_after_four_rounds_of_searches_the_model_has_to_answer(script: Script) -> None:
    """The first of them is ours; after the last one the tools are still named, and a call of one is not followed."""
    rounds = [turn(search(f"try {number}")) for number in range(3)]
    model = script(*rounds, turn("Robots act [1].", search("once more")))
    shelf = Shelf(hit())

    answer = await Agent(model, shelf, clock=Clock()).answer(question())

    assert ([len(tools) for tools in model.tools], model.may_call) == ([1, 1, 1, 1], [True, True, True, False])
    assert (len(shelf.asked), answer.text, answer.status) == (4, "Robots act [1].", Status.ANSWERED)


async def test_the_number_of_rounds_can_be_set(script: Script) -> None:
    """A stricter limit is kept."""
    model = script(turn("Robots act [1]."))

    await Agent(model, Shelf(hit()), clock=Clock(), limits=Limits(tool_rounds=1)).answer(question())

    assert model.may_call == [False]


async def test_rounds_wasted_on_bad_calls_end_with_an_answer_all_the_same(script: Script) -> None:
    """A model that never managed to search has what its question found."""
    bad = [turn(call("not JSON")) for _ in range(3)]
    shelf = Shelf(hit())
    model = script(*bad, turn("Robots act [1]."))

    answer = await Agent(model, shelf, clock=Clock()).answer(question())

    assert shelf.asked == [Asked("What is a robot?", MOST_FOUND, OPEN)]
    assert (answer.status, answer.text) == (Status.ANSWERED, "Robots act [1].")


async def test_calls_of_one_turn_run_side_by_side_and_their_results_keep_the_order(script: Script) -> None:
    """Three searches are under way together, or the barrier would never open."""
    shelf = Shelf(by_query={"b": [hit(url="https://docs.example/b#b")]})
    shelf.barrier, shelf.waits_for = asyncio.Barrier(3), "abc"
    calls = [search("a", id="call-a"), search("b", id="call-b"), search("c", id="call-c")]
    model = script(turn(*calls), turn("B [1]."))

    progress = [item async for item in Agent(model, shelf, clock=Clock()).run(question())]

    assert progress[1:4] == [Searching("a"), Searching("b"), Searching("c")]
    found = [message for message in model.prompts[1].messages if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in found] == ["call-a", "call-b", "call-c"]
    assert [given["data"]["total"] for given in results(model.prompts[1])] == [0, 1, 0]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (call("{not json"), "Bad arguments for search_documents: arguments: Invalid JSON"),
        (call("{}"), "query: Field required"),
        (call('{"query": "x", "colour": "red"}'), "colour: Extra inputs are not permitted"),
        (call('{"query": 5}'), "query: Input should be a valid string"),
        (call('{"query": " "}'), "query is empty. Say what to look for."),
        (call("{}", name="delete_everything"), "There is no tool 'delete_everything'. The tools are: search_documents"),
    ],
)
async def test_a_bad_call_is_told_to_the_model_and_the_loop_goes_on(bad: Any, told: str, script: Script) -> None:
    """The model reads what was wrong and can do better; nobody else hears of it."""
    model = script(turn(bad), turn("Robots act [1]."))

    answer = await Agent(model, Shelf(hit()), clock=Clock()).answer(question())

    given = results(model.prompts[1])[0]
    assert (given["success"], given["data"]) == (False, None)
    assert told in given["error"]
    assert [record.success for record in answer.tool_calls] == [True, False]
    assert (answer.status, answer.text) == (Status.ANSWERED, "Robots act [1].")


async def test_a_call_nested_without_end_is_a_bad_call(script: Script) -> None:
    """JSON that is too deep to read stops nothing."""
    model = script(turn(call("[" * 200_000)), turn("Robots act [1]."))

    progress = [item async for item in Agent(model, Shelf(hit()), clock=Clock()).run(question())]

    assert progress[:2] == [Searching("What is a robot?"), Searching("")]
    assert streamed(progress) == "Robots act [1]."


@pytest.mark.promise("events")
async def test_every_step_is_an_event(script: Script) -> None:
    """Observers hear of states, tool calls, tokens and removed addresses, each with the question it belongs to."""
    events: list[Event] = []
    used = Usage(prompt_tokens=7)
    model = script(turn("See https://evil.example, act [1].", usage=used))

    await Agent(model, Shelf(hit()), clock=Clock(), observer=events.append).answer(question())

    about = question().message
    searched = ToolCalled(
        about, "search_documents", {"query": "16 characters"}, success=True, result_size=len(FOUND), time_ms=0.0
    )
    assert events == [
        StateChanged(about, State.RETRIEVING),
        searched,
        StateChanged(about, State.GENERATING),
        TokensUsed(about, "scripted", used),
        InventionsRemoved(about, 1),
    ]


async def test_history_stands_between_the_instructions_and_the_question(script: Script) -> None:
    """What was said before is given in the chat format, without the marks and tool calls of then."""
    model = script(turn("Robots act [1]."))
    past = conversation(turn_of("What is a robot?", "A machine [1]."))

    await Agent(model, Shelf(hit()), clock=Clock()).answer(question("And its arm?"), past)

    assert model.prompts[0].messages == (
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": "What is a robot?"},
        {"role": "assistant", "content": "A machine."},
        {"role": "user", "content": ASKED.replace("What is a robot?", "And its arm?")},
    )


ASKED = """\
<data kind="passages">
[1] 0.90 Robots › What they are
  A robot acts.
</data>

Question: What is a robot?"""


@pytest.mark.promise("follow-ups")
@pytest.mark.parametrize("reads_history", [True, False])
async def test_a_follow_up_is_searched_with_the_two_questions_before(script: Script, reads_history: bool) -> None:
    """The newest that were not small talk; a model that can word a follow-up does so from then on."""
    past = conversation(*map(turn_of, ("What is ROS?", "What is VLA?", "What is a robot?", "Thanks!")))
    shelf = Shelf(hit())
    model = script(turn(search("train a robot")), turn("Act [1]."), reads_history=reads_history)

    await Agent(model, shelf, clock=Clock()).answer(question("How do I train one?"), past)

    before = "What is VLA?\nWhat is a robot?"
    assert [asked.earlier for asked in shelf.asked] == [before, "" if reads_history else before]


@pytest.mark.parametrize(
    ("asked", "alone"),
    [
        ("How does a Kalman filter fuse the camera with the wheel encoders?", True),
        ("How does it fuse the camera with the wheel encoders of a robot?", False),
        ("And the Kalman filter of the camera with the wheel encoders?", False),
        ("Why?", False),
        ("How do I train one?", False),
    ],
)
async def test_a_question_that_stands_alone_is_searched_alone(script: Script, asked: str, alone: bool) -> None:
    """What was asked before may have been about something else; in doubt it goes along."""
    shelf = Shelf(hit())

    await Agent(script(turn("Act [1].")), shelf, clock=Clock()).answer(question(asked), conversation(turn_of("VLA?")))

    assert [each.earlier for each in shelf.asked] == ["" if alone else "VLA?"]


@pytest.mark.parametrize("past", [None, conversation(), conversation(turn_of("Hello!"))])
async def test_a_first_question_has_none_before_it(past: Any, script: Script) -> None:
    """Without a real question before, the search is for the question alone."""
    shelf = Shelf(hit())
    model = script(turn("Act [1]."), reads_history=False)

    await Agent(model, shelf, clock=Clock()).answer(question(), past)

    assert shelf.asked == [Asked("What is a robot?", MOST_FOUND, OPEN)]


async def test_history_keeps_to_the_budget_as_the_service_counts_it(script: Script) -> None:
    """After a report that each byte is a token, the same history no longer fits."""
    past = conversation(turn_of("What is a robot? " * 20))
    limits = Limits(history_tokens=380)
    answered = turn("Act [1].", usage=Usage(prompt_tokens=10_000))
    model = script(answered, answered)
    agent = Agent(model, Shelf(hit()), clock=Clock(), limits=limits)

    await agent.answer(question(), past)
    await agent.answer(question(), past)

    assert [len(prompt.messages) for prompt in model.prompts] == [4, 2]


async def test_quoted_messages_take_their_part_of_the_budget(script: Script) -> None:
    """Where they fill it, history stays out; the question and what it quotes are always given."""
    past = conversation(turn_of("What is a robot? " * 20))
    quoted = (Message(role="user", text="x" * 1_000),)
    model = script(*[turn("Act [1].")] * 2)
    agent = Agent(model, Shelf(hit()), clock=Clock(), limits=Limits(history_tokens=500))

    await agent.answer(question(), past)
    await agent.answer(question(context=quoted), past)

    assert [len(prompt.messages) for prompt in model.prompts] == [4, 3]


@pytest.mark.parametrize("items", [2, 3])
async def test_closing_a_run_ends_the_models_work_at_once(items: int, script: Script) -> None:
    """Whoever stops listening does not leave a stream open behind them."""
    model = script(turn("Robots ", "sense ", "and act [1]."))

    async with aclosing(Agent(model, Shelf(hit()), clock=Clock()).run(question())) as run:
        for _ in range(items):
            await anext(run)

    assert model.closed_early == 1


@pytest.mark.promise("scope")
async def test_the_scope_of_the_question_bounds_every_search(script: Script) -> None:
    """What may be searched is the question's, whatever the model asks for."""
    scope = Scope(sources=("docs",))
    shelf = Shelf(hit())

    model = script(turn(search("robot")), turn("Act [1]."))
    await Agent(model, shelf, clock=Clock()).answer(question(scope=scope))

    within = scope.model_copy(update={"open_at": NOON})
    assert shelf.asked == [Asked("What is a robot?", MOST_FOUND, within), Asked("robot", MOST_FOUND, within)]


def test_a_turn_of_a_model_says_nothing_by_default() -> None:
    """No text, no calls, no tokens."""
    assert ModelTurn("") == ModelTurn(text="", tool_calls=(), usage=Usage(), model="")


async def test_of_too_many_calls_of_one_turn_the_first_eight_are_made(script: Script) -> None:
    """A model that asks for more has lost its way, and every search costs time and money."""
    shelf = Shelf(hit())
    model = script(
        turn(*(search(f"robot {number}", id=f"call-{number}") for number in range(12))), turn("It acts [1].")
    )

    answer = await Agent(model, shelf, clock=Clock()).answer(question())

    assert [asked.query for asked in shelf.asked[1:]] == [f"robot {number}" for number in range(8)]
    assert (answer.status, len(answer.tool_calls), len(results(model.prompts[1]))) == (Status.ANSWERED, 9, 8)
