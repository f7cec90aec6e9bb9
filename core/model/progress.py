"""What happens while a question is answered; the last item is always the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from core.model.answer import Answer, Citation


@dataclass(frozen=True, slots=True)
class Searching:
    """The documents are being searched for *query*."""

    query: str


@dataclass(frozen=True, slots=True)
class SearchFailed:
    """A search did not work, or worked by words alone."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the answer; `citations` are the footnotes of all the text so far, where there are any."""

    text: str
    citations: tuple[Citation, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Restarted:
    """All text so far is taken back."""


Progress: TypeAlias = Searching | SearchFailed | TextDelta | Restarted | Answer
