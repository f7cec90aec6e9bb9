"""What a reader thinks of an answer; no text of anybody's."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from core.model.value import Value


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
