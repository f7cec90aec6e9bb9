"""How a question becomes an answer: read from top to bottom."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.answering.agent import Agent
from core.answering.responder import Responder
from core.model import Claim, MessageRef, Reaction, Searching, Status
from tests.builders import hit, question, thread
from tests.fakes.chat import ScriptedChatModel, asked_of, turn
from tests.fakes.clock import Clock
from tests.fakes.conversations import MemoryConversations
from tests.fakes.shelf import Shelf
from tests.fakes.surface import RecordingSurface, streamed

WHAT, WHERE = "https://docs.example/robots#what", "https://docs.example/robots#where"


def agent(model: ScriptedChatModel, shelf: Shelf) -> Agent:
    """An agent that asks *model* and searches on *shelf*."""
    return Agent(model, shelf, clock=Clock())


@pytest.mark.promise("footnotes")
async def test_the_question_is_searched_and_the_answer_carries_footnotes() -> None:
    """The model is given what was found, writes with the numbers of that, and each number becomes a link."""
    shelf = Shelf(hit(0.9, "A robot acts.", url=WHAT), hit(0.8, "Robots work in factories.", url=WHERE))
    model = ScriptedChatModel(turn("Robots work in factories [2]. They act [1]."))

    answer = await agent(model, shelf).answer(question("What do robots do?"))

    assert answer.text == "Robots work in factories [1]. They act [2]."
    assert [(citation.number, citation.url) for citation in answer.citations] == [(1, WHERE), (2, WHAT)]


@pytest.mark.promise("no-invented-marks")
async def test_what_no_passage_supports_is_not_shown() -> None:
    """A number that the search did not give disappears, and so does an address that the documents do not hold."""
    model = ScriptedChatModel(turn("Robots act [1] and fly [7]. See https://evil.example/x"))

    answer = await agent(model, Shelf(hit())).answer(question())

    assert answer.text == "Robots act [1] and fly. See"


@pytest.mark.promise("abstains")
async def test_nothing_relevant_is_said_plainly() -> None:
    """Where no passage is relevant enough, the reader gets the nearest sections and nothing from memory."""
    model = ScriptedChatModel(turn("I remember that cake is baked."))

    answer = await agent(model, Shelf(hit(0.2, url=WHAT))).answer(question("How is cake baked?"))

    assert (answer.status, answer.citations, [near.url for near in answer.nearest]) == (Status.NO_CONTEXT, (), [WHAT])
    assert "memory" not in answer.text
    assert answer.text.startswith("I couldn't find anything about that in the documents.")


@pytest.mark.promise("always-searches")
async def test_every_question_is_searched_before_the_model_is_asked() -> None:
    """Whether to search is not left to the model: and what no passage holds is no answer."""
    shelf = Shelf(hit())
    model = ScriptedChatModel(turn("Robots were invented by Albert Einstein on the moon [1]."))

    answer = await agent(model, shelf).answer(question("What is a robot?"))

    assert (answer.status, [asked.query for asked in shelf.asked]) == (Status.NO_CONTEXT, ["What is a robot?"])


async def test_an_answer_without_marks_gets_those_that_belong_there() -> None:
    """Small models write none: where a passage holds what they say, no other call is needed."""
    model = ScriptedChatModel(turn("A robot is a machine that acts in the world."))

    answer = await agent(model, Shelf(hit())).answer(question("What is a robot?"))

    assert (answer.status, answer.text) == (Status.ANSWERED, "A robot is a machine that acts in the world. [1]")


@pytest.mark.promise("small-talk")
async def test_small_talk_needs_no_search() -> None:
    """A greeting is answered without sources."""
    shelf = Shelf(hit())

    answer = await agent(ScriptedChatModel(turn("Hello!")), shelf).answer(question("Hi there"))

    assert (answer.status, answer.text, answer.citations, shelf.asked) == (Status.ANSWERED, "Hello!", (), [])


@pytest.mark.promise("selection-only")
async def test_a_question_about_a_selection_uses_only_the_selection() -> None:
    """With a text selected there are no tools; the text itself is the one source."""
    shelf = Shelf(hit())
    model = ScriptedChatModel(turn("It says that they act [1]."))

    answer = await agent(model, shelf).answer(question("What does it say?", selection="Robots act."))

    assert (model.tools, shelf.asked) == ([()], [])
    assert [citation.title for citation in answer.citations] == ["The selected text"]


@pytest.mark.promise("ends-with-answer")
async def test_progress_streams_and_ends_with_the_answer() -> None:
    """A surface is given what happens while it happens; the last item is the whole answer."""
    model = ScriptedChatModel(turn("Robots ", "act [1]."))

    *shown, answer = [item async for item in agent(model, Shelf(hit())).run(question())]

    assert shown[0] == Searching("What is a robot?")
    assert streamed(shown) == "Robots act [1]."
    assert answer == await agent(ScriptedChatModel(turn("Robots act [1].")), Shelf(hit())).answer(question())


@pytest.mark.promise("follow-ups")
async def test_a_conversation_is_remembered() -> None:
    """The next question in a thread reaches the model with what was said before, without the old marks."""
    clock = Clock()
    store = MemoryConversations(ttl=timedelta(hours=24), now=clock.now)
    model = ScriptedChatModel(turn("Robots act [1]."), turn("In factories [1]."))
    responder = Responder(agent(model, Shelf(hit())), store, now=clock.now)

    await responder.respond(Claim(question("What is a robot?", id="m1")), RecordingSurface())
    await responder.respond(Claim(question("Where do they work?", id="m2")), RecordingSurface())

    said = [(message["role"], asked_of(message)) for message in model.prompts[-1].messages[1:]]
    assert said == [("user", "What is a robot?"), ("assistant", "Robots act."), ("user", "Where do they work?")]


@pytest.mark.promise("failed-search-warns")
async def test_a_failed_search_is_marked_on_the_question() -> None:
    """When the documents cannot be searched, the question gets a warning and the reader one sentence."""
    shelf = Shelf(hit())
    shelf.fails = True
    surface = RecordingSurface()
    responder = Responder(agent(ScriptedChatModel(), shelf), None, now=Clock().now)

    answer = await responder.respond(Claim(question()), surface)

    assert surface.reactions == [(MessageRef(thread=thread(), id="m1"), Reaction.WARNING)]
    assert (answer.status, answer.text) == (
        Status.UNAVAILABLE,
        "I can't search the documents right now. Please try again in a moment.",
    )
