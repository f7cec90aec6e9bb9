"""What is remembered of a thread."""

from __future__ import annotations

from datetime import datetime

from core.model.answer import Citation, ToolRecord
from core.model.places import MessageRef, ThreadRef
from core.model.value import Value


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
