"""The model that needs no account: what it quotes, and how."""

from __future__ import annotations

import pytest

from adapters.extractive import ExtractiveModel
from adapters.extractive.model import NOTICE
from core.answering.agent import Agent
from core.model import Answer
from tests.builders import conversation, hit, question, turn_of
from tests.fakes.clock import Clock
from tests.fakes.embedder import HashEmbedder
from tests.fakes.shelf import Shelf

HERE, THERE = "https://docs.example/robots#here", "https://docs.example/robots#there"


async def ask(asked: str, *texts: str, headings: tuple[str, str] = ("", "")) -> Answer:
    """Ask over passages with these texts, the first one the most relevant."""
    found = zip(texts, (HERE, THERE), headings, strict=False)
    hits = [hit(0.9 - n / 10, text, url=url, section_title=name) for n, (text, url, name) in enumerate(found)]
    return await Agent(ExtractiveModel(HashEmbedder()), Shelf(*hits), clock=Clock()).answer(question(asked))


def quotes(answer: Answer) -> list[str]:
    """The paragraphs of an answer without the notice at its end."""
    return answer.text.split("\n\n")[:-1]


@pytest.mark.promise("footnotes")
async def test_numbers_in_brackets_of_a_page_are_no_footnotes() -> None:
    """A page's own `[2]` is quoted in round brackets; the one footnote is the section that it was quoted from."""
    answer = await ask("Where do robots weld?", "Robots weld cars, as [2] shows.", "Something else is said here.")

    assert quotes(answer) == ["Robots weld cars, as (2) shows. [1]"]
    assert [citation.url for citation in answer.citations] == [HERE]


@pytest.mark.promise("footnotes")
async def test_a_code_mark_that_was_cut_off_does_not_swallow_the_footnote() -> None:
    """Half of a code span would run on to the next backtick, over the mark between them."""
    answer = await ask("Which robots weld ships?", "The `key starts robots.\n\nThese robots weld `big` ships.")

    assert quotes(answer) == ["The key starts robots. [1]", "These robots weld `big` ships. [1]"]


@pytest.mark.promise("footnotes")
async def test_passages_of_one_section_are_quoted_each_from_its_own_words() -> None:
    """A long section is several passages with one footnote; a quote of the second is no place in the first."""
    texts = (
        "Robots weld big ships quickly.",
        f"{'Paint is dear. Nobody likes to wait. ' * 14}\n\nSmall boats need welders and painters.",
    )
    hits = [hit(0.9 - n / 10, text, url=HERE, position=n) for n, text in enumerate(texts)]

    answer = await Agent(ExtractiveModel(HashEmbedder()), Shelf(*hits), clock=Clock()).answer(
        question("Who do robots weld big ships for, and do small boats need welders?")
    )

    assert sorted(quotes(answer)) == [
        "Robots weld big ships quickly. [1]",
        "Small boats need welders and painters. [1]",
    ]


async def test_a_sentence_is_about_what_its_heading_says() -> None:
    """What a sentence is about often stands only above it; a word that it says itself counts more."""
    answer = await ask(
        "How do I install robots?",
        "How old robots are is written on their backs.",
        "Put each of them down on the floor of the hall where it shall work later and bolt its feet to the ground.",
        headings=("Which robots are old?", "How do I install robots?"),
    )

    assert answer.text.startswith("Put each of them down on the floor")


@pytest.mark.parametrize(("said", "is_repeated"), [("I found nothing.", True), (f"Robots act. [1]\n\n{NOTICE}", False)])
async def test_that_it_quotes_is_said_once_in_a_conversation(said: str, *, is_repeated: bool) -> None:
    """An earlier answer that quoted nothing has not said so yet."""
    before = conversation(turn_of("Hm?", said))
    agent = Agent(ExtractiveModel(HashEmbedder()), Shelf(hit(0.9, "Robots weld cars in the hall.")), clock=Clock())

    answer = await agent.answer(question("Where do robots weld cars?", id="m9"), before)

    assert (NOTICE in answer.text) is is_repeated
