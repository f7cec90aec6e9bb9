"""A retriever made of an embedder, an index and, if there is one, a reranker."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeVar

from core.errors import EmbeddingUnavailable, Misconfigured, RetrievalUnavailable
from core.events import Observer, ServiceFailed, unobserved
from core.model import (
    Awaited,
    Calibration,
    Candidate,
    Hit,
    IndexQuery,
    Outline,
    Passage,
    Scope,
    SearchResult,
    SearchTime,
    Vector,
    Waiting,
)
from core.ports import Embedder, PassageIndex, Reranker

LEXICAL = Calibration(midpoint=1.7, slope=3.3)
"""For searching by words alone; less sure than a cosine. Measured by the same command."""


def rarity(bm25: float, passages: int) -> float:
    """Make BM25 sums of indexes of different sizes comparable: a rare word weighs the logarithm of their number."""
    return bm25 / math.log(1 + max(passages, 1))


Result = TypeVar("Result")

CANDIDATES = 20  # of each list; both scores are filled in for all, so more of them changed no ranking
NEAREST = 3  # for somebody to look into where nothing is relevant
DENSE_WEIGHT = 0.5  # .4 to .6 are equally good on the measured sets
RERANKED = 30
EMBEDDING = 0.5  # of the time that a search has, so that there is time to search by words
RERANKING = 0.8  # of it, from its beginning on, so that there is time to do without


@dataclass(slots=True)
class _Evidence:
    """What speaks for a passage, averaged over the queries that were asked; the `best` are the highest cosine and BM25.

    `alone` is the first query's cosine.
    """

    passage: Passage
    rank: float = 0.0
    dense: float = 0.0
    alone: float = 0.0
    lexical: float = 0.0
    best: tuple[float, float] = (0.0, 0.0)


@dataclass
class HybridRetriever:
    """Ranks by the convex combination of cosine and BM25; scores by the embedder's calibration.

    The combination divides BM25 by the best of its query, so it ranks well but means nothing by itself. The score that
    people see and the threshold cuts is therefore the calibrated cosine, or the reranker's own. While the reranker is
    down, the cosine stands in for it, and nothing is said: both are calibrated to the same boundary.
    """

    embedder: Embedder
    index: PassageIndex
    _: KW_ONLY
    clock: Callable[[], float]
    reranker: Reranker | None = None
    observer: Observer = unobserved

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
        """Return the best passages, best first; by words alone while the embedder is down.

        It is given up once the question has no time left for searching, of which the embedder and the reranker leave
        some for what can be done without them.
        """
        start, time = self.clock(), (waiting or Waiting()).search()
        texts = [query, f"{earlier}\n{query}"] if earlier else [query]
        vectors = await self._vectors(texts, time)
        embedded = self.clock()
        queries = [IndexQuery(text, vector, scope) for text, vector in zip(texts, vectors, strict=True)]
        lexical_only = vectors[0] is None
        try:
            async with time.take(Awaited.SEARCH):
                found = await _together([self.index.candidates(each, limit=CANDIDATES) for each in queries])
                asked = texts[-1] if is_about_both else query
                ranked = self._ranked(asked, found, time, lexical_only=lexical_only, is_about_both=is_about_both)
                hits = _distinct(await ranked)
                has_documents = bool(hits) or await self._has_documents(scope)
        except (RetrievalUnavailable, Misconfigured) as error:  # whoever asks cannot fix the settings either
            self.observer(ServiceFailed("index", str(error)))
            raise RetrievalUnavailable(str(error)) from error
        end = self.clock()
        return SearchResult(
            query=query,
            hits=tuple(hits[:limit]),
            nearest=tuple(sorted(hits, key=lambda hit: -hit.score)[:NEAREST]),
            total_count=len({candidate.passage.passage_id for candidates in found for candidate in candidates}),
            query_time_ms=(embedded - start) * 1000,
            search_time_ms=(end - embedded) * 1000,
            total_time_ms=(end - start) * 1000,
            lexical_only=lexical_only,
            has_documents=has_documents,
        )

    async def outline(self, scope: Scope, *, waiting: Waiting | None = None) -> Outline:
        """Return what there is to find in a scope, in the time for searching. Raises `RetrievalUnavailable`."""
        async with (waiting or Waiting()).search().take(Awaited.SEARCH):
            return await self.index.outline(scope)

    async def _has_documents(self, scope: Scope) -> bool:
        """Return whether there is anything to search in the sources of a scope, whatever its chapters."""
        if scope.sources is not None and not scope.sources:
            return False
        return (await self.index.outline(Scope(sources=scope.sources))).passages > 0

    async def _vectors(self, texts: Sequence[str], time: SearchTime) -> Sequence[Vector | None]:
        """Return a vector for each text, or none at all where the embedder does not give them in time."""
        try:
            async with time.take(Awaited.EMBEDDER, EMBEDDING, EmbeddingUnavailable):
                return await _together([self.embedder.embed_query(text) for text in texts])
        except EmbeddingUnavailable as error:
            self.observer(ServiceFailed("embedder", str(error)))
            return [None] * len(texts)

    async def _ranked(
        self,
        query: str,
        found: Sequence[Sequence[Candidate]],
        time: SearchTime,
        *,
        lexical_only: bool,
        is_about_both: bool,
    ) -> Sequence[Hit]:
        """Return everything that was found with its relevance, best first.

        The evidence is averaged over all queries; what a query did not find at all counts nothing there.
        """
        evidence: dict[str, _Evidence] = {}
        for number, candidates in enumerate(found):
            best = max((candidate.lexical or 0.0 for candidate in candidates), default=0.0) or 1.0
            for candidate in candidates:
                item = evidence.setdefault(candidate.passage.passage_id, _Evidence(candidate.passage))
                dense, lexical = candidate.dense or 0.0, candidate.lexical or 0.0
                item.alone = dense if number == 0 else item.alone
                item.dense += dense / len(found)
                item.lexical += lexical / len(found)
                item.best = (max(item.best[0], dense), max(item.best[1], lexical))
                item.rank += (DENSE_WEIGHT * dense + (1 - DENSE_WEIGHT) * lexical / best) / len(found)
        ranked = sorted(evidence.values(), key=lambda item: (-item.rank, item.passage.passage_id))
        if lexical_only:
            size = (await self.index.outline()).passages if ranked else 0
            sums = ((item.passage, item.best[1] if is_about_both else item.lexical) for item in ranked)
            return [Hit(passage, LEXICAL.relevance(rarity(bm25, size))) for passage, bm25 in sums]
        if self.reranker is not None:
            try:
                passages = [item.passage for item in ranked[:RERANKED]]
                async with time.take(Awaited.RERANKER, RERANKING):
                    scores = await self.reranker.rerank(query, passages)
                hits = [Hit(passage, score) for passage, score in zip(passages, scores, strict=True)]
                return sorted(hits, key=lambda hit: -hit.score)
            except RetrievalUnavailable as error:  # reranking refines; what was found still answers without it
                self.observer(ServiceFailed("reranker", str(error)))
        calibration = self.embedder.calibration
        cosines = ((each.passage, each.best[0] if is_about_both else max(each.alone, each.dense)) for each in ranked)
        return [Hit(passage, calibration.relevance(cosine)) for passage, cosine in cosines]


def _distinct(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Leave out what says the same under the same heading, since two sources hold the same page; the better stays."""
    found: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        found.setdefault((hit.passage.heading, hit.passage.text), hit)
    return [*found.values()]


async def _together(calls: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Make several calls at once; if one fails, the others are left."""
    tasks = [asyncio.create_task(call) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
