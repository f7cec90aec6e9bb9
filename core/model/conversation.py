"""What is remembered of a thread: its turns, and what readers think of answers."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from core.model.answer import Citation, ToolRecord
from core.model.refs import MessageRef, ThreadRef, Value


class Turn(Value):
    """One exchange as it is remembered; appended once, by `question_ref`. `author_id` is who asked, if known.

    `at` is when it was answered and `asked_at` when it was asked, if known.
    """

    question_ref: MessageRef
    question: str
    answer: str
    citations: tuple[Citation, ...] = ()
    tool_calls: tuple[ToolRecord, ...] = ()
    at: datetime
    author_id: str = ""
    asked_at: datetime | None = None


class Conversation(Value):
    """What was said in a thread, oldest first."""

    thread: ThreadRef
    turns: tuple[Turn, ...] = ()

    def without(self, question_ref: MessageRef) -> Conversation:
        """Leave out what was said to a question."""
        return self.model_copy(
            update={"turns": tuple(turn for turn in self.turns if turn.question_ref != question_ref)}
        )


class Complaint(StrEnum):
    """What is wrong with an answer; people choose among these, so that no words of theirs have to be kept."""

    WRONG = "wrong"
    INCOMPLETE = "incomplete"
    BAD_SOURCES = "bad_sources"
    UNCLEAR = "unclear"
    OFF_TOPIC = "off_topic"


class Vote(Value):
    """One person's opinion of one answer, by its id; a later one replaces it."""

    answer_id: str = Field(min_length=1)
    person_id: str = Field(min_length=1)
    is_helpful: bool
    complaints: tuple[Complaint, ...] = ()
    at: datetime


class Tally(Value):
    """How many votes there are."""

    helpful: int = 0
    unhelpful: int = 0
