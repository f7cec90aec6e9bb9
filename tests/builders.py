"""Short ways to build the values that tests need; only what matters to the test has to be named."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from core.model import Conversation, Hit, MessageRef, Passage, Person, Question, Scope, ThreadRef, Turn

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
OPEN = Scope(open_at=NOON)
"""What may be searched at noon, where nobody says otherwise."""


def thread(name: str = "1") -> ThreadRef:
    """A thread on a platform that does not exist."""
    return ThreadRef(platform="test", workspace="w", channel="c", thread=name)


def question(text: str = "What is a robot?", *, id: str = "m1", in_thread: str = "1", **fields: Any) -> Question:  # noqa: A002 - the field's name
    """A question by somebody at noon."""
    message = MessageRef(thread=thread(in_thread), id=id)
    return Question.create(message=message, text=text, author=Person(id="p1", name="Ada"), asked_at=NOON, **fields)


def passage(text: str = "A robot acts.", *, url: str = "https://docs.example/robots#what", **fields: Any) -> Passage:
    """A passage of a page about robots."""
    standard = Passage(
        passage_id=f"{url}/{fields.get('position', 0)}",
        source="docs",
        page_url=url.partition("#")[0],
        source_url=url,
        page_title="Robots",
        section_title="What they are",
        chapter="one",
        text=text,
        position=0,
        page_length=1,
        content_hash="h1",
    )
    return replace(standard, **fields)


def hit(score: float = 0.9, text: str = "A robot acts.", **fields: Any) -> Hit:
    """A passage as a search finds it."""
    return Hit(passage(text, **fields), score)


def turn_of(asked: str, answered: str = "It acts.", *, id: str = "m0") -> Turn:  # noqa: A002 - the field's name
    """An exchange that was remembered at noon."""
    message = MessageRef(thread=thread(), id=id)
    return Turn(question_ref=message, question=asked, answer=answered, at=NOON, quoted=())


def conversation(*turns: Turn) -> Conversation:
    """What was said in the thread."""
    return Conversation(thread=thread(), turns=turns)
