"""Windows of whole sentences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.documents.excerpt import excerpt, respelled, sentence_spans
from tests.portion import examples

TEXT = """\
Wheels roll on floors. A gripper closes around a part. Legs carry weight over stones. \
Batteries store energy. The torque of a gripper depends on its motor. Cables lead current to motors."""


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("How does a grpper close?", "How does a gripper close?"),
        ("Griper, griipper, gropper, grippre", "gripper, gripper, gripper, gripper"),
        ("How does a ggrpper close?", "How does a ggrpper close?"),  # two slips
        ("battery, a whee, tripper, re-gripped", "battery, a whee, tripper, re-gripped"),
        ("What does a motorcar do?", "What does a motorcar do?"),
        ("Do legcarry and storeenergy help?", "Do legcarry and store energy help?"),  # as two words
        ("energie", "energie"),  # has a token of its own
        ("GRPPER", "GRPPER"),  # a name
        ("grippers, closed, rolls", "grippers, closed, rolls"),  # other forms
    ],
)
def test_a_long_word_that_is_a_slip_away_is_read_as_that(asked: str, meant: str) -> None:
    """It begins with the same letter, and neither the text nor the embedder knows it."""
    assert respelled(asked, [TEXT], lambda word: 1 if word == "energie" else 2) == meant


def test_a_short_text_stays_whole() -> None:
    """There is nothing to cut."""
    assert excerpt(TEXT, "legs", limit=len(TEXT)) == TEXT


@pytest.mark.parametrize(
    ("query", "window"),
    [
        ("Where do wheels roll?", "Wheels roll on floors."),
        ("torque of a motor", "The torque of a gripper depends on its motor."),
        ("legs", "Legs carry weight over stones."),
        ("batteries and torque", "Batteries store energy. The torque of a gripper depends on its motor."),
    ],
)
def test_the_window_shares_the_most_words_with_the_query(query: str, window: str) -> None:
    """Rare words of the passage count more than frequent ones."""
    found = excerpt(TEXT, query, limit=75)

    assert window in found or found in window
    assert len(found) <= 75


def test_without_a_shared_word_the_beginning_is_given() -> None:
    """As much of it as fits."""
    assert excerpt(TEXT, "zebra", limit=60) == "Wheels roll on floors. A gripper closes around a part."


def test_space_alone_is_no_window() -> None:
    """There is no sentence in it."""
    assert excerpt(" \n" * 30, "robot", limit=10) == ""


def test_a_sentence_longer_than_the_limit_is_cut_between_words() -> None:
    """Only a word longer than the limit is cut inside."""
    assert excerpt("alpha beta gamma delta", "delta", limit=12).strip() == "gamma delta"
    assert excerpt("a" * 30, "delta", limit=12) == "a" * 12


WORDS = st.sampled_from(
    ["robot", "arm", "Legs", "e.g.", "torque.", "Really?", "x" * 50, "\n\n", "- item", "```\n", "。"]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=80).map(" ".join))


@given(text=TEXTS, query=TEXTS, limit=st.integers(1, 200))
@settings(max_examples=examples(200), deadline=None)
def test_a_window_is_a_piece_of_the_text_within_the_limit(text: str, query: str, limit: int) -> None:
    """It is never longer than allowed, and says nothing that the text does not say."""
    window = excerpt(text, query, limit=limit)

    assert len(window) <= limit
    assert window in text or is_reopened(window, text)


def is_reopened(window: str, text: str) -> bool:
    """Whether it is a piece of code of the text below the line that opens it."""
    opening, _, code = window.partition("\n")
    return opening.strip()[:3] in ("```", "~~~") and opening in text and code in text


CODE = """\
Robots greet.

    ```python
    import robots

    robots.wave(arm=1)
    robots.bow()
    ```

Then they leave."""


def test_a_window_never_begins_inside_of_code() -> None:
    """Code without the line that opens it would be read as prose, also where it belongs to an item of a list."""
    window = excerpt(CODE, "Which call lets robots bow?", limit=50)

    assert window == "    ```python\n    robots.bow()\n    ```"


@given(text=TEXTS, query=TEXTS)
@settings(max_examples=examples(200), deadline=None)
def test_sentences_that_fit_are_never_cut(text: str, query: str) -> None:
    """If each sentence fits, the window begins and ends where sentences do."""
    spans = list(sentence_spans(text))
    limit = max((end - start for start, end in spans), default=1)
    window = excerpt(text, query, limit=limit)

    windows = (text[first:last] for first, _ in spans for _, last in spans if first < last)
    code = window.partition("\n")[2].lstrip() if is_reopened(window, text) else None
    assert window in ("", text) or any(each in (window, code) for each in windows)


def test_real_lessons_give_readable_windows(shared_data: Path) -> None:
    """Every window of the course book is a piece of its lesson, without space around it, and not a mere word."""
    course = shared_data / "course-physical-ai"
    queries = [json.loads(line)["text"] for line in (course / "queries.jsonl").read_text("utf-8").splitlines()[::300]]
    lessons = [path.read_text("utf-8")[:4_000] for path in sorted((course / "lessons").rglob("*.md"))[::20]]

    windows = [(lesson, excerpt(lesson, query, limit=500)) for lesson in lessons for query in queries]

    assert len(windows) > 30
    assert all(window in lesson or is_reopened(window, lesson) for lesson, window in windows)
    assert all(window == window.strip() for _, window in windows)
    assert all(50 <= len(window) <= 500 for _, window in windows)
