"""The answer with its footnotes, and what happens until it is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from pydantic import Field, SkipValidation

from core.model.chat import Usage
from core.model.documents import heading
from core.model.markup import Block
from core.model.refs import Value


class Citation(Value):
    """A footnote: where a statement of the answer comes from."""

    number: int
    chapter: str
    section: str
    title: str
    url: str
    relevance_score: float

    @property
    def heading(self) -> str:
        """The path to the source as people read it."""
        return heading(self.title, self.section)


class ToolRecord(Value):
    """A tool call as it is kept for audit: never replayed to a model."""

    name: str
    arguments: str
    success: bool
    result_size: int
    time_ms: float


class Status(StrEnum):
    """How an answer ended."""

    ANSWERED = "answered"
    NO_CONTEXT = "no_context"
    UNAVAILABLE = "unavailable"
    REFUSED = "refused"
    STOPPED = "stopped"
    FAILED = "failed"


class Answer(Value):
    """The end of every run: Markdown with `[n]`, and the footnotes that the numbers stand for.

    `blocks` is its tree, where the answer was just written; one that is stored is read from its text.
    `usage` counts the tokens of all turns of the model; `cost` is their price where prices are known.
    """

    id: str
    text: str
    blocks: SkipValidation[tuple[Block, ...] | None] = Field(default=None, exclude=True, repr=False)
    citations: tuple[Citation, ...] = ()
    status: Status
    has_relevant_context: bool = False
    lexical_only: bool = False
    nearest: tuple[Citation, ...] = ()
    model: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    tool_calls: tuple[ToolRecord, ...] = ()
    retrieval_time_ms: float = 0.0
    generation_time_ms: float = 0.0
    total_time_ms: float = 0.0

    @property
    def is_failure(self) -> bool:
        """Whether something that the answer needed did not work."""
        return self.status in (Status.UNAVAILABLE, Status.FAILED)


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

    def read(self) -> tuple[Sequence[Block], Sequence[Block]]:
        """Return the finished blocks, which only ever get more, and those behind them as far as they are certain."""
        ...


@dataclass(frozen=True, slots=True)
class Drafted:
    """More of the answer was written; the *answer* is read when it is drawn, and has all of it by then."""

    answer: PartialAnswer


@dataclass(frozen=True, slots=True)
class Restarted:
    """All text so far is taken back."""


Progress: TypeAlias = Searching | SearchFailed | Drafted | Restarted | Answer
