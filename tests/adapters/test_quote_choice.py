"""What is quoted of several passages that name what was asked for."""

from __future__ import annotations

import pytest

from adapters.extractive import ExtractiveModel
from adapters.extractive.quotes import ScoredUnit, choose, compose
from adapters.extractive.units import AskedWords, Source, units
from core.answering.agent import Agent
from core.model import Status
from tests.adapters.test_extractive import ask
from tests.builders import hit, question
from tests.fakes.clock import Clock
from tests.fakes.embedder import LetterEmbedder
from tests.fakes.shelf import Shelf

ENTRY = "**Robot (RBT)**\n: A machine that moves by itself."


@pytest.mark.parametrize(
    ("asked", "other", "heading", "begins"),
    [
        ("robot", "1. Switch the robot on.\n2. Greet the robot.", "Setup", "**Robot (RBT)**: A machine"),
        (
            "What is a robot?",
            "The lessons use core robot parts that are for all.",
            "Parts",
            "**Robot (RBT)**: A machine",
        ),
        ("how do robots move", "- Discuss how robots move", "Analysis (10 points)", "**Robot (RBT)**: A machine"),
        ("what is the robots project about", "- Discuss how robots move", "Project (10 points)", "Discuss"),
        ("how do I start the robot", "Start it:\n\n```bash\nrobot start\n```", "Start the robot", "Start it:"),
    ],
)
async def test_what_says_most_of_it_comes_first(asked: str, other: str, heading: str, begins: str) -> None:
    """A name alone asks what it is, which no step says, and what students have to hand in explains nothing."""
    answer = await ask(asked, other, ENTRY, headings=(heading, "R › Robot"))

    assert answer.text.removeprefix(f"**{heading}**\n\n").startswith(begins)


def test_a_thing_that_most_sentences_name_leaves_room_for_what_it_is_compared_with() -> None:
    """The answer to a question for a difference begins with neither half of it alone."""
    passages = {
        "Robots": "Robots, unlike drones, lift. Robots weld. Robots paint. Robots sort.",
        "Drones": "Drones fly.",
    }
    sources = [Source(at, 0.9, "R", name, tuple(units(text))) for at, (name, text) in enumerate(passages.items(), 1)]
    scored = [ScoredUnit(each, unit, 0.9 - each.number / 10) for each in sources for unit in each.units]

    chosen = choose(AskedWords("robots vs drones"), scored)

    assert {each.source.number for each in chosen} == {1, 2}


@pytest.mark.parametrize("asked", ["robot vs drone", "whats the difrence between a robot and a drone?"])
async def test_of_two_things_that_are_compared_both_are_told(asked: str) -> None:
    """Most passages say something of one of them only."""
    answer = await ask(asked, "**Drone**: A machine that flies.", ENTRY)

    assert "[1]" in answer.text
    assert "[2]" in answer.text


@pytest.mark.parametrize(("heading", "begins"), [("How do I stop the robot?", "Press"), ("Care", "You can also stop")])
def test_a_section_that_is_called_as_the_question_is_answers_it_from_its_beginning(heading: str, begins: str) -> None:
    """Its first words need not say again what the heading says, and later ones may only add to them."""
    text = "Press the red button. " + "It goes to sleep then. " * 30 + "You can also stop the robot by its lever."
    source = Source(1, 0.9, "Manual", heading, tuple(units(text)))

    (quote,) = compose(AskedWords("how do I stop the robot"), [ScoredUnit(source, source.units[-1], 0.9)])

    assert quote.startswith(begins)


async def test_a_long_section_begins_with_its_first_part_whichever_was_found_first() -> None:
    """It was cut into several passages, and a later one has more of the question's words."""
    parts = (
        "The robot stops, and you stop it, by its lever.",
        "Press the red button. " + "It goes to sleep then. " * 30,
    )
    name = "How do I stop the robot?"
    hits = [hit(0.9 - n / 10, text, section_title=name, position=1 - n) for n, text in enumerate(parts)]

    agent = Agent(ExtractiveModel(LetterEmbedder()), Shelf(*hits), clock=Clock())

    assert (await agent.answer(question("how do I stop the robot"))).text.startswith("Press the red button.")


def test_what_a_terminal_shows_needs_what_stands_before_it() -> None:
    """A passage may begin behind the command whose output it has; items with blank lines between them are one list."""
    texts = ("```console\ncreating robot\n```\n\nThe robot is ready.", "- Robots\n\n  - Arms\n\n- Drones")
    first = Source(1, 0.9, "Robots", "Make one", ())
    sources = [Source(1, 0.9, "Robots", "Make one", tuple(units(text)), first) for text in texts]

    written = compose(AskedWords("robot"), [ScoredUnit(each, each.units[-1], 0.9) for each in sources])

    assert written == ["The robot is ready. [1]", "- Robots\n  - Arms\n- Drones [1]"]


def test_who_asks_how_gets_the_command_above_and_nothing_is_announced_in_vain() -> None:
    """What announces the command comes with it; what a terminal shows is no command."""
    halls = "There are robots in halls. " * 20
    shown = "```console\n[INFO] welded\n```"
    said = f"Robots weld cars.\n\n{shown}\n\nYou will see the following message."
    text = f"Run this:\n\n```bash\nrobot weld\n```\n\n{halls}\n\n{said}"
    source = Source(1, 0.9, "Robots", "Weld", tuple(units(text)))

    written = compose(AskedWords("how do I weld cars"), [ScoredUnit(source, source.units[-3], 0.9)])

    assert written == [f"Run this:\n\n```bash\nrobot weld\n```\n\nRobots weld cars. [1]\n\n{shown}\n\n[1]"]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("What is a drone?", "Robots lift a part with an arm."),
        ("B", "Robots lift part b with an arm."),
        ("How do robots weld?", "- Next: how robots weld"),
    ],
)
async def test_what_is_about_something_else_or_leads_on_is_not_quoted(asked: str, text: str) -> None:
    """What a thing is says only what names it, and a name in capitals is not the word in small letters."""
    answer = await ask(asked, text)

    assert answer.status is Status.NO_CONTEXT
