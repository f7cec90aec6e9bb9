"""What the core needs from the world. Each port belongs to the core; adapters implement it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from core.model import (
    Candidate,
    ChatMessage,
    Claim,
    Conversation,
    Deed,
    Delivery,
    Document,
    EmbeddedPassage,
    IndexQuery,
    Message,
    MessageRef,
    ModelTurn,
    Outline,
    Passage,
    Policy,
    Progress,
    Prompt,
    Question,
    Reaction,
    Restarted,
    Scope,
    SearchResult,
    Signal,
    Tally,
    Task,
    TextDelta,
    ThreadRef,
    ToolSpec,
    Turn,
    Unreadable,
    Vector,
    Vote,
    Withdrawal,
    WorkspaceRef,
)
from core.relevance import Calibration

__all__ = [
    "AuditLog",
    "ChatMessage",
    "ChatModel",
    "ChatSurface",
    "ConversationStore",
    "Deliveries",
    "DocumentSource",
    "Embedder",
    "Inbox",
    "Memo",
    "PassageIndex",
    "PolicyStore",
    "Quota",
    "Reranker",
    "Retriever",
    "Surface",
    "VoteStore",
]


class Surface(Protocol):
    """A platform where people read answers."""

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Draw *progress* until its last item, the `Answer`, which replaces all that was shown before."""
        ...

    async def react(self, to: MessageRef, reaction: Reaction) -> None:
        """Mark a message; doing it twice is no error."""
        ...

    async def recall(self, thread: ThreadRef, *, limit: int) -> Sequence[Message]:
        """Read at most *limit* newest messages of a thread, oldest first."""
        ...


class ChatSurface(Surface, Protocol):
    """A platform where questions can be deleted, by those who asked them or by others."""

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take back what was posted, unless others have replied to it; doing it twice is no error."""
        ...


class ConversationStore(Protocol):
    """Remembers conversations for a time; each append restarts the clock. Raises `StoreUnavailable`."""

    async def load(self, thread: ThreadRef) -> Conversation | None:
        """Give the conversation; None if there is none, if it has expired or cannot be read any more."""
        ...

    async def append(self, thread: ThreadRef, turn: Turn) -> None:
        """Add a turn; one with the same `question_ref` is kept once, where it stood, with the newer text."""
        ...

    async def remove(self, question_ref: MessageRef) -> bool:
        """Take one turn out; say whether it was there."""
        ...

    async def forget(self, thread: ThreadRef) -> bool:
        """Remove the whole conversation; say whether there was one."""
        ...

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove every turn that a person has asked for in a workspace; give their number."""
        ...

    async def forget_workspace(self, home: WorkspaceRef) -> int:
        """Remove every conversation of a workspace; give their number."""
        ...


class Inbox(Protocol):
    """Holds questions until they are answered: one at a time of each thread, in order. Raises `StoreUnavailable`."""

    async def put(self, signal: Signal) -> bool:
        """Take a signal; False if it changes nothing, as it was seen before or is about nothing that is known.

        A question is known by its message and revision, so putting it again is harmless. An edit or a deletion that
        comes before its question, since two processes raced, is remembered for a while.
        """
        ...

    def claim(self) -> AbstractAsyncContextManager[Task]:
        """Wait for the next task, and hold its thread.

        Leaving normally settles the task. Raising returns it, to be given out again after a delay, or to be laid aside
        as dead after the last attempt; being cancelled returns it at once and counts for nothing. What happens to the
        question meanwhile is told by `cancelled`.
        """
        ...

    async def keep(self, task: Task) -> bool:
        """Keep the words of a task that is held for a while longer than usual, so that `Retried` can find them.

        False if the task is no longer ours.
        """
        ...

    async def waiting(self) -> int:
        """Count the questions that wait for their turn, those that wait for another attempt among them."""
        ...


class Deliveries(Protocol):
    """Remembers which of the platform's messages belong to a question. Raises `StoreUnavailable`."""

    async def record(self, task: Task, delivery: Delivery) -> bool:
        """Put *delivery* in the place of what was recorded; False if the task is no longer ours."""
        ...


class PolicyStore(Protocol):
    """Keeps what moderators have set, until they change it. Raises `StoreUnavailable`."""

    async def load(self, home: WorkspaceRef) -> Policy:
        """Give the policy of a workspace; the usual one if nothing was ever set, or it cannot be read any more."""
        ...

    async def save(self, home: WorkspaceRef, policy: Policy) -> None:
        """Put *policy* in the place of the one before."""
        ...


class AuditLog(Protocol):
    """Remembers what moderators did, for a time. Raises `StoreUnavailable`."""

    async def record(self, home: WorkspaceRef, deed: Deed) -> None:
        """Note a deed."""
        ...

    async def recent(self, home: WorkspaceRef, *, limit: int) -> Sequence[Deed]:
        """Give at most *limit* deeds, newest first."""
        ...


class VoteStore(Protocol):
    """Counts what readers think of answers, for a time. Raises `StoreUnavailable`."""

    async def cast(self, home: WorkspaceRef, vote: Vote) -> None:
        """Put somebody's vote on an answer in the place of the one before."""
        ...

    async def count(self, home: WorkspaceRef) -> Tally:
        """Count the votes of a workspace."""
        ...

    async def forget_person(self, home: WorkspaceRef, person_id: str) -> int:
        """Remove every vote of a person in a workspace; give their number."""
        ...


class Quota(Protocol):
    """Bounds how much one person, or one thread, may ask in a time. Raises `StoreUnavailable`."""

    async def spend(self, question: Question) -> float:
        """Count a question, the same one once; give the seconds until it may be asked, 0 if it may be now."""
        ...


class Memo(Protocol):
    """Remembers for a time what was said or done last, so that it is not repeated. Raises `StoreUnavailable`."""

    async def changed(self, key: str, value: str) -> bool:
        """Note *value* under *key*; say whether there was none or another. Of several at once, one hears yes."""
        ...

    async def forget(self, key: str) -> None:
        """Take a note back, as what it speaks of could not be done after all."""
        ...


class ChatModel(Protocol):
    """A model that writes text and calls tools."""

    @property
    def reads_history(self) -> bool:
        """Whether it words a follow-up as a full query by itself; if not, the search blends in the question before."""
        ...

    def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[TextDelta | Restarted | ModelTurn, None]:
        """Yield text as it comes, then one `ModelTurn` with the whole text and any tool calls.

        `Restarted` takes back the text of a broken attempt. Raises `ModelUnavailable`. Closing the generator early
        ends the work at once.
        """
        ...


class Retriever(Protocol):
    """Finds passages for a query."""

    async def search(self, query: str, *, limit: int, scope: Scope, earlier: str = "") -> SearchResult:
        """Give the best passages, best first. Raises `RetrievalUnavailable`.

        *earlier* is the question before, for a follow-up that does not stand alone: the scores of *query* and of both
        joined are averaged.
        """
        ...


class Embedder(Protocol):
    """Turns text into vectors of length 1; queries and passages have a method each, so that they are not confused."""

    @property
    def name(self) -> str:
        """What the vectors depend on: model and version. An index made under another name is refused."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def window(self) -> int:
        """How many tokens of a passage are read; what is longer is not seen."""
        ...

    @property
    def calibration(self) -> Calibration:
        """How a cosine of this embedder becomes a relevance score."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count as the window counts, without the marks around the text."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Embed what somebody looks for. Raises `EmbeddingUnavailable`."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed what can be found, in the same order. Raises `EmbeddingUnavailable`."""
        ...


class Reranker(Protocol):
    """Scores passages against a query more carefully than vectors can."""

    async def rerank(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Give a calibrated relevance for each passage, in their order. Raises `RetrievalUnavailable`."""
        ...


class PassageIndex(Protocol):
    """Holds passages with their vectors and words. Raises `RetrievalUnavailable`."""

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Give the union of the *limit* nearest by vector and the *limit* best by words, each with both scores."""
        ...

    async def replace(self, url: str, passages: Sequence[EmbeddedPassage]) -> None:
        """Put *passages* in the place of all passages of a page, as one step for whoever searches."""
        ...

    async def prune(self, source: str, *, keep: Collection[str]) -> int:
        """Remove the pages of *source* whose URL is not kept; give their number."""
        ...

    async def pages(self, source: str) -> Mapping[str, str]:
        """Give the content hash of each page of *source* that is complete, by URL."""
        ...

    async def outline(self) -> Outline:
        """Say what there is to search."""
        ...


class DocumentSource(Protocol):
    """Somewhere documents come from."""

    @property
    def name(self) -> str:
        """What the source is called in scopes; its pages are pruned by it."""
        ...

    async def size(self) -> int | None:
        """Count what `documents` will yield at most, for a progress bar; None if nobody can know."""
        ...

    def documents(self) -> AsyncIterator[Document | Unreadable]:
        """Read every page, in a stable order; what cannot be read is reported and does not stop the rest."""
        ...
