"""The index on a Qdrant server, for a community that has one; several processes may share it."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.qdrant.collections import Collections
from adapters.qdrant.connection import FOREIGN, Missing, QdrantConnection, QdrantTimeouts, WrongSettings, payloads
from adapters.qdrant.points import (
    BREADTH,
    DENSE,
    SPARSE,
    STORED_AT,
    VECTORS,
    Label,
    complete_pages,
    lexical_encoder,
    point_id,
    scope_filter,
    to_candidate,
    to_payload,
    to_worded,
    unseen,
    with_parts,
)
from adapters.qdrant.records import ServerRecords
from adapters.retry import INDEX, CircuitBreaker, RetryPolicy
from core.documents.chunking import embedding_text
from core.errors import Misconfigured, RetrievalUnavailable
from core.events import Observer, Retried, unobserved
from core.messages.wording import counted
from core.model import EVERYTHING, Candidate, EmbeddedPassage, IndexQuery, Outline, Scope, SourceRecord

if TYPE_CHECKING:
    from qdrant_client.http.models import Filter, PointStruct, QueryRequest, UpdateOperation
    from qdrant_edge import Bm25


def to_point(embedded: EmbeddedPassage, lexical: Bm25, *, stored_at: int) -> PointStruct:
    """Return a passage as the server keeps it."""
    from qdrant_client.models import PointStruct, SparseVector

    passage = embedded.passage
    words = lexical.embed_document(with_parts(embedding_text(passage)))
    return PointStruct(
        id=point_id(passage.passage_id),
        vector={
            DENSE: list(embedded.vector),
            SPARSE: SparseVector(indices=list(words.indices), values=list(words.values)),
        },
        payload={**to_payload(passage), STORED_AT: stored_at},
    )


def pages_in(source: str, urls: Sequence[str], *, but: Sequence[int] = ()) -> Filter:
    """Choose the passages that a source has of some pages, but for the given points."""
    from qdrant_client.models import FieldCondition, Filter, HasIdCondition, MatchAny, MatchValue

    of_pages = FieldCondition(key="page_url", match=MatchAny(any=list(urls)))
    of_source = FieldCondition(key="source", match=MatchValue(value=source))
    return Filter(must=[of_source, of_pages], must_not=[HasIdCondition(has_id=list(but))] if but else None)


def open_to(scope: Scope) -> Filter | None:
    """Return the filter for the passages that may be found; None if all may."""
    from qdrant_client import models

    return scope_filter(scope, models, models.Range)


def newest(payloads: Mapping[int, Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    """Leave out what a page that is just being replaced still holds of its old passages."""
    latest: dict[tuple[str, str], int] = {}
    pages = {point: (payload["source"], payload["page_url"]) for point, payload in payloads.items()}
    for point, page in pages.items():
        latest[page] = max(latest.get(page, 0), payloads[point][STORED_AT])
    return {point: payload for point, payload in payloads.items() if payload[STORED_AT] == latest[pages[point]]}


Result = TypeVar("Result")

TIMEOUTS = QdrantTimeouts()
PATIENCE = 3.0  # seconds: whoever searches gives up before a try does
PARTS = ["page_url", "content_hash", "page_length"]
POINTS_OF_A_REQUEST = 100  # of 1,536 numbers: a few megabytes, where a server takes 32
URLS_OF_A_REQUEST = 100
OLDEST = (1, 16)  # the first version that keeps metadata with a collection
EMPTY = Outline(passages=0, pages=0, sources=(), chapters=())


@dataclass(eq=False, repr=False)
class ServerIndex:
    """A `PassageIndex` on a server."""

    url: InitVar[str]
    _: KW_ONLY
    embedder: InitVar[str]
    dimension: InitVar[int]
    collection: str = "documents"
    api_key: InitVar[str | None] = None
    retries: RetryPolicy = INDEX
    timeouts: QdrantTimeouts = TIMEOUTS
    observer: Observer = unobserved

    def __post_init__(self, url: str, embedder: str, dimension: int, api_key: str | None) -> None:
        retries = self.retries.observed(self.observer, partial(Retried, "index"))
        breaker = CircuitBreaker("index", self.observer, PATIENCE, self.retries.clock)
        self._connection = QdrantConnection(url, api_key or "", retries, self.timeouts, breaker)
        self._collections = Collections(self._connection, self.collection, Label(embedder, dimension))
        self._records = ServerRecords(self._connection, self.collection)

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Return the union of both lists; a passage that only one of them found gets its other score too."""

        async def search(name: str) -> Sequence[Candidate]:
            try:
                return await self._search(name, query, limit)
            except (KeyError, TypeError, ValueError) as error:  # too few lists, or points and payloads of another's
                raise WrongSettings(FOREIGN) from error

        return await self._searching(search, otherwise=())

    async def _search(self, collection: str, query: IndexQuery, limit: int) -> list[Candidate]:
        """Search in two requests: both lists, then the scores that are missing in either and the best of each word.

        A point without a shared word is found by meaning alone. One without a score by meaning, although that was
        looked for, was deleted between the two requests.
        """
        from qdrant_client import models
        from qdrant_client.models import QueryRequest, SearchParams

        vectors, scope = self._vectors(query), open_to(query.scope)
        scores = defaultdict[str, dict[int, float]](dict)
        payloads: dict[int, Mapping[str, Any]] = {}
        walk = SearchParams(hnsw_ef=BREADTH, quantization=models.QuantizationSearchParams(rescore=True))
        exact = SearchParams(exact=True)
        ranked: dict[str, Any] = {"filter": scope, "params": walk, "limit": limit, "with_vector": [SPARSE]}
        requests = {
            name: QueryRequest(query=one, using=name, with_payload=True, **ranked) for name, one in vectors.items()
        }
        await self._score(collection, requests, scores, payloads)
        words: Sequence[int] = vectors[SPARSE].indices if SPARSE in vectors and payloads else ()
        alone = {str(word): models.SparseVector(indices=[word], values=[1.0]) for word in words}
        found = newest(payloads)
        only_best: dict[str, Any] = {"using": SPARSE, "limit": 1, "with_payload": False}
        requests = {name: QueryRequest(query=word, **only_best) for name, word in alone.items()}
        for name, vector in vectors.items():
            if missing := [point for point in found if point not in scores[name]]:
                only = models.Filter(must=[models.HasIdCondition(has_id=[*missing])])
                rest: dict[str, Any] = {"filter": only, "params": exact, "limit": len(missing), "with_payload": False}
                requests[name] = QueryRequest(query=vector, using=name, **rest)
        await self._score(collection, requests, scores, {})
        best = {int(name): max(scores[name].values(), default=None) for name in alone}
        weights, dense, by_words = await self._weights(collection, best), scores[DENSE], scores[SPARSE]
        return [
            to_candidate(read, dense.get(point), by_words.get(point, 0.0), weights, self._lexical)
            for point, read in ((point, to_worded(each, each[VECTORS])) for point, each in found.items())
            if DENSE not in vectors or point in scores[DENSE]
        ]

    async def _score(
        self,
        collection: str,
        requests: Mapping[str, QueryRequest],
        scores: Mapping[str, dict[int, float]],
        payloads: dict[int, Mapping[str, Any]],
    ) -> None:
        if not requests:
            return
        asked = self._connection.ask(lambda client: client.query_batch_points(collection, [*requests.values()]))
        for name, response in zip(requests, await asked, strict=True):
            for point in response.points:
                scores[name][int(point.id)] = point.score
                if point.payload:
                    payloads[int(point.id)] = {**point.payload, VECTORS: point.vector or {}}

    async def _weights(self, collection: str, best: Mapping[int, float | None]) -> Mapping[int, float]:
        """Return what each word adds to the passage that it fits *best*; None is a word of no passage."""
        if None not in best.values():
            return {word: each or 0.0 for word, each in best.items()}
        counted = await self._connection.ask(lambda client: client.count(collection, exact=False))
        return {word: unseen(counted.count) if each is None else each for word, each in best.items()}

    def _vectors(self, query: IndexQuery) -> dict[str, Any]:
        """Return what is looked for; nothing but stop words find nothing, and a server may refuse an empty vector."""
        from qdrant_client.models import SparseVector

        words = self._lexical.embed_query(with_parts(query.text))
        sparse = SparseVector(indices=list(words.indices), values=list(words.values)) if words.indices else None
        dense = None if query.vector is None else list(query.vector)
        return {name: vector for name, vector in ((SPARSE, sparse), (DENSE, dense)) if vector is not None}

    async def replace(self, source: str, url: str, passages: Sequence[EmbeddedPassage]) -> None:
        """Replace a page's passages, so that no search sees both.

        A server has no transactions: the operations of one request are done one after another, and another client can
        search in between. So new passages bear a later time than old ones, and a search keeps the latest of each page
        that it has found. What remains: for that moment a search may find fewer passages of the page than it has.
        A crash in between leaves a page that `pages` does not list as complete, and the next ingestion does it again.
        """
        requests = self._steps(source, url, passages)
        try:
            await self._send(requests)
        except Missing:  # the collection was deleted since it was last seen
            self._collections.forget()
            await self._send(requests)

    async def prune(self, source: str, *, keep: Collection[str]) -> int:
        """Remove the pages of *source* that are not kept; the end of a source, so the moment to switch over."""
        from qdrant_client.models import FilterSelector

        try:
            urls = {payload["page_url"] async for payload in self._payloads(source)}
            gone = sorted(urls - set(keep))
            for start in range(0, len(gone), URLS_OF_A_REQUEST):
                old = FilterSelector(filter=pages_in(source, gone[start : start + URLS_OF_A_REQUEST]))
                await self._connection.ingest(
                    lambda client, old=old: client.delete(self._collections.own, old, wait=True)
                )
            await self._collections.finish(source)
        except Missing:
            return 0
        return len(gone)

    async def pages(self, source: str) -> Mapping[str, str]:
        """Return the content hash of each complete page of *source* in the collection that is being filled."""
        try:
            return complete_pages([payload async for payload in self._payloads(source)])
        except Missing:
            return {}

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Count what can be searched in a scope."""
        return await self._searching(partial(self._outline, scope), otherwise=EMPTY)

    async def sources(self) -> Sequence[SourceRecord]:
        """Return the records, and those of sources without one, also where they have to be read again, as of now."""
        found = self._searching(lambda name: self._collections.values(name, "source"), otherwise=(), is_any_fine=True)
        names, records = await asyncio.gather(found, self._records.read())
        known = {**{name: SourceRecord(name=name) for name in names}, **records}
        return [known[name] for name in sorted(known)]

    async def stamp(self, source: str, url: str, content_hash: str) -> None:
        """Write another hash into the payloads of a page."""
        from qdrant_client.models import SetPayload, SetPayloadOperation

        bears = SetPayload(payload={"content_hash": content_hash}, filter=pages_in(source, [url]))
        await self._send([[SetPayloadOperation(set_payload=bears)]])

    async def record(self, record: SourceRecord) -> None:
        """Write a record beside the passages."""
        await self._records.put(record)

    async def remove(self, source: str) -> int:
        """Remove a source; its record goes last, since without one its passages would be the first community's."""
        removed = await self.prune(source, keep=())
        await self._records.drop(source)
        return removed

    async def check(self) -> str:
        """Return in a line which server this is and what it holds. Raises `Misconfigured` or `RetrievalUnavailable`."""
        try:
            version = (await self._connection.look(lambda client: client.info())).version
            parts = version.split(".")[:2]
            if all(part.isdigit() for part in parts) and tuple(map(int, parts)) < OLDEST:  # it would forget the label
                needed = ".".join(map(str, OLDEST))
                says = f"The Qdrant server is version {version}; Footnote needs {needed} or newer. Update it."
                raise Misconfigured(says)
            outline = await self.outline()
        except WrongSettings as error:
            raise Misconfigured(str(error)) from error.__cause__
        except Missing as error:
            raise RetrievalUnavailable(str(error)) from error.__cause__
        holds = (
            counted(outline.pages, "page") if outline.pages else "empty. Read documents first: footnote ingest FOLDER"
        )
        key = " (QDRANT_API_KEY travels unencrypted; use https)" if self._connection.shows_key else ""
        return f"Qdrant {version} at {self._connection.address}{key}, collection {self.collection}: {holds}"

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._connection.aclose()

    @cached_property
    def _lexical(self) -> Bm25:
        return lexical_encoder()

    async def _searching(
        self, work: Callable[[str], Awaitable[Result]], *, otherwise: Result, is_any_fine: bool = False
    ) -> Result:
        """Do the work on the collection that is searched; look again for it if it has gone."""
        name = await self._collections.searched(is_any_fine=is_any_fine)
        if name is None:
            return otherwise
        try:
            return await work(name)
        except Missing:
            self._collections.forget()
        name = await self._collections.searched(is_any_fine=is_any_fine)
        return otherwise if name is None else await work(name)

    def _steps(self, source: str, url: str, passages: Sequence[EmbeddedPassage]) -> list[list[UpdateOperation]]:
        """Return requests of operations: the new passages, and with the last of them the end of the old ones."""
        from qdrant_client.models import DeleteOperation, FilterSelector, PointsList, UpsertOperation

        now = time.time_ns()
        points = [to_point(embedded, self._lexical, stored_at=now) for embedded in passages]
        old = FilterSelector(filter=pages_in(source, [url], but=[int(point.id) for point in points]))
        requests: list[list[UpdateOperation]] = [
            [UpsertOperation(upsert=PointsList(points=points[start : start + POINTS_OF_A_REQUEST]))]
            for start in range(0, len(points), POINTS_OF_A_REQUEST)
        ]
        return [*requests[:-1], [*(requests[-1] if requests else ()), DeleteOperation(delete=old)]]

    async def _send(self, requests: Sequence[Sequence[UpdateOperation]]) -> None:
        name = await self._collections.filled()
        for operations in requests:
            await self._connection.ingest(
                lambda client, operations=operations: client.batch_update_points(name, operations, wait=True)
            )

    async def _payloads(self, source: str) -> AsyncIterator[Mapping[str, Any]]:
        """Read what says which version of which page a passage belongs to."""
        wanted: dict[str, Any] = {"scroll_filter": open_to(Scope(sources=(source,))), "with_payload": PARTS}
        async for payload in payloads(self._connection.ingest, self._collections.own, **wanted):
            yield payload

    async def _outline(self, scope: Scope, name: str) -> Outline:
        chosen = open_to(scope)
        counted = await self._connection.ask(lambda client: client.count(name, chosen, exact=True))
        return Outline(
            passages=counted.count,
            pages=len(await self._collections.values(name, "page_url", chosen)),
            sources=await self._collections.values(name, "source", chosen),
            chapters=await self._collections.values(name, "chapter", chosen),
        )
