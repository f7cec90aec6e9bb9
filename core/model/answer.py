"""What is said to a model and what it says, the answer with its footnotes, and what happens until it is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypeAlias

from pydantic import Field, SkipValidation

from core.errors import RetrievalUnavailable, Unavailable
from core.model.documents import heading
from core.model.markup import Block
from core.model.refs import Value

LONGEST_SEARCH = 10.0  # seconds for one question, however often and whatever is tried in them
FREE = 1.0  # seconds of each search that brings all it should
TOO_SLOW = "There was no answer within {:.3g} seconds. Try again in a moment."
NO_TIME = "Searching took too long for one question. Try again in a moment."

ChatMessage: TypeAlias = dict[str, Any]
"""One message in the chat completions format: `role`, `content`, and `tool_calls` with a `memo`, or `tool_call_id`."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that the model is given for one turn, oldest first, so that its beginning stays cacheable.

    It is *for another* model than the first where that reads too little, however much is cut.
    """

    messages: tuple[ChatMessage, ...]
    is_for_another: bool = False


class ToolSpec(NamedTuple):
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


class Prices(Value):
    """What a million tokens of a model cost, and a thousand searches, in whatever currency the person who pays has."""

    prompt: float
    cached: float
    completion: float
    searches: float = 0.0

    def cost(self, usage: Usage, *, searches: int = 0) -> float:
        """Return the price of *usage*, and of so many searches; cached tokens are part of the prompt's."""
        fresh = max(usage.prompt_tokens - usage.cached_tokens, 0)
        price = fresh * self.prompt + usage.cached_tokens * self.cached + usage.completion_tokens * self.completion
        return price / 1_000_000 + searches * self.searches / 1_000

    def dearest(self, other: Prices) -> Prices:
        """Return the higher price of two for each thing."""
        return Prices(**{name: max(price, getattr(other, name)) for name, price in self})


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """What the model said in one turn, complete unless it *is_cut*, by its service or by us, as it got too long.

    The *memo* is what its service wants back with the calls: it is kept here, so that it goes where the turn goes.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    is_cut: bool = False
    memo: object = field(default=None, compare=False, repr=False)

    def message(self, calls: Sequence[ToolCall]) -> ChatMessage:
        """Return the turn, with those of its *calls* that were made, as the model reads it in the next prompt."""
        made = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]  # no text is None, and not an empty one: some services refuse that
        own = {} if self.memo is None else {"memo": self.memo}
        return {"role": "assistant", "content": self.text or None, "tool_calls": made, **own}


@dataclass(frozen=True, slots=True)
class Handover:
    """What was written of the turn is taken back, and another model writes it, at its *prices* if they are others."""

    prices: Prices | None = None


class Citation(Value):
    """A footnote: where a statement of the answer comes from; the `source` is one of the index, if it is in there."""

    number: int
    chapter: str
    section: str
    title: str
    url: str
    relevance_score: float
    changed_on: str = ""
    source: str = ""

    @property
    def age(self) -> str:
        """When its page says that it was changed, as words behind its title; nothing where it does not say so."""
        with suppress(ValueError):
            day = date.fromisoformat(self.changed_on)
            return f", changed {day.day} {day:%B %Y}"
        return ""

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


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence of an answer, and the share of its words that passages hold; 0 where a number or a name is missing."""

    text: str
    support: float


class Answer(Value):
    """The end of every run: Markdown with `[n]`, and the footnotes that the numbers stand for.

    `blocks` is its tree, where the answer was just written, and `sentences` those that were held against the passages;
    one that is stored is read from its text.
    `usage` counts the tokens of all turns of the model; `cost` is their price where prices are known. The time of the
    first tokens, of all turns, is part of that of the generation; that of posting is what came after all of it.
    """

    id: str
    text: str
    blocks: SkipValidation[tuple[Block, ...] | None] = Field(default=None, exclude=True, repr=False)
    sentences: SkipValidation[tuple[CheckedSentence, ...]] = Field(default=(), exclude=True, repr=False)
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
    first_token_time_ms: float = 0.0
    generation_time_ms: float = 0.0
    total_time_ms: float = 0.0
    posting_time_ms: float = 0.0

    @property
    def is_failure(self) -> bool:
        """Whether something that the answer needed did not work."""
        return self.status in (Status.UNAVAILABLE, Status.FAILED)

    @property
    def is_sourced(self) -> bool:
        """Whether it answers from sources, so that people can judge it: small talk does not, nor "not found"."""
        return self.status is Status.ANSWERED and (bool(self.citations) or self.has_relevant_context)


class Awaited(StrEnum):
    """What a question on its way may wait for."""

    TURN = "turn"
    ATTEMPT = "attempt"
    READERS = "readers"
    MODEL = "model"
    SEARCH = "search"
    EMBEDDER = "embedder"
    RERANKER = "reranker"


@dataclass(slots=True, eq=False)
class Waiting:
    """The question is on its way; `on` says at any time what is waited for, and is read when somebody is told.

    That is whoever has seen nothing new for `after` seconds. What they are told goes with the next thing that they see.
    `left` are the seconds that may yet pass while documents are searched for it, in all its searches.
    """

    on: Awaited = Awaited.MODEL
    after: float = 15.0
    left: float = LONGEST_SEARCH

    def search(self) -> SearchTime:
        """Begin a search, in the time that is left. Raises `RetrievalUnavailable` where there is none."""
        if self.left <= 0:
            raise RetrievalUnavailable(NO_TIME)
        return SearchTime(self, asyncio.get_running_loop().time(), self.left)


@dataclass(slots=True)
class SearchTime:
    """The time of one search: the *longest* that it may take, of what whoever is *waiting* has left.

    What it took counts, and of several at once the slowest. A search that brings all that it should counts but for its
    first second, so that many that are quick, or not quite, are all made.
    """

    waiting: Waiting
    begun: float
    longest: float
    free: float = FREE

    @asynccontextmanager
    async def take(
        self, step: Awaited, share: float = 1.0, unavailable: type[Unavailable] = RetrievalUnavailable
    ) -> AsyncGenerator[None]:
        """Give a step until a share of the time is over; then it ends as *unavailable*."""
        self.waiting.on = step
        try:
            async with asyncio.timeout_at(self.begun + self.longest * share):
                yield
        except BaseException as error:
            self.free = 0.0
            if isinstance(error, TimeoutError):
                raise unavailable(TOO_SLOW.format(self.longest * share)) from error
            raise
        finally:
            took = asyncio.get_running_loop().time() - self.begun - self.free
            self.waiting.left = min(self.waiting.left, self.longest - max(took, 0.0))


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
    """All text so far is taken back; the same turn *goes on* where it is not asked for, and paid for, once more."""

    goes_on: bool = field(default=False, compare=False, repr=False)


Progress: TypeAlias = Waiting | Searching | SearchFailed | Drafted | Restarted | Answer
