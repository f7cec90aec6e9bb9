"""The model that needs no account: what it quotes, and how."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.extractive import ExtractiveModel
from adapters.extractive.model import NOTICE, restated
from adapters.extractive.quotes import ScoredUnit, candidates, choose, compose
from adapters.extractive.units import CHARACTERS, AskedWords, Source, units
from core.answering.agent import Agent
from core.messages import ABOUT_ME, NO_CONTEXT, THANKED, needs_chat_model
from core.model import Answer, Status
from tests.builders import conversation, hit, question, turn_of
from tests.fakes.clock import Clock
from tests.fakes.embedder import HashEmbedder, LetterEmbedder
from tests.fakes.shelf import Shelf
from tests.portion import examples

HERE, THERE = "https://docs.example/robots#here", "https://docs.example/robots#there"


async def ask(asked: str, *texts: str, headings: tuple[str, str] = ("", "")) -> Answer:
    """Ask over passages with these texts, the first one the most relevant."""
    found = zip(texts, (HERE, THERE), headings, strict=False)
    hits = [hit(0.9 - n / 10, text, url=url, section_title=name) for n, (text, url, name) in enumerate(found)]
    return await Agent(ExtractiveModel(LetterEmbedder()), Shelf(*hits), clock=Clock()).answer(question(asked))


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


TABLE = """\
The prices are these:

| Robot | Price |
|---|---|
| Small | 300 |
| Large | 900 |"""
STEPS = """\
1. Open the box.
2. Switch the robot on:
   ```bash
   robot start --slowly
   ```
3. Wait for its greeting."""


async def test_who_asks_whether_is_told_yes_or_no() -> None:
    """That stands at the beginning of a section, and what fits best may stand further on."""
    rest = "Their arms are kept in a box of oak, which is closed with a key of brass and stands in the hall. " * 6
    text = f"No, robots are never switched off.\n\nThe arms of robots are oiled at night in Berlin.\n\n{rest}"

    whether = quotes(await ask("Are the arms of robots oiled at night in Berlin?", text, "Something else is said."))
    what = quotes(await ask("Where are the arms of robots oiled at night?", text, "Something else is said."))

    assert [one[0].startswith("No, robots are never switched off.") for one in (whether, what)] == [True, False]


async def test_a_table_is_quoted_whole_where_it_answers() -> None:
    """With the sentence that announces it; its rows alone would say nothing."""
    answer = await ask("How much does the large robot cost?", TABLE, "Something else is said here.")

    assert answer.text.startswith(f"{TABLE}\n\n[1]")


async def test_steps_keep_their_numbers_and_their_code() -> None:
    """Code that belongs to a step stands behind it as code, however deep it is indented, and is never prose."""
    answer = await ask("How do I switch the robot on?", STEPS)

    assert answer.text.startswith(
        "1. Open the box.\n2. Switch the robot on:\n\n```bash\nrobot start --slowly\n```\n\n3. Wait for its greeting."
    )


async def test_what_a_thing_is_comes_before_an_example_of_it() -> None:
    """Whoever asks what it is has to be told that first."""
    answer = await ask(
        "What is a robot?",
        "This robot paints a wall in the hall.",
        "**Robot**: A machine that moves by itself.",
        headings=("Example of a robot", "R"),
    )

    assert answer.text.startswith("**Robot**: A machine that moves by itself. [1]")


@pytest.mark.parametrize("heading", ["Learning Objectives", "5. Next Steps", "Table of Contents", "Further reading"])
async def test_what_only_tells_of_the_page_is_no_answer(heading: str) -> None:
    """It names the very words of the question, and says nothing about them."""
    answer = await ask("How do robots weld?", "- Explain how robots weld.", headings=(heading, ""))

    assert answer.status is Status.NO_CONTEXT


@pytest.mark.parametrize(
    "text",
    [
        "How do robots weld?",
        "In this lesson you will learn how robots weld.",
        "- [How robots weld](https://docs.example/weld) - a page about how robots weld",
        "**Related**: How robots weld",
        "*Content coming soon*",
        "For more information about how robots weld, refer to the index.",
    ],
)
async def test_a_sentence_that_says_nothing_is_not_quoted(text: str) -> None:
    """The question itself, what is announced for later, and links to elsewhere."""
    answer = await ask("How do robots weld?", text)

    assert answer.status is Status.NO_CONTEXT


async def test_a_very_short_sentence_is_quoted_where_there_is_no_other() -> None:
    """It was relevant enough, and beside a longer one it would be a fragment."""
    alone = await ask("What do goats eat?", "Goats eat thistles.")
    beside = await ask("What do goats eat?", "Goats eat thistles.", "On the hills, the goats eat thistles and herbs.")

    assert quotes(alone) == ["Goats eat thistles. [1]"]
    assert "Goats eat thistles." not in beside.text


@pytest.mark.parametrize("selection", ["Robots weld cars. Cars are heavy.", None])
@pytest.mark.parametrize(
    "asked", ["summarize this", "Can you summarize this for me, please?", "tl;dr", "Explain this text"]
)
async def test_other_words_for_a_text_need_a_chat_model(asked: str, selection: str | None) -> None:
    """Quoting half of it would be no summary; without a selection, what can be selected is said, too."""
    agent = Agent(ExtractiveModel(HashEmbedder()), Shelf(hit(0.9, "Explain this text.")), clock=Clock())

    answer = await agent.answer(question(asked, selection=selection))

    said = needs_chat_model(has_selection=selection is not None)
    assert (answer.text, answer.status) == (said, Status.NO_CONTEXT)


@pytest.mark.parametrize(
    ("said", "reply"), [("thanks a lot!", THANKED), ("Hi, who are you?", ABOUT_ME), ("How does this work?", ABOUT_ME)]
)
async def test_small_talk_is_answered_by_what_it_says(said: str, reply: str) -> None:
    """Whoever says thanks is not greeted."""
    answer = await Agent(ExtractiveModel(HashEmbedder()), Shelf(), clock=Clock()).answer(question(said))

    assert answer.text == reply


def test_lists_of_two_sections_do_not_become_one() -> None:
    """A blank line alone joins them; what the second is a list of is said by the name of its section."""
    texts = {"Depth": "**Limitations**:\n- Bad in light\n- Needs power", "Kit › Sensors": "- Cameras\n- Lasers"}
    found = enumerate(texts.items(), start=1)
    sources = [Source(number, 0.9, "Robots", name, tuple(units(text))) for number, (name, text) in found]

    written = compose(AskedWords("camera limits"), [ScoredUnit(each, each.units[-1], 0.9) for each in sources])

    assert written == [f"{texts['Depth']} [1]", "**Sensors**\n\n- Cameras\n- Lasers [2]"]


async def test_an_item_of_a_long_list_keeps_what_the_list_is_about() -> None:
    """Without it, a limitation reads as an advantage."""
    long = "\n".join(f"- It never {word} in the hall, whatever happens and whoever is there" for word in "abcdefghijkl")

    answer = await ask("Do cameras rust in rain?", f"**Limitations**:\n{long}\n- Cameras rust in rain and in snow")

    assert quotes(answer) == ["**Limitations**:\n- Cameras rust in rain and in snow [1]"]


REFERENCES = """\
1. Kajita, S., et al. (2003). "How robots walk." *Journal of Robots*.
2. Vukobratović, M., & Borovac, B. (2004). "Robots that walk on two legs." *Robots*."""


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (REFERENCES, ("Walking", "")),
        ("- Robots walk, a film by the robots of the hall", ("References › Walking", "")),
        ("**Topics**:\n- Robots that walk on two legs", ("Weeks 3-5: Walking", "")),
        ("**Duration:** Weeks 3-5, when robots walk\n**Weight:** 40 % for robots that walk", ("Walking", "")),
        ("- How would you make robots walk?\n- Which robots walk on two legs?", ("Walking", "")),
        ("- Lessons on how robots walk", ("Prerequisites", "")),
    ],
)
async def test_lists_that_lead_elsewhere_are_known_by_their_form_and_page(text: str, headings: tuple[str, str]) -> None:
    """Bibliographies, a course's plan and its grades, and questions name everything and explain nothing."""
    answer = await ask("How do robots walk?", text, headings=headings)

    assert answer.status is Status.NO_CONTEXT


@pytest.mark.parametrize(
    ("asked", "text", "heading"),
    [
        ("Which papers tell how robots walk?", REFERENCES, "References › Walking"),
        ("What topics are there on robots in week 3?", "**Topics**:\n- Robots that walk on two legs", "Weeks 3-5"),
        ("When is the robots project due?", "**Due Date:** End of week 5 for the robots project", "Robots"),
        ("What do I need for robots?", "- A box of robots, and oil for their legs", "Prerequisites"),
    ],
)
async def test_who_asks_for_just_that_gets_it(asked: str, text: str, heading: str) -> None:
    """A list of papers is the answer for those who ask for papers."""
    answer = await ask(asked, text, headings=(heading, ""))

    assert answer.status is Status.ANSWERED


async def test_what_announces_something_else_is_not_quoted_alone() -> None:
    """A colon at the end of an answer promises what is not there."""
    diagram = "The tree of the robot follows its arms from the base to the hand:\n\n![A tree](tree.png)"

    assert (await ask("What is the tree of the robot?", diagram)).status is Status.NO_CONTEXT


CUT = '''\
```python
        robot.wave(
            "left"
        )

    def walk(robot):
        """
        Walk to the door of the hall.
        """
        robot.walk("door")

    def stop(robot):
        """
        Stop the robot.
```'''


async def test_code_is_quoted_from_a_beginning_to_an_end() -> None:
    """A passage may begin and end in the middle of a function."""
    answer = await ask("How do I make the robot walk to the door?", CUT)

    assert "def walk(robot):" in answer.text
    assert [word for word in ("wave", "stop") if word in answer.text] == []


@pytest.mark.parametrize(
    ("asked", "subject", "parts"),
    [
        ("What is ROS 2 and why do I need it?", "", ("What is ROS 2", "why do I need ros 2")),
        ("why do I need docker, and what is it?", "", ("why do I need docker", "what is docker")),
        ("what does URDF stand for", "", ("what is URDF",)),
        ("explain slam to me like im five", "", ("what is slam",)),
        ("Explain in simple words what a digital twin is", "", ("what is digital twin",)),
        ("what is sim2real", "", ("what is sim-to-real",)),
        ("whats a node", "", ("what is a node",)),
        ("How do I create one in Python?", "node", ("How do I create node in Python",)),
        ("which one is better?", "node", ("which one is better",)),
        ("explain how robots weld", "", ("explain how robots weld",)),
    ],
)
def test_a_question_is_searched_in_words_that_say_what_it_is_about(
    asked: str, subject: str, parts: tuple[str, ...]
) -> None:
    """How it shall be explained is no topic, and "it" finds nothing."""
    assert restated(asked, subject) == parts


async def test_a_follow_up_is_about_what_was_asked_and_answered_before() -> None:
    """A question in between that found nothing changes no topic."""
    said = [("What is a node?", "**Node**: A process. [1]"), ("What is the weather today?", NO_CONTEXT)]
    before = conversation(*(turn_of(one, answer, id=f"m{at}") for at, (one, answer) in enumerate(said)))
    shelf = Shelf(hit(0.9, "Robots weld cars in the hall."))

    agent = Agent(ExtractiveModel(HashEmbedder()), shelf, clock=Clock())
    await agent.answer(question("How do I create one in Python?", id="m9"), before)

    assert shelf.asked[-1].query == "How do I create node in Python"


async def test_a_name_behind_its_abbreviation_is_defined_by_either() -> None:
    """Whoever asks what the letters stand for is told before how it is used, and so is whoever misspells the name."""
    text = "**Unified Robot Description Format (URDF)** is a format for robots."

    for asked in ("What does URDF stand for?", "What is a unifide robto description formqt?"):
        assert (await ask(asked, "URDF serves as the foundation for URDF pictures.", text)).text.startswith(text)


LINES = st.sampled_from(
    [
        "Robots weld ships.",
        "It is heavy.",
        "Robots do this:",
        "**Robots**:",
        "- A robot welds",
        "  - It paints `arms`",
        "2. Then robots stop.",
        "",
        "",
        "```",
        "```bash",
        "robot start",
        "| Robot | Price |",
        "|---|---|",
        "| A | 3 |",
        "Why do robots weld? They must.",
        "Robots are machines. " * 20,
        "[Robots](https://docs.example/robots)",
    ]
)
PASSAGES = st.lists(st.lists(LINES, max_size=14).map("\n".join), min_size=1, max_size=5)


@given(passages=PASSAGES, scores=st.lists(st.floats(0, 1), min_size=80, max_size=80), one_section=st.booleans())
@settings(max_examples=examples(100), deadline=None)
def test_whatever_was_found_is_quoted_word_for_word(
    passages: Sequence[str], scores: Sequence[float], *, one_section: bool
) -> None:
    """Each line of a quotation stands in the passage that it is from, also where several are of one section.

    And there is not more of it than people read, beside tables and code.
    """
    asked = AskedWords("What do robots weld, and how?")
    sources = [
        Source(1 if one_section else number, 0.9, "Robots", "Work", tuple(units(text)))
        for number, text in enumerate(passages, start=1)
    ]
    found = candidates(asked, sources)
    scored = [ScoredUnit(*each, score) for each, score in zip(found, scores, strict=False)]

    written = compose(asked, choose(asked, scored))

    texts = [*map(words, passages), "Work"]  # the section's name stands above a list that would join another
    for quotation in written:
        assert all(any(words(line) in text for text in texts) for line in quotation.splitlines())
    prose = [unit.text for quotation in written for unit in units(quotation) if unit.is_prose]
    assert sum(map(len, prose)) <= CHARACTERS + 4 * len(prose)


def words(text: str) -> str:
    """The words of a text alone, without its marks."""
    return " ".join(re.findall(r"\w+", re.sub(r" ?\[\d\]$|(?<=\])\([^)]*\)", "", text)))
