"""The embedded index: Qdrant's own engine in this process, on files in the data folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.qdrant.points import (
    BREADTH,
    DENSE,
    SPARSE,
    Label,
    LexicalEncoder,
    complete_pages,
    page_filter,
    point_id,
    scope_filter,
    to_passage,
    to_payload,
)
from adapters.qdrant.shard import check_room, has_room_to_tidy, open_shard, replacing
from core.documents.chunking import embedding_text
from core.errors import Misconfigured, RetrievalUnavailable
from core.model import EVERYTHING, Candidate, EmbeddedPassage, IndexQuery, Outline, Passage, Scope

if TYPE_CHECKING:
    from qdrant_edge import EdgeShard, NamedVector, Point, PointId, Query


MOST = 2_000  # some four megabytes


class Passages:
    """Reads passages, and remembers them until somebody changes the shard and says so."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._read: dict[PointId, Passage] = {}

    def __len__(self) -> int:
        """Count what is remembered: at most as much as there is room for, or what was read last if that is more."""
        return len(self._read)

    def read(self, shard: EdgeShard, points: Collection[PointId]) -> dict[PointId, Passage]:
        """Return the passages that are there."""
        missing = [point for point in points if point not in self._read]
        if len(self._read) + len(missing) > self._most:
            self._read.clear()
            missing = list(points)
        if missing:
            records = shard.retrieve(missing, with_payload=True, with_vector=False)
            self._read.update((record.id, to_passage(record.payload)) for record in records if record.payload)
        return {point: self._read[point] for point in points if point in self._read}

    def forget(self) -> None:
        """Read everything anew."""
        self._read.clear()


class HybridSearch:
    """One hybrid query: both lists first, then the scores that are missing in either."""

    def __init__(self, shard: EdgeShard, lexical: LexicalEncoder, passages: Passages, query: IndexQuery) -> None:
        from qdrant_edge import Query

        self._shard = shard
        self._passages = passages
        self._filter = scope_filter(query.scope)
        self._sparse = Query.Nearest(lexical.query(query.text), using=SPARSE)
        self._dense = None if query.vector is None else Query.Nearest(list(query.vector), using=DENSE)

    def candidates(self, limit: int) -> list[Candidate]:
        """Return the union of the *limit* best of both lists; the dense scores are None where there is no vector."""
        lexical = self._scores(self._sparse, limit)
        dense = self._scores(self._dense, limit) if self._dense is not None else {}
        points = dict.fromkeys([*lexical, *dense])
        if self._dense is not None:
            dense |= self._missing(self._dense, lexical.keys() - dense.keys())
            lexical |= self._missing(self._sparse, dense.keys() - lexical.keys())
        passages = self._passages.read(self._shard, points)
        return [Candidate(passage, dense.get(point), lexical.get(point, 0.0)) for point, passage in passages.items()]

    def _missing(self, query: Query, points: AbstractSet[PointId]) -> dict[PointId, float]:
        """Score points that only the other list has found; one without a shared word is not found here either."""
        from qdrant_edge import Filter, HasIdCondition, QueryRequest, SearchParams

        if not points:
            return {}
        only = Filter(must=[HasIdCondition(set(points))])
        found = self._shard.query(
            QueryRequest(limit=len(points), query=query, filter=only, params=SearchParams(exact=True))
        )
        return {point.id: point.score for point in found}

    def _scores(self, query: Query, limit: int) -> dict[PointId, float]:
        from qdrant_edge import QuantizationSearchParams, QueryRequest, SearchParams

        exact_scores = QuantizationSearchParams(rescore=True)
        params = SearchParams(hnsw_ef=BREADTH, quantization=exact_scores)
        found = self._shard.query(QueryRequest(limit=limit, query=query, filter=self._filter, params=params))
        return {point.id: point.score for point in found}


Result = TypeVar("Result")

PAGE_OF_SCROLL = 5_000
ALL = 1_000_000  # more values than a facet will ever have


class EdgeIndex:
    """A `PassageIndex` that one process owns. Work runs on one thread: a query holds the interpreter anyway."""

    def __init__(self, folder: Path, *, embedder: str, dimension: int, passages: Passages | None = None) -> None:
        self._folder = folder
        self._label = Label(embedder, dimension)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")
        self._opened: tuple[EdgeShard, LexicalEncoder] | None = None
        self._passages = Passages() if passages is None else passages

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Return the union of both lists; a passage that only one of them found gets its other score too."""
        return await self._run(lambda shard, lexical: self._search(shard, lexical, query).candidates(limit))

    async def replace(self, url: str, passages: Sequence[EmbeddedPassage]) -> None:
        """Put the passages in the place of the page's old ones; nobody can search between the two steps."""
        await self._run(lambda shard, lexical: self._replace(shard, lexical, url, passages))

    async def prune(self, source: str, *, keep: Collection[str]) -> int:
        """Remove the pages of *source* that are not kept, and tidy the files up."""
        return await self._run(lambda shard, _: self._prune(shard, source, set(keep)))

    async def pages(self, source: str) -> Mapping[str, str]:
        """Return the content hash of each complete page of *source*."""
        return await self._run(lambda shard, _: complete_pages(_payloads(shard, source)))

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Count what there is in a scope."""
        return await self._run(lambda shard, _: _outline(shard, scope))

    async def aclose(self) -> None:
        """Write everything down and let go of the files."""
        if self._opened is not None:
            await self._run(lambda shard, _: shard.close())
            self._opened = None
        self._thread.shutdown()

    async def _run(self, work: Callable[[EdgeShard, LexicalEncoder], Result]) -> Result:
        def with_shard() -> Result:
            if self._opened is None:
                check_room(self._folder)
            self._opened = self._opened or (open_shard(self._folder, self._label), LexicalEncoder())
            return work(*self._opened)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, with_shard)
        except (Misconfigured, RetrievalUnavailable):
            raise
        except Exception as error:  # the engine raises plain exceptions of many kinds
            raise RetrievalUnavailable(
                f"The index in {self._folder} cannot be used. Is the disk full, or the folder not writable?"
            ) from error

    def _search(self, shard: EdgeShard, lexical: LexicalEncoder, query: IndexQuery) -> HybridSearch:
        return HybridSearch(shard, lexical, self._passages, query)

    def _replace(
        self, shard: EdgeShard, lexical: LexicalEncoder, url: str, passages: Sequence[EmbeddedPassage]
    ) -> None:
        from qdrant_edge import UpdateOperation

        self._passages.forget()
        if not passages:
            shard.update(UpdateOperation.delete_points_by_filter(page_filter(url)))
            return
        check_room(self._folder)
        new = [embedded.passage for embedded in passages]
        points = [_point(embedded, lexical) for embedded in passages]
        with replacing(self._folder, url, new):
            shard.update(UpdateOperation.upsert_points(points))
            old = page_filter(url, but=(passage.passage_id for passage in new))
            shard.update(UpdateOperation.delete_points_by_filter(old))

    def _prune(self, shard: EdgeShard, source: str, keep: set[str]) -> int:
        from qdrant_edge import UpdateOperation

        self._passages.forget()
        gone = {payload["page_url"] for payload in _payloads(shard, source)} - keep
        for url in gone:
            shard.update(UpdateOperation.delete_points_by_filter(page_filter(url)))
        if has_room_to_tidy(self._folder):
            shard.optimize()
        shard.flush()
        return len(gone)


def _point(embedded: EmbeddedPassage, lexical: LexicalEncoder) -> Point:
    from qdrant_edge import Point

    passage = embedded.passage
    vectors: dict[str, NamedVector] = {
        DENSE: list(embedded.vector),
        SPARSE: lexical.passage(embedding_text(passage)),
    }
    return Point(point_id(passage.passage_id), vectors, to_payload(passage))


def _payloads(shard: EdgeShard, source: str) -> Iterator[Mapping[str, Any]]:
    """Read what says which version of which page a passage belongs to."""
    from qdrant_edge import FieldCondition, Filter, MatchValue, ScrollRequest

    of_source = Filter(must=[FieldCondition(key="source", match=MatchValue(value=source))])
    offset = None
    while True:
        records, offset = shard.scroll(
            ScrollRequest(
                offset=offset,
                limit=PAGE_OF_SCROLL,
                filter=of_source,
                with_payload=["page_url", "content_hash", "page_length"],
            )
        )
        yield from (record.payload or {} for record in records)
        if offset is None:
            return


def _outline(shard: EdgeShard, scope: Scope) -> Outline:
    from qdrant_edge import CountRequest, FacetRequest

    open_to = scope_filter(scope)

    def values(key: str) -> tuple[str, ...]:
        hits = shard.facet(FacetRequest(key, limit=ALL, exact=True, filter=open_to)).hits
        return tuple(sorted(str(hit.value) for hit in hits if hit.value))

    return Outline(
        passages=shard.count(CountRequest(filter=open_to)),
        pages=len(values("page_url")),
        sources=values("source"),
        chapters=values("chapter"),
    )
