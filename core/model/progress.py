"""What happens while a question is answered; the last item is always the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from core.model.answer import Answer


@dataclass(frozen=True, slots=True)
class Searching:
    """The documents are being searched for *query*."""

    query: str


@dataclass(frozen=True, slots=True)
class SearchFailed:
    """A search did not work, or worked by words alone."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Restarted:
    """All text so far is taken back."""


Progress: TypeAlias = Searching | SearchFailed | TextDelta | Restarted | Answer
