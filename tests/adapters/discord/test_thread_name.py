"""What a thread is called."""

from __future__ import annotations

import pytest

from adapters.discord.platform import thread_name


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How do I **start**\nthe `robot`?", "How do I start the robot ?"),
        ("", "Question"),
        ("`` **", "Question"),
        ("word " * 40, "word " * 14 + "word…"),
        ("x" * 200, "x" * 79 + "…"),
        ("a\u202eb", "ab"),
    ],
)
def test_a_thread_is_named_after_its_question(question: str, name: str) -> None:
    """On one line, without marks, cut between words, never empty."""
    assert thread_name(question) == name
