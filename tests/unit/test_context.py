"""How much a model is given that cannot read everything, and what happens where it was still too much."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from core.answering.agent import Agent
from core.answering.context import TOOLS, earlier_questions, readable_bytes, size_of
from core.errors import PromptTooLong
from core.events import Event, ServiceFailed
from core.messages import TOO_LONG
from core.model import Answer, Attachment, Conversation, Hit, Message, Status
from tests.builders import conversation, hit, question, turn_of
from tests.fakes.chat import Script, ScriptedChatModel, asked_of, search, turn
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.unit.test_responder import Desk

LONG = conversation(*(turn_of(f"Question {number}? " * 40, f"Answer {number}. " * 40) for number in range(24)))
MANY = [hit(0.9 - number / 50, "Robots act. " * 40, url=f"https://docs.example/{number}#x") for number in range(8)]
REFUSED = PromptTooLong("It cannot read that much.")


async def asked(
    model: ScriptedChatModel, past: Conversation | None = LONG, hits: list[Hit] | None = None, **fields: Any
) -> Answer:
    """Ask in a long conversation, over many passages."""
    agent = Agent(model, Shelf(*(hits or MANY)), clock=Clock(), observer=EVENTS.append)
    return await agent.answer(question(top_k=8, **fields), past)


EVENTS: list[Event] = []


def parts(model: ScriptedChatModel, number: int = -1) -> tuple[int, int]:
    """Count the messages of a prompt that were said before, and its passages."""
    messages = model.prompts[number].messages
    return len(messages) - 2, str(messages[-1]["content"]).count("\n[")


@pytest.mark.parametrize(
    ("context", "most", "readable"),
    [(4_000, 8_192, 3_000), (32_000, 8_192, 24_000), (128_000, 8_192, 119_808), (8, 0, 6)],
)
def test_an_answer_leaves_three_quarters_of_a_context_at_least(context: int, most: int, readable: int) -> None:
    """However much it may have; where nobody knows that, it has the fourth one."""
    assert readable_bytes(context, most, 1.0) == readable


@pytest.mark.promise("fits-any-model")
@pytest.mark.parametrize("context", [1_500, 4_000, 8_000, 32_000])
async def test_a_prompt_fits_into_the_context_that_is_known(script: Script, context: int) -> None:
    """The oldest turns go first, then the passages that fit worst; the question is always there."""
    model = script(turn("Robots act [1]."))
    model.context_tokens, model.most_tokens = context, 8_192

    answer = await asked(model)

    [prompt] = model.prompts
    assert size_of(prompt.messages) + TOOLS <= readable_bytes(context, 8_192, 4.0)
    assert (answer.status, asked_of(prompt.messages[-1])) == (Status.ANSWERED, "What is a robot?")
    expected = {1_500: (0, 1), 4_000: (6, 8), 8_000: (30, 8), 32_000: (48, 8)}
    assert parts(model) == expected[context]


async def test_without_a_known_context_only_the_setting_counts(script: Script) -> None:
    """What there is room for is then told by whoever refuses."""
    model = script(turn("Robots act [1]."))

    await asked(model)

    assert parts(model) == (48, 8)


async def test_what_there_was_no_room_for_cannot_be_cited(script: Script) -> None:
    """The model has not read it."""
    model = script(turn("Robots act [1][8]."))
    model.context_tokens = 1_500

    assert [each.url for each in (await asked(model)).citations] == [MANY[0].passage.source_url]


async def test_older_results_make_room_for_newer_ones(script: Script) -> None:
    """A model that goes on searching reads what it has found last."""
    model = script(turn(search("arms")), turn(search("legs", id="call-2")), turn("Robots act [1]."))
    model.context_tokens = 3_400

    answer = await asked(model, None)

    results = [message["content"] for message in model.prompts[-1].messages if message["role"] == "tool"]
    assert answer.status is Status.ANSWERED
    assert ["no room" in result for result in results] == [True, False]
    assert size_of(model.prompts[-1].messages) + TOOLS <= readable_bytes(3_400, 0, 4.0)


async def test_quoted_messages_and_files_are_cut_where_nothing_else_is_left(script: Script) -> None:
    """Half an answer to the question is better than none."""
    model = script(turn("Robots act [1]."))
    model.context_tokens = 2_000
    files = (Attachment(name="log", text="lost\n" * 2_000),)

    await asked(model, context=(Message(role="user", text="Robots! " * 200, author="Bob"),), attachments=files)

    *_, file, _ = model.prompts[0].messages
    assert size_of(model.prompts[0].messages) + TOOLS <= readable_bytes(2_000, 0, 4.0)
    assert (str(file["content"]).count("lost") > 20, "Bob" in str(model.prompts[0])) == (True, False)


@pytest.mark.promise("fits-any-model")
async def test_a_refusal_for_length_is_met_with_half_as_much(script: Script) -> None:
    """Until it is little enough; nobody hears of it."""
    model = script(turn(REFUSED), turn(REFUSED), turn("Robots act [1]."))

    answer = await asked(model)

    sizes = [size_of(prompt.messages) for prompt in model.prompts]
    assert answer.status is Status.ANSWERED
    assert all(after + TOOLS <= (before + TOOLS) / 2 for before, after in pairwise(sizes))


async def test_a_refusal_that_names_its_limit_is_met_with_that(script: Script) -> None:
    """So it is asked for only once more."""
    model = script(turn(PromptTooLong("It cannot read that much.", limit=4_000)), turn("Robots act [1]."))
    model.most_tokens = 8_192

    await asked(model)

    assert parts(model) == (6, 8)


@pytest.mark.promise("fits-any-model")
async def test_what_is_refused_three_times_over_is_told(script: Script) -> None:
    """In words that say what to do; what was tried is not counted as read."""
    EVENTS.clear()
    model = script(*[turn(REFUSED)] * 4)

    answer = await asked(model)

    assert (answer.status, answer.text) == (Status.FAILED, TOO_LONG)
    assert [event for event in EVENTS if isinstance(event, ServiceFailed)] == [
        ServiceFailed("chat model", "It cannot read that much.")
    ]


async def test_what_cannot_be_cut_is_told_at_once(script: Script) -> None:
    """To ask the same again is a waste of time."""
    model = script(turn(REFUSED))

    answer = await Agent(model, Shelf(), clock=Clock()).answer(question("Hello!"))

    assert answer.text == TOO_LONG


async def test_the_most_that_an_answer_may_take_is_bounded_by_the_context(script: Script) -> None:
    """No turn reads more than that."""
    model = script()
    model.most_tokens, model.context_tokens = 500, 4_000
    agent = Agent(model, Shelf(), clock=Clock())  # five turns at most, the last one up to three times

    assert agent.most(question(), LONG).tokens == 7 * (4_000 + model.most_tokens)


@pytest.mark.promise("follow-ups")
@pytest.mark.parametrize(
    ("past", "first"),
    [
        (["What is ROS?", "What is VLA?", "How do I train one?", "How long does that take?"], "What is VLA?"),
        (["What is VLA?", "How do I train one?", "What is ROS?", "What is a node?"], "What is ROS?"),
        (["What is VLA?", *["And that?"] * 9], "And that?"),
    ],
)
def test_a_follow_up_keeps_its_topic_over_several_steps(past: list[str], first: str) -> None:
    """The questions before reach back to the newest that names one, though not for ever, and are two at least."""
    earlier = earlier_questions(conversation(*map(turn_of, past))).split("\n")

    assert (earlier[0], earlier[-1]) == (first, past[-1])
    assert 2 <= len(earlier) <= 4


@pytest.mark.promise("follow-ups")
async def test_a_follow_up_keeps_its_topic_over_a_question_that_found_no_answer(script: Script) -> None:
    """The question before that one is still searched with it."""
    shelf = Shelf(hit())
    desk = Desk(script(turn("Robots act [1]."), turn("NOT_IN_DOCUMENTS"), turn("Robots act [1].")), shelf=shelf)

    await desk.ask(question("What is VLA?"))
    refused = await desk.ask(question("How much do tickets cost?", id="m2"))
    await desk.ask(question("How do I train one?", id="m3"))

    assert refused.status is Status.NO_CONTEXT
    assert shelf.asked[-1].earlier == "What is VLA?\nHow much do tickets cost?"
