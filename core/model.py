"""The values of the product: frozen, validated, printable, and able to go to JSON and back."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import quote, unquote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from core.errors import InvalidInput

Vector: TypeAlias = Sequence[float]

QUESTION_LIMIT = 2_000  # characters: as long as one Discord message
SELECTION_LIMIT = 20_000  # characters: as long as the longest message that a platform lets a person select
NO_QUESTION = "Please provide a question to ask about the documents."


class Value(BaseModel):
    """A frozen value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# -- Where and who ----------------------------------------------------------------------------------------------------


class ThreadRef(Value):
    """One conversation on one platform; its string form is the key for stores, locks and logs."""

    platform: str = Field(min_length=1)
    workspace: str = Field(min_length=1)
    channel: str = Field(min_length=1)
    thread: str = Field(min_length=1)

    def __str__(self) -> str:
        """Give `platform:workspace:channel:thread`, each part percent-encoded, so that parsing is exact."""
        return ":".join(quote(part, safe="") for part in (self.platform, self.workspace, self.channel, self.thread))

    @classmethod
    def parse(cls, text: str) -> ThreadRef:
        """Read the string form back; `InvalidInput` if it is not one."""
        parts = [unquote(part) for part in text.split(":")]
        if len(parts) != 4 or not all(parts):  # noqa: PLR2004 - the four fields
            message = f"{text!r} is not a thread; it looks like platform:workspace:channel:thread."
            raise InvalidInput(message, field="thread")
        return cls(platform=parts[0], workspace=parts[1], channel=parts[2], thread=parts[3])


class MessageRef(Value):
    """One message; the key that a question is claimed and remembered by."""

    thread: ThreadRef
    id: str = Field(min_length=1)

    def __str__(self) -> str:
        """Give the thread's string form with the message's id behind it."""
        return f"{self.thread}:{quote(self.id, safe='')}"


class Person(Value):
    """Somebody who asks."""

    id: str
    name: str = ""


class Message(Value):
    """One line as the model or the platform sees it."""

    role: Literal["user", "assistant"]
    text: str
    author: str = ""
    at: datetime | None = None


# -- The question -----------------------------------------------------------------------------------------------------


class Scope(Value):
    """What may be searched: empty `sources` or `chapters` mean all; `open_at` hides what is released later."""

    sources: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()
    open_at: datetime | None = None


def without_controls(text: str) -> str:
    """Drop control and invisible formatting characters, which a terminal would obey; keep line breaks and tabs."""
    return "".join(c for c in text if c in "\n\t\u200c\u200d" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def _question_text(text: str) -> str:
    text = without_controls(text).strip()
    if not text:
        raise PydanticCustomError("blank", NO_QUESTION)
    if len(text) > QUESTION_LIMIT:
        raise PydanticCustomError(
            "too_long",
            "The question has {length} characters; the limit is {limit}. Please shorten it and ask again.",
            {"length": f"{len(text):,}", "limit": f"{QUESTION_LIMIT:,}"},
        )
    return text


def _selection_text(text: str | None) -> str | None:
    if text is None:
        return None
    text = without_controls(text).strip()
    if not text:
        raise PydanticCustomError("blank", "The selected text is empty. Select some text, or ask without a selection.")
    if len(text) > SELECTION_LIMIT:
        raise PydanticCustomError(
            "too_long",
            "The selected text has {length} characters; the limit is {limit}. Please select less.",
            {"length": f"{len(text):,}", "limit": f"{SELECTION_LIMIT:,}"},
        )
    return text


def _between(low: float, high: float, what: str) -> AfterValidator:
    def check(value: float) -> float:
        if not low <= value <= high:  # also catches NaN
            raise PydanticCustomError(
                "out_of_range",
                "{what} is {value}; it has to be between {low} and {high}.",
                {"what": what, "value": f"{value:g}", "low": f"{low:g}", "high": f"{high:g}"},
            )
        return value

    return AfterValidator(check)


class Question(Value):
    """What somebody wants to know, with everything that the answer depends on."""

    message: MessageRef
    revision: int = 0
    text: Annotated[str, AfterValidator(_question_text)]
    author: Person
    selection: Annotated[str | None, AfterValidator(_selection_text)] = None
    context: tuple[Message, ...] = ()
    reply_to: MessageRef | None = None
    visibility: Literal["thread", "private"] = "thread"
    asked_at: datetime
    scope: Scope = Scope()
    top_k: Annotated[int, _between(1, 20, "The number of passages (top_k)")] = 5
    relevance_threshold: Annotated[float, _between(0.0, 1.0, "The relevance threshold")] = 0.5

    @classmethod
    def create(cls, **fields: Any) -> Question:
        """Build a question, or raise `InvalidInput` with a sentence that names the limit and what to do."""
        try:
            return cls(**fields)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise InvalidInput(first["msg"], field=str(first["loc"][0])) from error

    @property
    def thread(self) -> ThreadRef:
        """The conversation that the question belongs to."""
        return self.message.thread


@dataclass(frozen=True, slots=True)
class Claim:
    """What a worker holds while it answers a question; `attempt` counts from 1."""

    question: Question
    attempt: int = 1


class Delivery(Value):
    """The platform's messages that carry an answer, in order."""

    messages: tuple[MessageRef, ...] = ()


class Reaction(StrEnum):
    """A mark on somebody's message."""

    WARNING = "warning"


# -- Documents and passages -------------------------------------------------------------------------------------------


class Document(Value):
    """One page of a source as Markdown; headings may name their own anchor with a trailing `{#anchor}`."""

    source: str
    url: str
    title: str
    text: str
    chapter: str = ""
    opens_at: datetime | None = None


class Unreadable(Value):
    """Something in a source that could not be read, and why, in words for the person who runs the bot.

    With its `url` known, what was read of the page before is kept.
    """

    name: str
    reason: str
    url: str = ""


class Passage(Value):
    """A piece of a page, small enough to embed; `source_url` leads to its section."""

    passage_id: str
    source: str
    page_url: str
    source_url: str
    page_title: str
    section_title: str
    chapter: str
    text: str
    position: int
    page_length: int
    content_hash: str
    opens_at: datetime | None = None

    @property
    def heading(self) -> str:
        """The path to the passage as people read it."""
        return heading(self.page_title, self.section_title)


def heading(title: str, section: str) -> str:
    """Join a page's title and a section's path, without saying the same thing twice."""
    if not section or section == title:
        return title
    return section if section.startswith(f"{title} › ") else f"{title} › {section}"


@dataclass(frozen=True, slots=True)
class EmbeddedPassage:
    """A passage with the vector of its text under its heading path."""

    passage: Passage
    vector: Vector


@dataclass(frozen=True, slots=True)
class Outline:
    """What an index holds: counts, and the names that a scope can use."""

    passages: int
    pages: int
    sources: tuple[str, ...]
    chapters: tuple[str, ...]


# -- Searching --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What an index is asked: the words, their vector (None: search by words alone), and what may be searched."""

    text: str
    vector: Vector | None
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What an index found: cosine in `dense`, the BM25 sum in `lexical`; None where that list did not score it."""

    passage: Passage
    dense: float | None = None
    lexical: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its calibrated relevance: 0.5 is the boundary between relevant and not."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best passages for a query, best first; `lexical_only` when the embedder was down."""

    query: str
    hits: tuple[Hit, ...]
    total_count: int
    query_time_ms: float
    search_time_ms: float
    total_time_ms: float
    lexical_only: bool = False


# -- Speaking with the model ------------------------------------------------------------------------------------------

ChatMessage: TypeAlias = dict[str, Any]
"""One message in the chat completions format: `role`, `content`, and `tool_calls` or `tool_call_id`."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that the model is given for one turn, oldest first."""

    messages: tuple[ChatMessage, ...]

    def extended(self, *messages: ChatMessage) -> Prompt:
        """Give a new prompt with *messages* at the end, so that the prefix stays cacheable."""
        return Prompt((*self.messages, *messages))


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told about it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(Value):
    """The model's wish to call a tool; `arguments` is the text that it wrote, hopefully JSON."""

    id: str
    name: str
    arguments: str


class Usage(Value):
    """Tokens as the model's service counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Sum two turns."""
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """What the model said in one turn, complete."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""


# -- The answer -------------------------------------------------------------------------------------------------------


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
    """The end of every run: Markdown with `[n]`, and the footnotes that the numbers stand for."""

    id: str
    text: str
    citations: tuple[Citation, ...] = ()
    status: Status
    has_relevant_context: bool = False
    lexical_only: bool = False
    nearest: tuple[Citation, ...] = ()
    model: str = ""
    usage: Usage = Usage()
    tool_calls: tuple[ToolRecord, ...] = ()
    retrieval_time_ms: float = 0.0
    generation_time_ms: float = 0.0
    total_time_ms: float = 0.0

    @property
    def is_failure(self) -> bool:
        """Whether something that the answer needed did not work."""
        return self.status in (Status.UNAVAILABLE, Status.FAILED)


class Turn(Value):
    """One exchange as it is remembered; appended once, by `question_ref`."""

    question_ref: MessageRef
    question: str
    answer: str
    citations: tuple[Citation, ...] = ()
    tool_calls: tuple[ToolRecord, ...] = ()
    at: datetime


class Conversation(Value):
    """What was said in a thread, oldest first."""

    thread: ThreadRef
    turns: tuple[Turn, ...] = ()


# -- Progress ---------------------------------------------------------------------------------------------------------


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
