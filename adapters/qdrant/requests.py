"""What a Qdrant server is asked, in its client's own models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from adapters.qdrant.connection import FOREIGN, WrongSettings
from adapters.qdrant.points import DENSE, OPENS_AT, SPARSE, Label, LexicalEncoder, point_id, to_passage, to_payload
from core.documents.chunking import embedding_text
from core.model import Candidate, EmbeddedPassage, IndexQuery, Scope

if TYPE_CHECKING:
    from qdrant_client.http.models import Filter, PointStruct, QueryRequest, QueryResponse, VectorParams

Ask: TypeAlias = Callable[[Sequence["QueryRequest"]], Awaitable[Sequence["QueryResponse"]]]

STORED_AT = "stored_at"  # when a page was replaced; what tells its new passages from those about to be deleted


def dense_params(label: Label) -> dict[str, VectorParams]:
    """Return how vectors are stored: whole on disk, with int8 copies in memory, so that a large collection fits."""
    from qdrant_client.models import Distance, ScalarQuantization, ScalarQuantizationConfig, ScalarType, VectorParams

    copies = ScalarQuantizationConfig(type=ScalarType.INT8, quantile=0.99, always_ram=True)
    params = VectorParams(
        size=label.dimension,
        distance=Distance.COSINE,
        on_disk=True,
        quantization_config=ScalarQuantization(scalar=copies),
    )
    return {DENSE: params}


def to_point(embedded: EmbeddedPassage, lexical: LexicalEncoder, *, stored_at: int) -> PointStruct:
    """Return a passage as the server keeps it."""
    from qdrant_client.models import PointStruct, SparseVector

    passage = embedded.passage
    words = lexical.passage(embedding_text(passage))
    return PointStruct(
        id=point_id(passage.passage_id),
        vector={
            DENSE: list(embedded.vector),
            SPARSE: SparseVector(indices=list(words.indices), values=list(words.values)),
        },
        payload={**to_payload(passage), STORED_AT: stored_at},
    )


def pages_in(urls: Sequence[str], *, but: Sequence[int] = ()) -> Filter:
    """Choose the passages of some pages, but for the given points."""
    from qdrant_client.models import FieldCondition, Filter, HasIdCondition, MatchAny

    of_pages = FieldCondition(key="page_url", match=MatchAny(any=list(urls)))
    return Filter(must=[of_pages], must_not=[HasIdCondition(has_id=list(but))] if but else None)


def of_source(source: str) -> Filter:
    """Choose the passages of one source."""
    from qdrant_client.models import FieldCondition, Filter, MatchValue

    return Filter(must=[FieldCondition(key="source", match=MatchValue(value=source))])


def open_to(scope: Scope) -> Filter | None:
    """Return the filter for the passages that may be found; None if all may."""
    from qdrant_client.models import FieldCondition, Filter, MatchAny, Range

    must: list[Any] = [
        FieldCondition(key=key, match=MatchAny(any=list(values)))
        for key, values in (("source", scope.sources), ("chapter", scope.chapters))
        if values
    ]
    must_not: list[Any] = []
    if scope.open_at is not None:
        must_not.append(FieldCondition(key=OPENS_AT, range=Range(gt=scope.open_at.timestamp())))
    return Filter(must=must or None, must_not=must_not or None) if must or must_not else None


class RemoteSearch:
    """One hybrid query in two requests: both lists, then the scores that are missing in either."""

    def __init__(self, ask: Ask, lexical: LexicalEncoder, query: IndexQuery, *, breadth: int | None) -> None:
        """Keep *breadth* candidates while walking the graph; None reads everything."""
        from qdrant_client.models import SparseVector

        self._ask = ask
        self._breadth = breadth
        self._filter = open_to(query.scope)
        self._vectors: dict[str, Any] = {}
        self._scores: dict[str, dict[int, float]] = {SPARSE: {}, DENSE: {}}
        self._payloads: dict[int, Mapping[str, Any]] = {}
        words = lexical.query(query.text)
        if words.indices:  # nothing but stop words find nothing, and a server need not accept a vector of nothing
            self._vectors[SPARSE] = SparseVector(indices=list(words.indices), values=list(words.values))
        if query.vector is not None:
            self._vectors[DENSE] = list(query.vector)

    async def candidates(self, limit: int) -> list[Candidate]:
        """Return the union of the *limit* best of both lists. Raises `WrongSettings` for what is no answer of ours."""
        try:
            return await self._candidates(limit)
        except (KeyError, TypeError, ValueError) as error:  # too few lists, another's points, payloads of another shape
            raise WrongSettings(FOREIGN) from error

    async def _candidates(self, limit: int) -> list[Candidate]:
        """Search; the dense scores are None where there is no vector.

        A point that has no score by meaning although it was looked for was deleted between the two requests.
        """
        await self._rank(limit)
        self._payloads = newest(self._payloads)
        await self._fill()
        found = [
            Candidate(_passage(payload), self._scores[DENSE].get(point), self._scores[SPARSE].get(point, 0.0))
            for point, payload in self._payloads.items()
        ]
        return [one for one in found if one.dense is not None or DENSE not in self._vectors]

    async def _rank(self, limit: int) -> None:
        from qdrant_client.models import QuantizationSearchParams, QueryRequest, SearchParams

        exact_scores = QuantizationSearchParams(rescore=True)
        params = SearchParams(hnsw_ef=self._breadth, quantization=exact_scores) if self._breadth else None
        await self._score(
            {
                name: QueryRequest(
                    query=vector, using=name, filter=self._filter, params=params, limit=limit, with_payload=True
                )
                for name, vector in self._vectors.items()
            }
        )

    async def _fill(self) -> None:
        """Score what only the other list has found; a point without a shared word is not found here either."""
        from qdrant_client.models import Filter, HasIdCondition, QueryRequest, SearchParams

        requests: dict[str, QueryRequest] = {}
        for name, vector in self._vectors.items():
            missing = [point for point in self._payloads if point not in self._scores[name]]
            if missing:
                only = Filter(must=[HasIdCondition(has_id=[*missing])])
                params = SearchParams(exact=True) if self._breadth else None
                requests[name] = QueryRequest(
                    query=vector, using=name, filter=only, params=params, limit=len(missing), with_payload=False
                )
        await self._score(requests)

    async def _score(self, requests: Mapping[str, QueryRequest]) -> None:
        if not requests:
            return
        for name, response in zip(requests, await self._ask([*requests.values()]), strict=True):
            for point in response.points:
                self._scores[name][int(point.id)] = point.score
                if point.payload:
                    self._payloads[int(point.id)] = point.payload


def newest(payloads: Mapping[int, Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    """Leave out what a page that is just being replaced still holds of its old passages."""
    latest: dict[str, int] = {}
    for payload in payloads.values():
        latest[payload["page_url"]] = max(latest.get(payload["page_url"], 0), payload[STORED_AT])
    return {point: payload for point, payload in payloads.items() if payload[STORED_AT] == latest[payload["page_url"]]}


def _passage(payload: Mapping[str, Any]) -> Any:
    return to_passage({key: value for key, value in payload.items() if key != STORED_AT})
