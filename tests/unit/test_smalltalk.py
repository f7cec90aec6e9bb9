"""Small talk and questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.answering.smalltalk import Matter, is_small_talk, matter_of, wants_writing
from tests.portion import examples


@pytest.mark.parametrize(
    "text",
    [
        "Hi",
        "hello there!",
        "Hey Footnote, how are you today?",
        "Good morning, everyone",
        "thanks a lot!!",
        "thanks, that helped!",
        "thank you for the clear explanation",
        "Great explanation, thanks!",
        "cheers, that solved it",
        "How does Footnote work?",
        "Thank you so much for your help",
        "That's really helpful, thanks",
        "ok, got it. bye!",
        "Who are you?",
        "What can you do for me?",
        "Are you a bot?",
        "What\u2019s up?",
        "Guten Morgen",
        "vielen Dank",
        "What is this bot for?",
        "👍",
        "...",
        ":-)",
    ],
)
def test_greetings_thanks_and_questions_about_the_bot_are_small_talk(text: str) -> None:
    """They need no look into the documents."""
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hi, what is a robot?",
        "Thanks! And how do I train one?",
        "Who are you going to ask about robots?",
        "What can you do with ROS 2?",
        "how does it work",
        "Are you a bot that knows Python?",
        "that helped the robot",
        "how does this robot work?",
        "How does this work?",
        "?",
        "？？",
        "hello world program",
        "robot",
        "hi " * 60,
    ],
)
def test_one_other_word_makes_it_a_question(text: str) -> None:
    """Then the documents have to answer."""
    assert not is_small_talk(text)


@pytest.mark.parametrize(("is_first", "is_about_bot"), [(True, True), (False, False)])
def test_how_this_works_is_about_the_bot_where_nothing_was_asked_before(*, is_first: bool, is_about_bot: bool) -> None:
    """Later it is about what was asked."""
    assert is_small_talk("Hi, how does this work?", is_first=is_first) is is_about_bot


WORDS = st.lists(st.sampled_from(["hi", "thank", "you", "good", "so", "ok", "!", "?"]), min_size=1).map(" ".join)


@given(text=WORDS | st.text(min_size=1, max_size=80).filter(str.strip))
@settings(max_examples=examples(150), deadline=None)
def test_space_around_it_does_not_matter(text: str) -> None:
    """People write as they like."""
    assert is_small_talk(text) == is_small_talk(f"  {text}\t")


def test_no_real_question_is_small_talk(shared_data: Path) -> None:
    """None of the questions of the course book would be answered without its documents."""
    lines = (shared_data / "course-physical-ai" / "queries.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["text"] for line in lines]

    assert [text for text in questions if is_small_talk(text)] == []
    assert len(questions) > 100


@pytest.mark.parametrize(
    ("text", "matter"),
    [
        ("What can I ask you?", Matter.CONTENTS),
        ("Hi! Which chapters are there?", Matter.CONTENTS),
        ("what topics do you know", Matter.CONTENTS),
        ("Do you store my questions?", Matter.PRIVACY),
        ("hey, are my messages saved?", Matter.PRIVACY),
        ("Who can see my questions?", Matter.PRIVACY),
        ("What topics does this cover?", Matter.CONTENTS),
        ("what is this book about?", Matter.CONTENTS),
        ("What's in the documents?", Matter.CONTENTS),
        ("list the topics", Matter.CONTENTS),
        ("What kind of documents do you have?", Matter.CONTENTS),
        ("Can other people see my questions?", Matter.PRIVACY),
        ("What do you do with my data?", Matter.PRIVACY),
        ("Please delete my data", Matter.PRIVACY),
        ("what should I ask", Matter.CONTENTS),
        ("table of contents?", Matter.CONTENTS),
        ("Welche Kapitel gibt es?", Matter.CONTENTS),
        ("Quels chapitres y a-t-il ?", Matter.CONTENTS),
        ("is this chat recorded?", Matter.PRIVACY),
        ("Tu gardes mes questions ?", Matter.PRIVACY),
        ("what should I ask for in a review", None),
        ("how can I delete my messages?", Matter.PRIVACY),
        ("What topics does ROS 2 cover?", None),
        ("What is this chapter about?", None),
        ("Can you see my robot?", None),
        ("What happens to my data in the buffer?", None),
        ("delete my launch file", None),
        ("What can I ask a robot?", None),
        ("Which chapters are there about robots?", None),
        ("no, that's not what I asked!", Matter.COMPLAINT),
        ("That didn't help", Matter.COMPLAINT),
        ("the answer is wrong", Matter.COMPLAINT),
        ("Is the torque wrong?", None),
        ("that's right", None),
        ("that is the wrong torque", None),
        ("Does the robot store my questions?", None),
        ("Do you store my questions in the robot's memory?", None),
        ("Hello!", None),
    ],
)
def test_the_bot_itself_is_asked_what_it_knows_and_what_it_keeps(text: str, matter: Matter | None) -> None:
    """One other word makes it a question to the documents."""
    assert matter_of(text) is matter


@pytest.mark.parametrize(
    ("text", "is_wanted"),
    [
        ("Summarize this", True),
        ("please summarise this text in two sentences", True),
        ("TL;DR", True),
        ("translate this to German", True),
        ("explain this to me", True),
        ("summarize the last answer", True),
        ("sum this up for me", True),
        ("Fass das bitte zusammen", True),
        ("What does it weigh?", False),
        ("Explain this error", False),
    ],
)
def test_other_words_for_a_text_are_told_from_questions_about_it(text: str, *, is_wanted: bool) -> None:
    """Only what asks for nothing else is such a wish."""
    assert wants_writing(text) is is_wanted


def test_no_real_question_is_about_the_bot(shared_data: Path) -> None:
    """What people have asked a course book and four other domains is for the documents."""
    lines = (shared_data / "course-physical-ai" / "queries.jsonl").read_text("utf-8").splitlines()
    lines += (shared_data / "mtrag-queries" / "fiqa_lastturn.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"].replace("|user|:", "") for line in lines]

    assert [text for text in texts if matter_of(text) or wants_writing(text)] == []
