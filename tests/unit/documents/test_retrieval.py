"""Ranking and scoring what an embedder and an index give."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pytest

from core.documents.retrieval import CANDIDATES, LEXICAL, HybridRetriever
from core.errors import EmbeddingUnavailable, FootnoteError, Misconfigured, RetrievalUnavailable
from core.events import Event, ServiceFailed
from core.model import (
    EVERYTHING,
    Calibration,
    Candidate,
    EmbeddedPassage,
    Hit,
    IndexQuery,
    Outline,
    Passage,
    Scope,
    SearchResult,
    SourceRecord,
    Vector,
)
from core.ports import Reranker
from tests.builders import passage
from tests.fakes.clock import Clock
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex

A, B, C = (passage(f"Text {name}.", url=f"https://docs.example/{name}") for name in "abc")


class ScriptedIndex:
    """Gives the candidates that belong to a query's words, and keeps the queries; only searching is possible."""

    def __init__(self, found: Mapping[str, Sequence[Candidate]]) -> None:
        self.asked: list[tuple[IndexQuery, int]] = []
        self._found = found

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Give what the script says."""
        self.asked.append((query, limit))
        return self._found[query.text]

    async def replace(self, source: str, url: str, passages: Sequence[EmbeddedPassage]) -> None:
        """Nothing is written here."""
        raise NotImplementedError

    async def prune(self, source: str, *, keep: Collection[str]) -> int:
        """Nothing is removed here."""
        raise NotImplementedError

    async def pages(self, source: str) -> Mapping[str, str]:
        """Nothing is listed here."""
        raise NotImplementedError

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Give the size that a real corpus has."""
        return Outline(passages=3_793, pages=2, sources=("docs",), chapters=())

    async def sources(self) -> Sequence[SourceRecord]:
        """Name the one of the outline."""
        return [SourceRecord(name="docs")]

    async def record(self, record: SourceRecord) -> None:
        """Nothing is written here."""
        raise NotImplementedError

    async def stamp(self, source: str, url: str, content_hash: str) -> None:
        """Nothing is written here either."""
        raise NotImplementedError

    async def remove(self, source: str) -> int:
        """Nothing is taken out."""
        raise NotImplementedError


class ListReranker:
    """Gives the scores that belong to the passages' ids, and keeps what it was asked."""

    name, calibration = "list", Calibration(midpoint=0.5, slope=1.0)

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.asked: list[tuple[str, list[Passage]]] = []
        self._scores = scores

    async def rerank(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Score the passages."""
        self.asked.append((query, list(passages)))
        return [self._scores[one.passage_id] for one in passages]


def relevance(cosine: float) -> float:
    """What the fake embedder's calibration makes of a cosine."""
    return 1 / (1 + math.exp(-10 * (cosine - 0.5)))


def scores(result: SearchResult) -> list[tuple[str, float]]:
    """The last letter of each hit's page, with its score."""
    return [(hit.passage.page_url[-1], round(hit.score, 6)) for hit in result.hits]


async def search(found: Mapping[str, Sequence[Candidate]], *, reranker: Reranker | None = None) -> SearchResult:
    """Search for `q` over a scripted index, after the other query if there are two."""
    earlier = next((text.partition("\n")[0] for text in found if "\n" in text), "")
    retriever = HybridRetriever(HashEmbedder(), ScriptedIndex(found), clock=Clock(), reranker=reranker)
    return await retriever.search("q", limit=5, scope=Scope(), earlier=earlier)


async def test_what_two_sources_hold_is_found_once() -> None:
    """The better one of each passage stays, and what says something else under the same heading."""
    texts = (("Same.", "a", 0.5), ("Same.", "b", 0.9), ("Other.", "c", 0.4))
    found = [Candidate(passage(text, url=f"https://docs.example/{name}"), dense, 1.0) for text, name, dense in texts]

    result = await search({"q": found})

    assert [letter for letter, _ in scores(result)] == ["b", "c"]


@pytest.mark.promise("abstains")
async def test_the_nearest_are_those_of_the_highest_score_among_all() -> None:
    """Words put others in front, of which there are more than are asked for."""
    wordy = [Candidate(passage(f"Text {n}.", url=f"https://docs.example/{n}"), 0.1, 1.0) for n in range(6)]

    result = await search({"q": [*wordy, Candidate(C, 0.4, None)]})

    assert [name for name, _ in scores(result)] == ["0", "1", "2", "3", "4"]
    assert result.nearest[0] == Hit(C, relevance(0.4))
    assert len(result.nearest) == 3


async def test_passages_are_ranked_by_cosine_words_and_title_and_scored_by_the_calibration() -> None:
    """The ranks are .4+.08 for a, .2+.5 for b, and .45+.05 for c, whose page alone is called what is asked."""
    found = [Candidate(A, 0.8, 0.16), Candidate(B, 0.4, 1.0), Candidate(C, 0.9, None, named=1.0)]

    result = await search({"q": found})

    assert scores(result) == [(name, round(relevance(of), 6)) for name, of in (("b", 0.4), ("c", 0.9), ("a", 0.8))]
    assert result.total_count == 3


class WordyEmbedder(HashEmbedder):
    """Counts words beside cosines, and grows certain more slowly than doubtful."""

    @property
    def calibration(self) -> Calibration:
        """A curve that counts both."""
        return Calibration(midpoint=0.5, slope=20.0, rise=5.0, words=0.5)


@pytest.mark.promise("abstains")
async def test_the_share_of_words_counts_for_the_score() -> None:
    """The same cosine is relevant with .7 of the words of the question, and not without them."""
    index = ScriptedIndex({"q": [Candidate(A, 0.4, 0.5, held=0.9), Candidate(B, 0.4, 0.0)]})

    result = await HybridRetriever(WordyEmbedder(), index, clock=Clock()).search("q", limit=5, scope=Scope())

    expected = [1 / (1 + math.exp(-5 * 0.25)), 1 / (1 + math.exp(20 * 0.1))]
    assert scores(result) == [("a", round(expected[0], 6)), ("b", round(expected[1], 6))]


async def test_equal_passages_keep_one_order() -> None:
    """The same search gives the same list."""
    both = [Candidate(B, 0.5, 1.0), Candidate(A, 0.5, 1.0)]

    assert scores(await search({"q": both})) == scores(await search({"q": both[::-1]}))


async def test_a_follow_up_averages_the_evidence_of_both_queries() -> None:
    """For a, ranks are .5+.4 and .05+0 halved, .475; for b, found once, .8 halved, .4; the cosine is averaged too."""
    result = await search(
        {
            "q": [Candidate(A, 0.8, 1.0), Candidate(C, 0.2, None)],
            "before\nq": [Candidate(A, 0.1, None), Candidate(B, 0.6, 1.0)],
        }
    )

    assert scores(result) == [
        ("a", round(relevance(0.8), 6)),
        ("b", round(relevance(0.3), 6)),
        ("c", round(relevance(0.2), 6)),
    ]


async def test_the_score_of_a_follow_up_is_the_better_of_alone_and_averaged() -> None:
    """A question that stands alone is not made worse by the one before, and one that does not is made better."""
    result = await search(
        {
            "q": [Candidate(A, 0.9, 1.0), Candidate(B, 0.2, 1.0)],
            "before\nq": [Candidate(A, 0.3, 1.0), Candidate(B, 0.8, 1.0)],
        }
    )

    assert scores(result) == [("a", round(relevance(0.9), 6)), ("b", round(relevance(0.5), 6))]


async def test_both_queries_reach_the_index_with_their_vectors_and_the_scope() -> None:
    """The question before and the question are joined by a line break."""
    embedder = HashEmbedder()
    index = ScriptedIndex({"one": [], "before\none": []})
    scope = Scope(chapters=("one",))

    result = await HybridRetriever(embedder, index, clock=Clock()).search("one", limit=5, scope=scope, earlier="before")

    assert index.asked == [
        (IndexQuery("one", await embedder.embed_query("one"), scope), CANDIDATES),
        (IndexQuery("before\none", await embedder.embed_query("before\none"), scope), CANDIDATES),
    ]
    assert (result.hits, result.total_count) == ((), 0)


async def test_the_limit_counts_passages() -> None:
    """What lies beyond is counted, not given."""
    index = ScriptedIndex({"q": [Candidate(A, 0.9), Candidate(B, 0.8), Candidate(C, 0.7)]})

    result = await HybridRetriever(HashEmbedder(), index, clock=Clock()).search("q", limit=2, scope=Scope())

    assert ([name for name, _ in scores(result)], result.total_count) == (["a", "b"], 3)


async def test_without_the_embedder_words_alone_are_searched() -> None:
    """The score then comes from the share of the words."""
    embedder = HashEmbedder()
    embedder.fails = True
    index = ScriptedIndex({"robot arms, robot": [Candidate(A, None, 0.8), Candidate(B, None, None)]})

    result = await HybridRetriever(embedder, index, clock=Clock(), reranker=ListReranker({})).search(
        "robot arms, robot", limit=5, scope=Scope()
    )

    assert index.asked[0][0].vector is None
    assert result.hits == (Hit(A, LEXICAL.relevance(0.8)), Hit(B, LEXICAL.relevance(0.0)))
    assert result.lexical_only


class BrokenIndex(ScriptedIndex):
    """Raises an error where it is searched, or only where it is counted."""

    def __init__(self, error: FootnoteError, *, found: Mapping[str, Sequence[Candidate]] | None = None) -> None:
        super().__init__(found or {})
        self._error = error

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Give what the script says, if there is one."""
        if not self._found:
            raise self._error
        return await super().candidates(query, limit=limit)

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Count nothing."""
        raise self._error


@pytest.mark.parametrize("error", [RetrievalUnavailable("It is down."), Misconfigured("It was made by another.")])
@pytest.mark.parametrize("found", [{}, {"q": []}])
async def test_an_index_that_is_down_is_an_error(
    error: FootnoteError, found: Mapping[str, Sequence[Candidate]]
) -> None:
    """There is nothing to fall back on; of settings that do not fit, whoever asks is told no more than that."""
    embedder = HashEmbedder()
    embedder.fails = bool(found)
    seen: list[Event] = []
    retriever = HybridRetriever(embedder, BrokenIndex(error, found=found), clock=Clock(), observer=seen.append)

    with pytest.raises(RetrievalUnavailable):
        await retriever.search("q", limit=5, scope=Scope())

    assert seen[-1] == ServiceFailed("index", str(error))


class HalfEmbedder(HashEmbedder):
    """Fails for one query, and never ends with the other."""

    def __init__(self) -> None:
        super().__init__()
        self.left = asyncio.Event()

    async def embed_query(self, text: str) -> Vector:
        """Wait, or fail."""
        if text != "q":
            raise EmbeddingUnavailable("The embedder was told to fail.")
        try:
            return await asyncio.Future[Vector]()
        finally:
            self.left.set()


async def test_when_one_query_cannot_be_embedded_the_other_is_left() -> None:
    """Nobody needs it any more, and it would go on trying."""
    embedder, found = HalfEmbedder(), {"q": [Candidate(A, None, 1.0)], "before\nq": []}

    result = await HybridRetriever(embedder, ScriptedIndex(found), clock=Clock()).search(
        "q", limit=5, scope=Scope(), earlier="before"
    )

    assert result.lexical_only
    await embedder.left.wait()


async def test_a_reranker_has_the_last_word() -> None:
    """Its scores order and stand as they are."""
    reranker = ListReranker({A.passage_id: 0.2, B.passage_id: 0.7, C.passage_id: 0.1})

    result = await search(
        {"q": [Candidate(A, 0.9), Candidate(B, 0.5), Candidate(C, 0.4)]},
        reranker=reranker,
    )

    assert reranker.asked == [("q", [A, B, C])]
    assert result.hits == (Hit(B, 0.7), Hit(A, 0.2), Hit(C, 0.1))


class BrokenReranker(ListReranker):
    """Is always down."""

    def __init__(self) -> None:
        super().__init__({})

    async def rerank(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Score nothing."""
        raise RetrievalUnavailable("The reranker was told to fail.")


async def test_without_the_reranker_the_combined_ranking_answers() -> None:
    """What is found is ranked and scored as if there were no reranker, and is not called lexical."""
    found = {"q": [Candidate(A, 0.8, 0.2), Candidate(B, 0.4, 1.0), Candidate(C, 0.9, None)]}

    result = await search(found, reranker=BrokenReranker())

    assert result == await search(found)
    assert not result.lexical_only


class TickingEmbedder(HashEmbedder):
    """Takes two seconds for a query."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    async def embed_query(self, text: str) -> Vector:
        """Let time pass."""
        self._clock.advance(2)
        return await super().embed_query(text)


async def test_times_are_told_apart() -> None:
    """Embedding, searching, and both."""
    clock = Clock()

    result = await HybridRetriever(TickingEmbedder(clock), MemoryIndex(), clock=clock).search(
        "q", limit=5, scope=Scope()
    )

    assert (result.query_time_ms, result.search_time_ms, result.total_time_ms) == (2000.0, 0.0, 2000.0)
    assert (result.query, result.lexical_only) == ("q", False)


def test_the_boundary_of_a_calibration_is_one_half() -> None:
    """More is more, and the scale never leaves 0 to 1."""
    calibration = Calibration(midpoint=0.4, slope=20.0)

    values = [calibration.relevance(cosine / 10) for cosine in range(-10, 11)]

    assert (calibration.relevance(0.4), LEXICAL.relevance(LEXICAL.midpoint)) == (0.5, 0.5)
    assert values == sorted(values)
    assert (values[0] > 0, values[-1] < 1) == (True, True)


async def test_an_embedder_that_fails_is_told_apart_from_others() -> None:
    """The fake fails as the port says."""
    embedder = HashEmbedder()
    embedder.fails = True

    with pytest.raises(EmbeddingUnavailable):
        await embedder.embed_query("q")


@pytest.mark.promise("documents-apart")
async def test_there_are_no_documents_where_only_others_have_some() -> None:
    """Whoever may not read them does not hear of them; chapters that somebody picked change nothing."""
    index, embedder = MemoryIndex(), HashEmbedder()
    vector = await embedder.embed_query("Text.")
    await index.replace("theirs", A.page_url, [EmbeddedPassage(replace(A, source="theirs"), vector)])
    retriever = HybridRetriever(embedder, index, clock=Clock())

    found = [
        await retriever.search("q", limit=1, scope=scope)
        for scope in (Scope(sources=("ours",)), Scope(sources=("theirs",), chapters=("another",)))
    ]

    assert [each.has_documents for each in found] == [False, True]
