"""Questions about a text that somebody selected."""

from __future__ import annotations

import pytest

from core.answering.agent import Agent
from core.answering.prompts import SELECTION_INSTRUCTIONS
from core.errors import ModelUnavailable
from core.messages import FAILED
from core.model import Answer, Citation, Progress, Restarted, Status
from tests.builders import conversation, hit, question, turn_of
from tests.fakes.chat import Script, ScriptedChatModel, search, turn
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.fakes.surface import seen

SELECTED = Citation(number=1, chapter="", section="", title="The selected text", url="", relevance_score=1.0)
TOLD = "_I didn't find this in the selected text: “It costs 9 dollars.”._"
NOT_THERE = 'The selected text doesn\'t contain information about "What is a robot".'


async def run(model: ScriptedChatModel, shelf: Shelf | None = None) -> tuple[list[Progress], Answer]:
    """Ask about a selection, in a conversation, with a shelf that would answer."""
    asked = question(selection="A robot senses. See https://robots.example/see.")
    agent = Agent(model, shelf or Shelf(hit()), clock=Clock())
    *shown, answer = [item async for item in agent.run(asked, conversation(turn_of("And before?")))]
    assert isinstance(answer, Answer)
    return shown, answer


async def test_a_selection_is_answered_from_itself_alone(script: Script) -> None:
    """The model gets no tools, no history, and the text as data; the selection is the one source."""
    shelf = Shelf(hit())
    model = script(turn("It senses ", "[1]."))

    shown, answer = await run(model, shelf)

    assert (model.tools, shelf.asked) == ([()], [])
    assert model.prompts[0].messages == (
        {"role": "system", "content": SELECTION_INSTRUCTIONS},
        {
            "role": "user",
            "content": '<data kind="selected text">\nA robot senses. See https://robots.example/see.\n</data>'
            "\n\nQuestion: What is a robot?",
        },
    )
    assert seen(shown) == ["It senses [1]."]
    assert (answer.status, answer.text, answer.citations) == (Status.ANSWERED, "It senses [1].", (SELECTED,))


async def test_a_mark_that_is_added_stays_out_of_code(script: Script) -> None:
    """Behind the fence it would be code itself, and the fence would not close."""
    _, answer = await run(script(turn("```\nsense()\n```")))

    assert answer.text == "```\nsense()\n```\n\n[1]"


@pytest.mark.parametrize(
    "pieces",
    [
        ("NOT_IN_SELECTION",),
        ("NOT", "_IN_", "SELECTION"),
        ("\n", "NOT_IN_SELECTION", "."),
        ("NOT_IN_SELECTION: it is about bees [1].",),
    ],
)
async def test_what_the_selection_does_not_hold_is_said_in_a_sentence(pieces: tuple[str, ...], script: Script) -> None:
    """The word by which the model says so never comes before a reader's eyes."""
    shown, answer = await run(script(turn(*pieces)))

    assert shown == []
    assert (answer.status, answer.text, answer.citations) == (Status.NO_CONTEXT, NOT_THERE, ())


async def test_a_refusal_after_other_text_takes_it_back(script: Script) -> None:
    """What was shown before is no answer."""
    shown, answer = await run(script(turn("Let me see. ", "NOT_IN_SELECTION")))

    assert seen(shown) == ["Let me see.", Restarted()]
    assert (answer.status, answer.text) == (Status.NO_CONTEXT, NOT_THERE)


async def test_a_missing_mark_is_added(script: Script) -> None:
    """There is only one source, so it is known what it must be."""
    _, answer = await run(script(turn("It senses. \n")))

    assert (answer.status, answer.text, answer.citations) == (Status.ANSWERED, "It senses. [1]", (SELECTED,))


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Put simply, that machine notices 2 things.", "Put simply, that machine notices 2 things. [1]"),
        ("It notices 3 things [1].", NOT_THERE),
        (
            "It notices 2 things [1]. It costs 9 dollars [1].",
            f"It notices 2 things [1]. It costs 9 dollars.\n\n{TOLD}",
        ),
    ],
)
async def test_numbers_have_to_stand_in_the_selection(said: str, shown: str, script: Script) -> None:
    """Words need not, as it may be explained, shortened or translated."""
    agent = Agent(script(turn(said)), Shelf(), clock=Clock())

    assert (await agent.answer(question(selection="A robot senses 2 things: sounds and lights."))).text == shown


async def test_addresses_of_the_selection_may_be_repeated_and_no_others(script: Script) -> None:
    """The selected text is where they come from."""
    _, answer = await run(script(turn("See https://robots.example/see, not https://evil.example [1].")))

    assert answer.text == "See `https://robots.example/see`, not [1]."


async def test_tool_calls_over_a_selection_are_not_followed(script: Script) -> None:
    """No tool was offered."""
    shelf = Shelf(hit())

    _, answer = await run(script(turn("It senses [1].", search("robot"))), shelf)

    assert (shelf.asked, answer.text) == ([], "It senses [1].")


@pytest.mark.parametrize("pieces", [("",), (" ",), (ModelUnavailable("down"),), ("It", " is", ModelUnavailable("x"))])
async def test_no_answer_over_a_selection_is_a_failure(pieces: tuple[str | Exception, ...], script: Script) -> None:
    """Silence and a broken stream end in the same sentence."""
    _, answer = await run(script(turn(*pieces)))

    assert (answer.status, answer.text, answer.citations) == (Status.FAILED, FAILED, ())
