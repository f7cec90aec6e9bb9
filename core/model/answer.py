"""The answer and its footnotes."""

from __future__ import annotations

from enum import StrEnum

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
