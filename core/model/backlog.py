"""What an inbox holds, for whoever runs the bot."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import AwareDatetime

from core.model.question import Question
from core.model.refs import MessageRef


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many questions wait, are worked on and were given up.

    `oldest` is for how many seconds the first one waits, or one that was begun since its worker gave a sign of life.
    """

    waiting: int = 0
    running: int = 0
    dead: int = 0
    oldest: float = 0.0


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A question that was given up, when and why; `question` is there if it was asked for and its words are kept."""

    message: MessageRef
    died_at: AwareDatetime
    attempts: int
    reason: str
    can_be_retried: bool
    question: Question | None = None
