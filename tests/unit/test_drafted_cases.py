"""Questions to begin an evaluation with."""

from __future__ import annotations

import pytest

from bot.evaluation.drafts import drafts, passages
from core.errors import ModelUnavailable
from tests.builders import hit, passage
from tests.fakes.chat import Script, turn
from tests.fakes.shelf import Shelf


async def test_sections_are_taken_from_all_chapters_by_turns() -> None:
    """Each once, however many passages it has."""
    places = [("a", "1"), ("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")]
    hits = [
        hit(
            chapter=chapter,
            section_title=f"{chapter} {section}",
            source_url=f"https://docs.example/{chapter}#{section}",
            passage_id=str(number),
        )
        for number, (chapter, section) in enumerate(places)
    ]

    found = await passages(Shelf(*hits), 3)

    assert [each.source_url.rpartition("/")[2] for each in found] == ["a#1", "b#1", "a#2"]


async def test_sections_are_taken_that_somebody_can_ask_about() -> None:
    """Not what leads elsewhere, and not a heading that several have, in the same page or in another one."""
    names = ("Next Steps", "Setup › Learning Objectives", "Arms", "Setup › Legs", "Parts › legs", "Community Resources")
    hits = [
        hit(section_title=name, source_url=f"https://docs.example/{number}", passage_id=str(number))
        for number, name in enumerate(names)
    ]

    assert [each.section_title for each in await passages(Shelf(*hits), 20)] == ["Arms"]


async def test_without_a_model_a_question_is_a_heading() -> None:
    """Without its number, unless that is a question already."""
    found = [passage(section_title="3.1 Arms"), passage(section_title="What is a leg?"), passage(section_title="")]

    cases = [case async for case in drafts(found, None)]

    assert [case.question for case in cases] == [
        "What do the documents say about “Arms”?",
        "What is a leg?",
        f"What do the documents say about “{passage().page_title}”?",
    ]
    assert {(case.drafted, case.pages) for case in cases} == {("from headings", (passage().source_url,))}


@pytest.mark.parametrize(
    ("said", "question", "drafted"),
    [
        (("What do \n", "arms do?"), "What do arms do?", "by the chat model"),
        (('**Question:** "What do ', 'arms do?"\n\nIt is about arms.'), "What do arms do?", "by the chat model"),
        (("A newcomer might ask: “What", " do arms do?”"), "What do arms do?", "by the chat model"),
        (("This passage is ", "about arms."), "What do the documents say about “Arms”?", "from headings"),
    ],
)
async def test_a_chat_model_asks_what_a_passage_answers(
    said: tuple[str, str], question: str, drafted: str, script: Script
) -> None:
    """It is given the passage as data, and what small models write beside a question or instead of one is left out."""
    model = script(turn(*said))

    cases = [case async for case in drafts([passage("An arm lifts.", section_title="Arms")], model)]

    [case] = cases
    assert (case.id, case.question, case.drafted) == ("draft-1", question, drafted)
    assert "An arm lifts." in str(model.prompts[0].messages[1]["content"])


async def test_a_model_that_writes_nothing_is_told(script: Script) -> None:
    """A case without a question would be of no use."""
    with pytest.raises(ModelUnavailable):
        _ = [case async for case in drafts([passage()], script(turn("")))]
