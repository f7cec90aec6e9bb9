"""A retriever made of an embedder, an index and, if there is one, a reranker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain
from statistics import fmean
from typing import Any, TypeVar

from core.documents.excerpt import respelled
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

LEXICAL = Calibration(midpoint=0.45, slope=8.0)
"""For searching by words alone, by their share; less sure than a cosine. Measured by the same command."""

Result = TypeVar("Result")

CANDIDATES = 25  # of each list; both scores are filled in for all, so more of them change hardly any ranking
NEAREST = 3  # for somebody to look into where nothing is relevant
MEANING = 0.5  # of the rank, beside the share of words
NAMED = 0.04  # of the share that the page's title has: measured by `python -m bench.finding rankings`
RERANKED = 30
EMBEDDING = 0.5  # of the time that a search has, so that there is time to search by words
RERANKING = 0.8  # of it, from its beginning on, so that there is time to do without


@dataclass(slots=True)
class _Evidence:
    """What speaks for a passage: its rank, averaged over the queries that were asked, and its score by each of them."""

    passage: Passage
    rank: float = 0.0
    scores: list[float] = field(default_factory=list[float])


@dataclass
class HybridRetriever:
    """Ranks by cosine and share of words in equal parts; scores by both too, as the embedder's calibration weighs them.

    Words order what is about the topic, and meaning tells what is: of two foreign questions one shares some word with
    any corpus, so the score that people see and the threshold cuts counts words for less, and the page's title, which
    says nothing of the passage itself, not at all. It may also be the reranker's own. While that is down, the other
    stands in for it, and nothing is said: both are calibrated to the same boundary.
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

        What is misspelled is looked for as what was found spells it.

        It is given up once the question has no time left for searching, of which the embedder and the reranker leave
        some for what can be done without them.
        """
        start, time = self.clock(), (waiting or Waiting()).search()
        texts = [query, f"{earlier}\n{query}"] if earlier else [query]
        queries = await self._queries(texts, scope, time)
        embedded = self.clock()
        try:
            async with time.take(Awaited.SEARCH):
                found = await _together([self.index.candidates(each, limit=CANDIDATES) for each in queries])
                spelled = [self._spelled(text, found) for text in texts]
                if spelled != texts:
                    texts, queries = spelled, await self._queries(spelled, scope, time)
                    found = await _together([self.index.candidates(each, limit=CANDIDATES) for each in queries])
                lexical_only = queries[0].vector is None
                asked = texts[-1] if is_about_both else texts[0]
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

    def _spelled(self, text: str, found: Sequence[Sequence[Candidate]]) -> str:
        passages = (f"{each.passage.heading}\n{each.passage.text}" for each in chain(*found))
        return respelled(text, passages, self.embedder.count_tokens)

    async def _queries(self, texts: Sequence[str], scope: Scope, time: SearchTime) -> Sequence[IndexQuery]:
        """Return a query for each text, all of them without vectors where the embedder does not give them in time."""
        vectors: Sequence[Vector | None] = [None] * len(texts)
        try:
            async with time.take(Awaited.EMBEDDER, EMBEDDING, EmbeddingUnavailable):
                vectors = await _together([self.embedder.embed_query(text) for text in texts])
        except EmbeddingUnavailable as error:
            self.observer(ServiceFailed("embedder", str(error)))
        return [IndexQuery(text, vector, scope) for text, vector in zip(texts, vectors, strict=True)]

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

        The ranks are averaged over all queries; what a query did not find at all counts nothing there.
        """
        calibration = LEXICAL if lexical_only else self.embedder.calibration
        evidence: dict[str, _Evidence] = {}
        for number, candidates in enumerate(found):
            for each in candidates:
                item = evidence.setdefault(each.passage.passage_id, _Evidence(each.passage, scores=[0.0] * len(found)))
                dense, words = each.dense or 0.0, each.lexical or 0.0
                item.rank += (MEANING * dense + (1 - MEANING) * words + NAMED * each.named) / len(found)
                item.scores[number] = words if lexical_only else calibration.evidence(dense, each.words)
        ranked = sorted(evidence.values(), key=lambda item: (-item.rank, item.passage.passage_id))
        if self.reranker is not None and not lexical_only:
            try:
                passages = [item.passage for item in ranked[:RERANKED]]
                async with time.take(Awaited.RERANKER, RERANKING):
                    scores = await self.reranker.rerank(query, passages)
                hits = [Hit(passage, score) for passage, score in zip(passages, scores, strict=True)]
                return sorted(hits, key=lambda hit: -hit.score)
            except RetrievalUnavailable as error:  # reranking refines; what was found still answers without it
                self.observer(ServiceFailed("reranker", str(error)))
        hits = list[Hit]()
        for item in ranked:
            # A question that stands alone is not made worse by those before, and one that does not is made better.
            best = max(item.scores) if is_about_both else max(item.scores[0], fmean(item.scores))
            hits.append(Hit(item.passage, calibration.relevance(best)))
        return hits


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
