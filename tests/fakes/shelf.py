"""A retriever over a few passages, which knows what there is to search."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from core.errors import RetrievalUnavailable
from core.model import EVERYTHING, Hit, Outline, Scope, SearchResult, SourceRecord, Waiting


@dataclass(frozen=True, slots=True)
class Asked:
    """One search as it reached the shelf."""

    query: str
    limit: int
    scope: Scope = Scope()
    earlier: str = ""


class Shelf:
    """Gives the same hits for every query, or those of *by_query*; the scope and the limit are kept, the best first.

    Every search is in `asked`, and takes 3 ms by its own account. Set `fails` to make each raise `error`, which is
    `RetrievalUnavailable` at first, and naming the sources too; or name queries in `fails_on`. Set `lexical_only` to
    search as without an embedder, and `has_documents` to False where it is empty.
    At a `barrier`, each search that is in `waits_for` waits for the others. It is a `Catalogue` too, of the sources of
    all hits.
    """

    def __init__(self, *hits: Hit, by_query: Mapping[str, Sequence[Hit]] | None = None) -> None:
        self.asked: list[Asked] = []
        self.fails = False
        self.error: Exception = RetrievalUnavailable("The shelf was told to fail. Set `fails` to False.")
        self.fails_on: Collection[str] = ()
        self.lexical_only = False
        self.has_documents = True
        self.barrier: asyncio.Barrier | None = None
        self.waits_for: Collection[str] = ()
        self.records: dict[str, SourceRecord] = {}
        self._hits = hits
        self._by_query = by_query or {}

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
        """Look along the shelf."""
        self.asked.append(Asked(query, limit, scope, earlier))
        if self.barrier is not None and query in self.waits_for:
            await self.barrier.wait()
        if self.fails or query in self.fails_on:
            raise self.error
        found = [hit for hit in self._by_query.get(query, self._hits) if _is_within(hit, scope)]
        best = sorted(found, key=lambda hit: -hit.score)[:limit]
        return SearchResult(
            query=query,
            hits=tuple(best),
            total_count=len(found),
            query_time_ms=1.0,
            search_time_ms=2.0,
            total_time_ms=3.0,
            lexical_only=self.lexical_only,
            has_documents=self.has_documents and scope.sources != (),
        )

    async def sources(self) -> Sequence[SourceRecord]:
        """Name the sources of all that stands there, with what is in `records`."""
        if self.fails:
            raise self.error
        found = {hit.passage.source: SourceRecord(name=hit.passage.source) for hit in self._all()}
        return [*{**found, **self.records}.values()]

    async def outline(self, scope: Scope = EVERYTHING, *, waiting: Waiting | None = None) -> Outline:
        """Count what stands there."""
        if self.fails:
            raise self.error
        found = [hit.passage for hit in self._all() if _is_within(hit, scope)]
        return Outline(
            passages=len(found),
            pages=len({each.page_url for each in found}),
            sources=tuple(sorted({each.source for each in found})),
            chapters=tuple(sorted({each.chapter for each in found})),
        )

    def _all(self) -> Sequence[Hit]:
        return [*self._hits, *(hit for hits in self._by_query.values() for hit in hits)]


def _is_within(hit: Hit, scope: Scope) -> bool:
    return (scope.sources is None or hit.passage.source in scope.sources) and (
        not scope.chapters or hit.passage.chapter in scope.chapters
    )
