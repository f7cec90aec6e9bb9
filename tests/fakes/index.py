"""An index in memory."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from core.errors import RetrievalUnavailable
from core.model import EVERYTHING, Candidate, EmbeddedPassage, IndexQuery, Outline, Passage, Scope, SourceRecord, Vector


class MemoryIndex:
    """Holds passages in a dictionary by source and page; words are scored by the share of a query's that a passage has.

    Set `fails` to make every call raise `RetrievalUnavailable`. `writes` lists the pages that were replaced, in order.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._pages: dict[tuple[str, str], tuple[EmbeddedPassage, ...]] = {}
        self._records: dict[str, SourceRecord] = {}
        self.fails = False
        self.writes: list[str] = []

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Give the union of both lists; a passage that shares no word has no place in the list by words."""
        self._check()
        scored = [
            Candidate(
                passage=one.passage,
                dense=None if query.vector is None else _cosine(query.vector, one.vector),
                lexical=(share := _share(query.text, f"{one.passage.heading} {one.passage.text}")),
                held=share,
                named=_share(query.text, one.passage.page_title),
            )
            for one in self._all()
            if _is_open(one.passage, query.scope)
        ]
        nearest = sorted(scored, key=lambda c: -(c.dense or 0.0))[:limit] if query.vector is not None else []
        by_words = sorted((c for c in scored if c.lexical), key=lambda c: -(c.lexical or 0.0))[:limit]
        union = {c.passage.passage_id: c for c in (*nearest, *by_words)}
        return sorted(union.values(), key=lambda c: -((c.dense or 0.0) + (c.lexical or 0.0)))

    async def replace(self, source: str, url: str, passages: Sequence[EmbeddedPassage]) -> None:
        """Put the passages in the place of the page's old ones."""
        self._check()
        self.writes.append(url)
        self._pages.pop((source, url), None)
        if passages:
            self._pages[source, url] = tuple(passages)

    async def prune(self, source: str, *, keep: Collection[str]) -> int:
        """Remove what is not kept."""
        self._check()
        gone = [url for url in await self.pages(source) if url not in keep]
        for url in gone:
            del self._pages[source, url]
        return len(gone)

    async def pages(self, source: str) -> Mapping[str, str]:
        """Give the pages with all their passages."""
        self._check()
        return {
            url: page[0].passage.content_hash
            for (of, url), page in self._pages.items()
            if of == source and len(page) == page[0].passage.page_length
        }

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Count."""
        self._check()
        passages = [one.passage for one in self._all() if _is_open(one.passage, scope)]
        return Outline(
            passages=len(passages),
            pages=len({p.page_url for p in passages}),
            sources=tuple(sorted({p.source for p in passages})),
            chapters=tuple(sorted({p.chapter for p in passages if p.chapter})),
        )

    async def sources(self) -> Sequence[SourceRecord]:
        """Give the records, and new ones of sources that have none."""
        self._check()
        unknown = {source: SourceRecord(name=source) for source, _ in self._pages}
        return [record for _, record in sorted({**unknown, **self._records}.items())]

    async def stamp(self, source: str, url: str, content_hash: str) -> None:
        """Change the hash of a page."""
        self._check()
        page = self._pages.get((source, url), ())
        stamped = [replace(one, passage=replace(one.passage, content_hash=content_hash)) for one in page]
        self._pages.update({(source, url): tuple(stamped)} if stamped else {})

    async def record(self, record: SourceRecord) -> None:
        """Keep what a record says."""
        self._check()
        self._records[record.name] = self._records.get(record.name, record).updated(record)

    async def remove(self, source: str) -> int:
        """Remove pages and record."""
        removed = await self.prune(source, keep=())
        self._records.pop(source, None)
        return removed

    def _all(self) -> list[EmbeddedPassage]:
        return [one for page in self._pages.values() for one in page]

    def _check(self) -> None:
        if self.fails:
            raise RetrievalUnavailable("The index was told to fail. Set `fails` to False.")


def _is_open(passage: Passage, scope: Scope) -> bool:
    return (
        (scope.sources is None or passage.source in scope.sources)
        and (not scope.chapters or passage.chapter in scope.chapters)
        and (scope.open_at is None or passage.opens_at is None or passage.opens_at <= scope.open_at)
    )


def _share(asked: str, text: str) -> float:
    return len(_words(asked) & _words(text)) / max(len(_words(asked)), 1)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _cosine(one: Vector, other: Vector) -> float:
    length = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / length if length else 0.0
