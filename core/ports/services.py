"""What an answer needs besides the stores: models, documents, and the platform where it appears."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, TypeAlias

from core.model import (
    EVERYTHING,
    Asker,
    Calibration,
    Candidate,
    Claim,
    Delivery,
    Document,
    EmbeddedPassage,
    Handover,
    IndexQuery,
    LeftOut,
    ModelTurn,
    Outline,
    Passage,
    Progress,
    Prompt,
    Reaction,
    Readership,
    Restarted,
    Scope,
    SearchResult,
    SourceRecord,
    TextDelta,
    ToolSpec,
    Unchanged,
    Unreadable,
    Vector,
    Waiting,
    Withdrawal,
    WorkspaceRef,
)

Found: TypeAlias = Document | Unchanged | LeftOut | Unreadable
"""What a source yields for each thing that is there."""
NOTHING_SEEN: Mapping[str, str] = MappingProxyType({})
OUTDATED = "outdated"
"""The stamp of a page that was cut or embedded in another way than now: it is known, and has to be read again."""


class DocumentSource(Protocol):
    """Somewhere documents come from.

    Raises `InvalidInput` where there is nothing at its place, and `SourceUnavailable` where it does not answer: then
    nobody knows which of its pages have gone.
    """

    @property
    def name(self) -> str:
        """What the source is called in scopes; its pages are pruned by it."""
        ...

    async def size(self) -> int | None:
        """Count what `documents` will yield at most, for a progress bar; None if nobody can know, or not yet."""
        ...

    def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
        """Read every page, in a stable order; what cannot be read is reported and does not stop the rest.

        A page that still bears the stamp under which it was *seen*, by its address, is `Unchanged`, and is not read.
        Whoever stops before the end closes it.
        """
        ...


class Catalogue(Protocol):
    """Knows what there is to search.

    Raises `RetrievalUnavailable`, and `Misconfigured` where the index was made with another embedder.
    """

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Return how much there is to search in a scope, and the names that one may use."""
        ...

    async def sources(self) -> Sequence[SourceRecord]:
        """Return every source that holds passages or was recorded, by name; it is asked for every question."""
        ...


class PassageIndex(Catalogue, Protocol):
    """Holds passages with their vectors and words."""

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Return the union of the *limit* nearest by vector and the *limit* best by words, each with all scores."""
        ...

    async def replace(self, source: str, url: str, passages: Sequence[EmbeddedPassage]) -> None:
        """Replace all that *source* has of the page at *url*, as one step for whoever searches; none removes it.

        What another source has of a page with the same address stays.
        """
        ...

    async def prune(self, source: str, *, keep: Collection[str]) -> int:
        """Remove the pages of *source* whose URL is not kept; return their number."""
        ...

    async def pages(self, source: str) -> Mapping[str, str]:
        """Return the content hash of each page of *source* that is complete, by URL."""
        ...

    async def stamp(self, source: str, url: str, content_hash: str) -> None:
        """Have the passages of a page bear another content hash; nothing else of them changes."""
        ...

    async def record(self, record: SourceRecord) -> None:
        """Write down what the record says of a source; what it leaves open stays, and so do the passages.

        What two write at once of the same source is kept of both, unless they say the same thing of it.
        """
        ...

    async def remove(self, source: str) -> int:
        """Remove the passages of a source, and then what is recorded of it; return how many pages it had."""
        ...


class Retriever(Protocol):
    """Finds passages for a query."""

    async def outline(self, scope: Scope, *, waiting: Waiting | None = None) -> Outline:
        """Return what there is to find in a scope. Raises `RetrievalUnavailable`."""
        ...

    async def search(
        self,
        query: str,
        *,
        limit: int,
        scope: Scope,
        earlier: str = "",
        is_about_both: bool = False,
        waiting: Waiting | None = None,
    ) -> SearchResult:
        """Return at most *limit* passages, best first. Raises `RetrievalUnavailable`.

        *earlier* are the questions before, for a follow-up that does not stand alone: the scores of *query* and of both
        joined are averaged. Where it *is_about_both*, a passage is as relevant as it is to both joined: whoever reads
        them knows what was asked before. Who is *waiting* is told for which service, and
        for how long there may be searched yet.
        """
        ...


class ChatModel(Protocol):
    """A model that writes text and calls tools."""

    @property
    def reads_history(self) -> bool:
        """Whether it words a follow-up as a full query by itself; if not, the search blends in the question before."""
        ...

    @property
    def only_quotes(self) -> bool:
        """Whether it writes nothing of its own, so that it needs whole passages, and more of them."""
        ...

    @property
    def most_tokens(self) -> int:
        """The most tokens that it writes in one turn; 0 for one whose tokens nobody counts or pays for."""
        ...

    @property
    def context_tokens(self) -> int | None:
        """The most tokens of a prompt and its answer together, as far as that is known by now."""
        ...

    def stream(
        self, prompt: Prompt, *, tools: Sequence[ToolSpec], may_call: bool = True
    ) -> AsyncGenerator[TextDelta | Restarted | Handover | ModelTurn, None]:
        """Yield text as it comes, then one `ModelTurn` with the whole text and any tool calls.

        Where it *may_call* nothing, the tools are still named, as some services want them with a history that has
        calls, and the turn has none. `Restarted` takes back the text of a broken attempt, and so does a
        `Handover`, behind which another model writes. Closing the generator early ends the work at once. Raises
        `ModelUnavailable`, and `PromptTooLong` before anything was written.
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
        """The number of floats in a vector."""
        ...

    @property
    def window(self) -> int:
        """How many tokens of a passage are read; what is longer is not seen."""
        ...

    @property
    def calibration(self) -> Calibration:
        """How a cosine of this embedder becomes a relevance between 0 and 1."""
        ...

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens as the window counts them, without the marks around the text.

        Raises `Misconfigured` if what it counts with is missing.
        """
        ...

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of what somebody looks for. Raises `EmbeddingUnavailable`."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return a vector for each text that can be found, in their order. Raises `EmbeddingUnavailable`."""
        ...


class Reranker(Protocol):
    """Scores passages against a query more carefully than vectors can."""

    @property
    def name(self) -> str:
        """What the scores depend on: the model."""
        ...

    @property
    def calibration(self) -> Calibration:
        """How a score of the model becomes a relevance between 0 and 1."""
        ...

    async def rerank(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Return a relevance between 0 and 1 for each passage, in their order. Raises `RetrievalUnavailable`."""
        ...


class Surface(Protocol):
    """A platform where people read answers."""

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Draw *progress* until its last item, the `Answer`, which replaces all that was shown before.

        Return the messages that carry it; where nothing can be shown, those that were posted before. Raises
        `PostingFailed` if the platform cannot be reached, or does not take the answer.
        """
        ...

    async def refuse(self, claim: Claim, sentence: str) -> Delivery:
        """Say why a question is not answered, to the asker alone where the platform can, and open no thread for it.

        Return what stands of an answer to earlier words of the question, which stays; what an earlier attempt has
        begun to answer goes. Doing it twice may say it twice. Raises `PostingFailed` if the platform cannot be reached.
        """
        ...

    async def standing(self, claim: Claim) -> Delivery | None:
        """Return a whole answer to the question that stands there from an attempt before. Raises nothing.

        None where there is none, or nobody can know.
        """
        ...

    async def react(self, claim: Claim, reaction: Reaction) -> None:
        """Mark a question; doing it twice is no error.

        Raises nothing: a mark that cannot be set is left out, and so is that of a claim that is lost.
        """
        ...

    async def unreact(self, claim: Claim, reaction: Reaction) -> None:
        """Take a mark of ours away, if it is there and the claim is not lost. Raises nothing."""
        ...

    async def alert(self, home: WorkspaceRef, sentence: str) -> None:
        """Tell the moderators of a community something where they alone read it. Raises nothing.

        What cannot be told is left out: the status says it too.
        """
        ...


class ChatSurface(Surface, Protocol):
    """A platform where questions can be deleted, by those who asked them or by others."""

    async def withdraw(self, withdrawal: Withdrawal) -> None:
        """Take back what was posted, unless others than the asker have replied to it; doing it twice is no error.

        Raises `PostingFailed` if the platform cannot be reached.
        """
        ...


class Membership(Protocol):
    """Knows who belongs to the communities whose documents are asked about.

    Raises `PeopleUnavailable`, or `ShutOut` where the platform says nothing at all for now.
    """

    async def readership(self, asker: Asker, among: Collection[WorkspaceRef]) -> Readership:
        """Return who reads what somebody is answered.

        Its communities are those of which everybody who reads it is known to be a member: the place's own, and in
        direct messages, those *among* the given ones in which the asker is seen to be a member.
        """
        ...
