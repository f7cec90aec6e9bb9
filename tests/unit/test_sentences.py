"""What the bot says beside its answers."""

from __future__ import annotations

import pytest

from core import sentences
from core.model import Complaint, Deed, Person, Policy
from core.sentences import Practices
from tests.builders import NOON

MESSAGE_LIMIT = 2_000  # characters, on the platform whose messages are shortest


@pytest.mark.parametrize(
    ("services", "said"),
    [
        ((), "nobody else."),
        (("OpenAI",), "OpenAI, to answer:"),
        (("OpenAI", "Cohere"), "OpenAI and Cohere, to answer:"),
        (("A", "B", "C"), "A, B and C, to answer:"),
    ],
)
def test_privacy_names_all_who_read_the_questions(services: tuple[str, ...], said: str) -> None:
    """Where nobody else does, it says that."""
    assert f"**Who gets it:** {said}" in sentences.privacy(Practices(services=services))


@pytest.mark.parametrize(("hours", "said"), [(1, "1 hour."), (0.5, "0.5 hours."), (48, "48 hours.")])
def test_privacy_says_for_how_long(hours: float, said: str) -> None:
    """In the number that the operator has set."""
    assert f"for {said}" in sentences.privacy(Practices(conversation_hours=hours))


def test_numbers_are_said_as_people_say_them() -> None:
    """One is no plural, and thousands are set apart."""
    assert sentences.person_forgotten(1, 0).startswith("I no longer remember 1 question with the answers, and 0 votes.")
    assert sentences.everything_forgotten(1_234).startswith("I no longer remember 1,234 conversations.")


def test_channels_are_named_as_far_as_people_read() -> None:
    """The others are counted."""
    names = [f"<#{number}>" for number in range(20)]

    assert sentences.silent_line(names[:2]) == "Switched off in <#0> and <#1>."
    assert sentences.silent_line([*names, "<#a>", "<#b>"]).endswith(", <#19> and 2 more.")


def test_every_complaint_has_words() -> None:
    """None can be chosen that nobody can read."""
    assert set(sentences.COMPLAINTS) == set(Complaint)


def test_long_texts_fit_into_one_message() -> None:
    """On every platform."""
    texts = (sentences.HELP, sentences.privacy(Practices(services=("the chat model gpt-4o-mini (OpenAI)", "Cohere"))))

    assert [text for text in texts if len(text) > MESSAGE_LIMIT] == []


def test_people_without_a_name_are_named_all_the_same() -> None:
    """By what is known of them."""
    nobody = Person(id="p1")

    assert sentences.standing_line(Policy(paused_by=nobody), str) == "Paused by a moderator."
    assert sentences.deed_line(Deed(by=nobody, did="pause", at=NOON), lambda _: "now") == "now: p1, pause"
