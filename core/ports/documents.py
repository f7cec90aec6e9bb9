"""Where documents come from, and where they are found again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Protocol

from core.model import Candidate, Document, EmbeddedPassage, IndexQuery, Outline, Scope, SearchResult, Unreadable


class DocumentSource(Protocol):
    """Somewhere documents come from. Raises `InvalidInput` where there is nothing at its place."""

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


class PassageIndex(Protocol):
    """Holds passages with their vectors and words.

    Raises `RetrievalUnavailable`, and `Misconfigured` where the index was made with another embedder.
    """

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Return the union of the *limit* nearest by vector and the *limit* best by words, each with both scores."""
        ...

    async def replace(self, url: str, passages: Sequence[EmbeddedPassage]) -> None:
        """Replace all passages of the page at *url*, as one step for whoever searches; none removes the page."""
        ...

    async def prune(self, source: str, *, keep: Collection[str]) -> int:
        """Remove the pages of *source* whose URL is not kept; return their number."""
        ...

    async def pages(self, source: str) -> Mapping[str, str]:
        """Return the content hash of each page of *source* that is complete, by URL."""
        ...

    async def outline(self) -> Outline:
        """Return how much there is to search, and the names that a scope may use."""
        ...


class Retriever(Protocol):
    """Finds passages for a query."""

    async def search(self, query: str, *, limit: int, scope: Scope, earlier: str = "") -> SearchResult:
        """Return at most *limit* passages, best first. Raises `RetrievalUnavailable`.

        *earlier* is the question before, for a follow-up that does not stand alone: the scores of *query* and of both
        joined are averaged.
        """
        ...
