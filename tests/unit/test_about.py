"""What the bot says of itself, without a search and without a model."""

from __future__ import annotations

from core.answering.agent import Agent
from core.messages import NO_DOCUMENTS, Practices
from core.model import MessageRef, Scope, Status, ThreadRef
from tests.builders import hit, question
from tests.fakes.clock import Clock
from tests.fakes.shelf import Shelf
from tests.unit.conftest import Script


def agent_over(script: Script, shelf: Shelf) -> Agent:
    """An agent whose model is never asked."""
    return Agent(script(), shelf, clock=Clock(), practices=Practices(conversation_hours=7))


async def test_what_can_be_asked_is_what_can_be_searched(script: Script) -> None:
    """The chapters of what the asker may see, and nothing else is searched for it."""
    shelf = Shelf(hit(chapter="Robots", source="a"), hit(chapter="Secrets", source="b", url="https://docs.example/b"))
    asked = question("Which chapters are there?", scope=Scope(sources=("a",)))

    answer = await agent_over(script, shelf).answer(asked)

    assert answer.status is Status.ANSWERED
    assert "- Robots" in answer.text
    assert "Secrets" not in answer.text
    assert shelf.asked == []


async def test_names_of_chapters_are_no_markup_of_ours(script: Script) -> None:
    """Whoever writes documents chooses them."""
    shelf = Shelf(hit(chapter="[here](https://evil.example) @everyone [1]"))

    answer = await agent_over(script, shelf).answer(question("what can I ask you?"))

    assert "https://evil.example" not in answer.text
    assert answer.citations == ()


async def test_without_documents_there_is_nothing_to_ask(script: Script) -> None:
    """Which is the operator's to change."""
    answer = await agent_over(script, Shelf()).answer(question("what can I ask you?"))

    assert (answer.text, answer.status) == (NO_DOCUMENTS, Status.NO_CONTEXT)


async def test_where_nobody_can_tell_what_there_is_nothing_is_made_up(script: Script) -> None:
    """The question is searched, which says so."""
    shelf = Shelf(hit())
    shelf.fails = True

    answer = await agent_over(script, shelf).answer(question("what can I ask you?"))

    assert answer.status is Status.UNAVAILABLE


async def test_what_is_kept_is_told_in_the_words_of_the_place(script: Script) -> None:
    """With the hours that the operator has set, and the command that there is."""
    told = dict[str, str]()
    for platform in ("discord", "slack", "terminal"):
        thread = ThreadRef(platform=platform, workspace="w", channel="c", thread="t")
        asked = question("Do you store my questions?")
        asked = asked.model_copy(update={"message": MessageRef(thread=thread, id="1")})
        told[platform] = (await agent_over(script, Shelf(hit())).answer(asked)).text

    assert all("7 hours" in text for text in told.values())
    assert "**/forget**" in told["discord"]
    assert "**/footnote forget me**" in told["slack"]
    assert "footnote chat" in told["terminal"]
