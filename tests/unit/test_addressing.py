"""Whether what somebody says is a question for the bot, by its words."""

from __future__ import annotations

import time

import pytest

from core.community.addressing import QUESTION_MARKS, is_acknowledgement, may_be_question, reads_as_question

HOSTILE = ["ha" * 1000 + "x", "哈" * 1999 + "x", "so " * 666 + "x", "." * 2000, "hey " * 500, "kannst du " + "a " * 990]


THANKS = [
    "👍",
    ":+1:",
    ":tada: :party_parrot:",
    ":草: :Größe: :déja\u0300-vu:",
    "thanks :pray:",
    "ok",
    "LOL",
    "hahaha",
    "https://tenor.com/view/yes-gif-1",
    "Thanks, that helped me a lot!",
    "danke dir",
    "¡gracias!",
    "спасибо большое",
    "谢谢你",
    "감사합니다",
    "`ok`",
    "> why?",
]


@pytest.mark.promise("quiet-among-people")
@pytest.mark.parametrize("text", THANKS)
def test_what_takes_note_of_something_needs_no_answer(text: str) -> None:
    """Emoji and their names are no words, and a quote or an address is nobody's words."""
    assert is_acknowledgement(text)
    assert not reads_as_question(text, follows_answer=True)


@pytest.mark.parametrize(
    "text", ["ok?", "?", "thanks, but it still fails", "thanks! how do I stop it", "It works on my arm"]
)
def test_what_asks_or_tells_something_is_more_than_thanks(text: str) -> None:
    """However it begins."""
    assert not is_acknowledgement(text)


@pytest.mark.parametrize("mark", QUESTION_MARKS)
def test_the_question_marks_of_all_scripts_are_known(mark: str) -> None:
    """After an answer, a mark is enough; in Greek, a semicolon is one."""
    assert reads_as_question(f"abc def{mark}", follows_answer=True)
    assert not reads_as_question("abc def", follows_answer=True)
    assert reads_as_question("και στα windows;", follows_answer=True)
    assert not reads_as_question("abc; def", follows_answer=True)


@pytest.mark.parametrize(
    "text",
    [
        "Sam, did you finish lab 3?",
        "did you finish lab 3?",
        "oh really? since when?",
        "@Jonas how do I install it?",
        "hey Maya how do I install it?",
        "how do I install it, Tom?",
        "priya how do I install it?",
        "Can how do I install it?",
        "Can, how do I install it?",
        "Nice one. how do I keep yours from falling over",
    ],
)
def test_a_question_to_a_colleague_is_left_to_them(text: str) -> None:
    """By a name that is known, or written like one, or by what is asked of them."""
    assert not reads_as_question(text, names=("Priya Shah", "Can Yilmaz"))


@pytest.mark.parametrize(
    "text",
    [
        "How do I install it?",
        "how do i install it",
        "ok then: how do I install it?",
        "Can I use Python 3.12 with Humble?",
        "How do I install @angular/core?",
        "What does the @property decorator do?",
        "hwo do i install it",
        "cv2.undistort gives me black borders, why",
        "does it need redis for just one server",
        "Welche Rechte braucht der Bot auf Slack?",
    ],
)
def test_a_whole_question_needs_no_mark(text: str) -> None:
    """Nor that it follows an answer; a word that looks like a name need not be one."""
    assert reads_as_question(text, names=("Priya Shah", "Can Yilmaz", "How To"))


@pytest.mark.parametrize("text", ["And on Windows?", "is it free?", "why?"])
def test_what_goes_on_from_an_answer_is_one_only_there(text: str) -> None:
    """After somebody else has spoken it goes on from that."""
    assert reads_as_question(text, follows_answer=True)
    assert not reads_as_question(text)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:5])
def test_no_text_takes_long(text: str) -> None:
    """However it is repeated."""
    begun = time.process_time()
    reads_as_question(text)
    may_be_question(text)
    is_acknowledgement(text)

    assert time.process_time() - begun < 0.5
