"""Brings the pages of a source into an index: only what has changed is embedded, and what has gone is removed."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from core.documents.chunking import Chunker, embedding_text
from core.model import Document, EmbeddedPassage, Unreadable
from core.ports import DocumentSource, Embedder, PassageIndex

PIPELINE = 1  # raise it when passages are cut or embedded in another way, so that every page is done again


class Outcome(StrEnum):
    """What became of a page that could be read."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class PageDone:
    """A page is complete in the index, with so many new passages."""

    url: str
    outcome: Outcome
    passages: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """The end of a run: how many pages came, stayed and went, and what could not be read."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: tuple[Unreadable, ...] = ()
    passages: int = 0

    @property
    def pages(self) -> int:
        """How many pages could be read; with none, nothing was removed, since the source itself may be missing."""
        return self.added + self.changed + self.unchanged


Step: TypeAlias = PageDone | Unreadable | Summary


@dataclass(slots=True)
class _Tally:
    """What a run has seen so far."""

    done: list[PageDone] = field(default_factory=list[PageDone])
    failed: list[Unreadable] = field(default_factory=list[Unreadable])
    urls: set[str] = field(default_factory=set[str])
    empty: set[str] = field(default_factory=set[str])

    def summary(self, removed: int) -> Summary:
        outcomes = [page.outcome for page in self.done]
        return Summary(
            added=outcomes.count(Outcome.ADDED),
            changed=outcomes.count(Outcome.CHANGED),
            unchanged=outcomes.count(Outcome.UNCHANGED),
            removed=removed,
            failed=tuple(self.failed),
            passages=sum(page.passages for page in self.done),
        )


class Ingestion:
    """Reads sources into an index. Killed at any moment, the next run goes on where this one was."""

    def __init__(self, index: PassageIndex, embedder: Embedder, *, limit: int | None = None) -> None:
        """Cut pages into passages of at most *limit* tokens, or as many as the embedder reads."""
        self._index = index
        self._embedder = embedder
        self._chunker = Chunker(embedder.window if limit is None else limit, embedder.count_tokens)

    async def run(self, source: DocumentSource) -> AsyncIterator[Step]:
        """Yield each page as it is done, then the summary.

        Raises `EmbeddingUnavailable` and `RetrievalUnavailable`; what is done by then stays.
        """
        known = await self._index.pages(source.name)
        tally = _Tally()
        async for found in source.documents():
            step = await self._take(found, known, tally)
            if isinstance(step, Unreadable):
                tally.failed.append(step)
            else:
                tally.done.append(step)
            yield step
        yield tally.summary(await self._prune(source.name, tally))

    async def _take(
        self, found: Document | Unreadable, known: Mapping[str, str], tally: _Tally
    ) -> PageDone | Unreadable:
        if isinstance(found, Unreadable):
            return found
        if found.url in tally.urls:
            reason = "It has the same address as another page of this source; give one of them its own."
            return Unreadable(name=f"{found.title} ({found.url})", reason=reason, url=found.url)
        page_hash = self._hash(found)
        if known.get(found.url) == page_hash:
            tally.urls.add(found.url)
            return PageDone(found.url, Outcome.UNCHANGED)
        count = await self._store(found, page_hash)
        if not count:
            tally.empty.add(found.url)
            return Unreadable(name=f"{found.title} ({found.url})", reason="It holds no text.", url=found.url)
        tally.urls.add(found.url)
        return PageDone(found.url, Outcome.CHANGED if found.url in known else Outcome.ADDED, count)

    async def _store(self, document: Document, page_hash: str) -> int:
        """Put a page in the place of what the index holds of it; return the number of its passages."""
        passages = await asyncio.to_thread(self._chunker.chunk, document, content_hash=page_hash)
        if not passages:
            return 0
        vectors = await self._embedder.embed_passages([embedding_text(passage) for passage in passages])
        await self._index.replace(document.url, [*map(EmbeddedPassage, passages, vectors)])
        return len(passages)

    async def _prune(self, source: str, tally: _Tally) -> int:
        """Remove the pages that have gone, unless one of them may be a page that could not be read this time."""
        if not tally.urls or any(not failed.url for failed in tally.failed):
            return 0
        unread = {failed.url for failed in tally.failed} - tally.empty
        return await self._index.prune(source, keep=tally.urls | unread)

    def _hash(self, document: Document) -> str:
        """Return the fingerprint of everything that the passages of a page depend on."""
        pipeline = f"{PIPELINE} {self._chunker.limit} {self._embedder.name}"
        return hashlib.sha256(f"{pipeline}\n{document.model_dump_json()}".encode()).hexdigest()
