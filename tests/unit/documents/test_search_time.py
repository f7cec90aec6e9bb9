"""Searching takes ten seconds at most, whichever service gives no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import pytest

from core.documents.retrieval import LEXICAL, HybridRetriever
from core.errors import RetrievalUnavailable
from core.events import Event, ServiceFailed
from core.model import Awaited, Candidate, Hit, IndexQuery, Passage, Scope, SearchResult, Vector, Waiting
from tests import virtual_time
from tests.fakes.clock import Clock
from tests.fakes.embedder import HashEmbedder
from tests.unit.documents.test_retrieval import A, B, ListReranker, ScriptedIndex, relevance

FOUND = {"q": [Candidate(A, 0.8, 0.2), Candidate(B, 0.4, 0.9)]}


class HangingEmbedder(HashEmbedder):
    """Never embeds a question."""

    async def embed_query(self, text: str) -> Vector:
        """Wait for ever."""
        await asyncio.Event().wait()
        return []


class HangingIndex(ScriptedIndex):
    """Never finds anything."""

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Wait for ever."""
        await asyncio.Event().wait()
        return ()


class HangingReranker(ListReranker):
    """Never scores anything."""

    def __init__(self) -> None:
        super().__init__({})

    async def rerank(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Wait for ever."""
        await asyncio.Event().wait()
        return ()


async def searched(retriever: HybridRetriever, waiting: Waiting) -> tuple[float, SearchResult | None]:
    """Search; return after how many seconds it was over, and with what, None if it was given up."""
    time = asyncio.get_running_loop().time
    begun, result = time(), None
    with suppress(RetrievalUnavailable):
        result = await retriever.search("q", limit=5, scope=Scope(), waiting=waiting)
    return round(time() - begun, 1), result


@pytest.mark.promise("search-ends")
def test_an_embedder_that_hangs_leaves_time_to_search_by_words() -> None:
    """The same as where it is down, after half of the time; it is named as what was waited for."""
    seen, waiting = list[Event](), Waiting()
    retriever = HybridRetriever(HangingEmbedder(), ScriptedIndex(FOUND), clock=Clock(), observer=seen.append)

    async def search() -> tuple[float, SearchResult | None]:
        searching = asyncio.create_task(searched(retriever, waiting))
        await asyncio.sleep(1)
        assert waiting.on is Awaited.EMBEDDER
        return await searching

    took, result = virtual_time.run(search())

    assert result is not None
    assert (took, result.lexical_only) == (5.0, True)
    assert result.hits[0] == Hit(B, LEXICAL.relevance(0.9))
    assert [event.service for event in seen if isinstance(event, ServiceFailed)] == ["embedder"]


@pytest.mark.promise("search-ends")
@pytest.mark.parametrize("embedder", [HashEmbedder(), HangingEmbedder()], ids=["it alone", "and the embedder"])
def test_an_index_that_hangs_is_given_up_after_ten_seconds_in_all(embedder: HashEmbedder) -> None:
    """However much of them the embedder has taken."""
    waiting = Waiting()
    retriever = HybridRetriever(embedder, HangingIndex(FOUND), clock=Clock())

    assert virtual_time.run(searched(retriever, waiting)) == (10.0, None)
    assert waiting.on is Awaited.SEARCH


@pytest.mark.promise("search-ends")
def test_a_reranker_that_hangs_is_done_without() -> None:
    """What was found is there, in the order that the cosine gives."""
    waiting = Waiting()
    retriever = HybridRetriever(HashEmbedder(), ScriptedIndex(FOUND), clock=Clock(), reranker=HangingReranker())

    took, result = virtual_time.run(searched(retriever, waiting))

    assert result is not None
    assert (took, waiting.on) == (8.0, Awaited.RERANKER)
    assert set(result.hits) == {Hit(A, relevance(0.8)), Hit(B, relevance(0.4))}
