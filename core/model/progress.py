"""What happens while a question is answered; the last item is always the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from core.model.answer import Answer
from core.model.markup import Block


@dataclass(frozen=True, slots=True)
class Searching:
    """The documents are being searched for *query*."""

    query: str


@dataclass(frozen=True, slots=True)
class SearchFailed:
    """A search did not work, or worked by words alone."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text, as a model writes it."""

    text: str


class PartialAnswer(Protocol):
    """An answer that is being written; of what is finished nothing is read again."""

    @property
    def finished(self) -> Sequence[Block]:
        """The blocks that are whole and never change; there are only ever more of them."""
        ...

    @property
    def tail(self) -> Sequence[Block]:
        """The blocks behind the finished ones, as far as they are certain."""
        ...


@dataclass(frozen=True, slots=True)
class Drafted:
    """More of the answer was written; the *answer* is read when it is drawn, and has all of it by then."""

    answer: PartialAnswer


@dataclass(frozen=True, slots=True)
class Restarted:
    """All text so far is taken back."""


Progress: TypeAlias = Searching | SearchFailed | Drafted | Restarted | Answer
