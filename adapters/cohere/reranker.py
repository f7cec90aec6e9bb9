"""The `Reranker` that asks Cohere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.cohere.connection import CohereService, raising, unusable
from adapters.cohere.embedder import sendable
from core.documents.chunking import embedding_text
from core.errors import Misconfigured, RetrievalUnavailable
from core.model import Calibration, Passage

if TYPE_CHECKING:
    from cohere import AsyncClientV2
    from cohere.v2.types import V2RerankResponse

BATCH = 1_000  # documents that Cohere takes at once

CALIBRATION = Calibration(midpoint=0.3, slope=10.0)
"""Not measured: there was no account to measure with.

Cohere says that the boundary depends on the questions and has to be found with some of one's own. The midpoint lies
just below what a published example prints for the best of the wrong documents, 0.33 where the right one has 0.999,
because a right passage that is dropped costs an answer. `footnote calibrate` measures it.
"""


@dataclass(eq=False, repr=False, kw_only=True)
class CohereReranker(CohereService):
    """Scores by Cohere; the client is made at first use."""

    setting = "COHERE_RERANK_MODEL"
    service = "reranker"

    calibration: Calibration = CALIBRATION

    @property
    def name(self) -> str:
        """The model."""
        return self.model

    async def rerank(self, query: str, passages: Sequence[Passage]) -> Sequence[float]:
        """Return a calibrated relevance for each passage, in their order."""
        documents = [sendable(embedding_text(passage)) for passage in passages]
        with raising(RetrievalUnavailable):
            scores = [
                score
                for at in range(0, len(documents), BATCH)
                for score in await self._scores(sendable(query), documents[at : at + BATCH])
            ]
        return [self.calibration.relevance(score) for score in scores]

    async def check(self) -> str:
        """Rank one document, and return by what and where. Raises `Misconfigured` if an operator has to act."""
        with raising(RetrievalUnavailable, refused=Misconfigured):
            await self._scores("footnote", ["footnote"], is_awaited=False)
        return f"{self.model} at {self.address}"

    async def _scores(self, query: str, documents: Sequence[str], *, is_awaited: bool = True) -> list[float]:
        async def work(client: AsyncClientV2) -> V2RerankResponse:
            return await client.rerank(model=self.model, query=query, documents=documents)

        response = await self.call(work, timeout=self.timeouts.query, is_awaited=is_awaited)
        return _in_order(response, len(documents))


def _in_order(response: V2RerankResponse, count: int) -> list[float]:
    """Return the scores by index; the client checks nothing of what was answered."""
    results: object = getattr(response, "results", None)
    if not isinstance(results, list):
        raise unusable("it holds no results")
    scores: dict[int, float] = {}
    for result in response.results:
        index, score = getattr(result, "index", None), getattr(result, "relevance_score", None)
        if not isinstance(index, int) or index in scores or not 0 <= index < count:
            raise unusable("it names a document twice, or one that was not sent")
        if not isinstance(score, int | float) or not 0 <= score <= 1:
            raise unusable("it holds a score that is not between 0 and 1")
        scores[index] = float(score)
    if len(scores) != count:
        raise unusable(f"it holds {len(scores)} scores for {count} documents")
    return [scores[index] for index in range(count)]
