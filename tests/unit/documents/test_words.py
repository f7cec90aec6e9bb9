"""Words and sentences."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.documents.excerpt import sentence_spans, sentences, stems
from tests.portion import examples


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How do I train one?", ["train"]),
        ("Training, trained, trains!", ["train", "train", "train"]),
        ("Localizations and localization", ["localiz", "localiz"]),
        ("Batteries, battery", ["batter", "batter"]),
        ("The tie and the bus", ["tie", "bus"]),
        ("Größe ROS2", ["gröss", "ros2"]),
        ("what is the", []),
        ("", []),
    ],
)
def test_words_that_carry_meaning_are_compared_without_their_endings(text: str, words: list[str]) -> None:
    """Common words are left out, and forms of one word are one."""
    assert stems(text) == words


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Robots act. They sense! Do they? Yes.", ["Robots act.", "They sense!", "Do they?", "Yes."]),
        ("Use a gripper, e.g. Robotiq. It holds.", ["Use a gripper, e.g. Robotiq.", "It holds."]),
        ("Dr. Ada wrote it. J. Doe read it.", ["Dr. Ada wrote it.", "J. Doe read it."]),
        ("It is 3.5 m long. It moves.", ["It is 3.5 m long.", "It moves."]),
        ("A line that\ngoes on. Next.", ["A line that\ngoes on.", "Next."]),
        ("A paragraph\n\nAnother one", ["A paragraph", "Another one"]),
        ("- one\n- two\n1. three", ["- one", "- two", "1. three"]),
        ("# Title\n| a | b |\n| c | d |", ["# Title", "| a | b |", "| c | d |"]),
        ("Run it:\n```py\nx = 1. Y\n\ny = 2\n```\nDone.", ["Run it:", "```py", "x = 1. Y", "y = 2", "```", "Done."]),
        (
            "It is $$ a = b. $$ so.\n$$\nA. \\\\\nB\n$$\nIt moves.",
            ["It is $$ a = b. $$ so.", "$$\nA. \\\\\nB\n$$", "It moves."],
        ),
        ("It costs $$ a lot. Yes.\n\nIt moves. No.", ["It costs $$ a lot. Yes.", "It moves.", "No."]),
        ("机器人行动。它们感知。", ["机器人行动。", "它们感知。"]),
        ("He said “Stop.” Then it stopped.", ["He said “Stop.”", "Then it stopped."]),
        (" \n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, parts: list[str]) -> None:
    """Items of a list, rows of a table and lines of code count as sentences."""
    assert sentences(text) == parts


PARTS = st.sampled_from(
    ["Robots act.", "e.g. ", "\n", "\n\n", "```\n", "~~~\n", "- ", "| x |", " ", "$$\n", "Dr. A", "？"]
)


@given(text=st.text(max_size=200) | st.lists(PARTS, max_size=30).map("".join))
@settings(max_examples=examples(200), deadline=None)
def test_sentences_leave_out_nothing_but_space(text: str) -> None:
    """They follow each other without overlap, have no space around them, and hold every other character."""
    spans = list(sentence_spans(text))
    edges = [0, *(edge for span in spans for edge in span), len(text)]

    assert edges == sorted(edges)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
