"""Brings the pages of a source into an index: only what has changed is embedded, and what has gone is removed."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from core.documents.chunking import Chunker, embedding_text
from core.model import Document, EmbeddedPassage, Unreadable
from core.ports import DocumentSource, Embedder, PassageIndex

PIPELINE = 1  # raise it when passages are cut or embedded in another way, so that every page is done again

EMPTY = "It holds no text."
TWICE = "It has the same address as another page of this source; give one of them its own."


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
        done: dict[str, PageDone] = {}
        failed: list[Unreadable] = []
        async for found in source.documents():
            step = found if isinstance(found, Unreadable) else await self._take(found, known, done)
            if isinstance(step, Unreadable):
                failed.append(step)
            else:
                done[step.url] = step
            yield step
        removed = 0
        if done and all(each.url for each in failed):  # else one of those that have gone may be one that is unreadable
            unread = {each.url for each in failed if each.reason != EMPTY}
            removed = await self._index.prune(source.name, keep=done.keys() | unread)
        outcomes = Counter(page.outcome for page in done.values())
        yield Summary(
            added=outcomes[Outcome.ADDED],
            changed=outcomes[Outcome.CHANGED],
            unchanged=outcomes[Outcome.UNCHANGED],
            removed=removed,
            failed=tuple(failed),
            passages=sum(page.passages for page in done.values()),
        )

    async def _take(
        self, page: Document, known: Mapping[str, str], done: Mapping[str, PageDone]
    ) -> PageDone | Unreadable:
        """Put a page in the place of what the index holds of it, unless it holds just that."""
        if page.url in done:
            return Unreadable(name=f"{page.title} ({page.url})", reason=TWICE, url=page.url)
        depends_on = f"{PIPELINE} {self._chunker.limit} {self._embedder.name}\n{page.model_dump_json()}"
        page_hash = hashlib.sha256(depends_on.encode()).hexdigest()
        if known.get(page.url) == page_hash:
            return PageDone(page.url, Outcome.UNCHANGED)
        passages = await asyncio.to_thread(self._chunker.chunk, page, content_hash=page_hash)
        if not passages:
            return Unreadable(name=f"{page.title} ({page.url})", reason=EMPTY, url=page.url)
        vectors = await self._embedder.embed_passages([embedding_text(passage) for passage in passages])
        await self._index.replace(page.source, page.url, [*map(EmbeddedPassage, passages, vectors)])
        return PageDone(page.url, Outcome.CHANGED if page.url in known else Outcome.ADDED, len(passages))
