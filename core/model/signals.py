"""What goes into the inbox: a question, or what happens to one that was put there before."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from core.model.question import Question
from core.model.refs import MessageRef, Person, ReplyAddress, Value


class Asked(Value):
    """Somebody asks."""

    kind: Literal["asked"] = "asked"
    question: Question
    address: ReplyAddress | None = None

    @property
    def message(self) -> MessageRef:
        """The message that it is about."""
        return self.question.message


class Edited(Value):
    """Somebody asks the same in other words; its revision is higher than the one before."""

    kind: Literal["edited"] = "edited"
    question: Question

    @property
    def message(self) -> MessageRef:
        """The message that it is about."""
        return self.question.message


class Deleted(Value):
    """The message with the question is gone."""

    kind: Literal["deleted"] = "deleted"
    message: MessageRef


class Stopped(Value):
    """Somebody who may do so wants no more of the answer."""

    kind: Literal["stopped"] = "stopped"
    message: MessageRef
    by: Person


class AskedAgain(Value):
    """Somebody wants a question that could not be answered to be tried again, as it was."""

    kind: Literal["retried"] = "retried"
    message: MessageRef
    by: Person


class Doubted(Value):
    """A worker that had lost the question may have changed what another one has shown since; its words come along."""

    kind: Literal["doubted"] = "doubted"
    question: Question

    @property
    def message(self) -> MessageRef:
        """The message that it is about."""
        return self.question.message


Signal: TypeAlias = Annotated[Asked | Edited | Deleted | Stopped | AskedAgain | Doubted, Field(discriminator="kind")]
