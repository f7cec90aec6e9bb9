"""What a thread or a session is called."""

from __future__ import annotations

import pytest

from adapters.chat.dialect import heading


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How do I **start**\nthe `robot`?", "How do I start the robot ?"),
        ("What is `a <b>`?", "What is a b ?"),
        ("Why <!channel> *would* a robot?", "Why !channel would a robot?"),
        ("", "Question"),
        ("`` **", "Question"),
        ("word " * 40, "word " * 14 + "word…"),
        ("x" * 200, "x" * 79 + "…"),
        ("a\u202eb", "ab"),
    ],
)
def test_it_is_named_after_its_question(question: str, name: str) -> None:
    """On one line, without marks, cut between words, and empty only where there is nothing else to say."""
    assert heading(question, 80, otherwise="Question") == name
    assert heading(question, 80) == ("" if name == "Question" else name)
