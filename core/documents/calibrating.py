"""Measures where relevance begins, with the documents that are there: for any embedder, and any reranker.

Right questions are the headings of the documents, which their own sections answer; wrong ones are about other things.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.documents.retrieval import CANDIDATES
from core.errors import InvalidInput
from core.model import Calibration, Candidate, IndexQuery
from core.ports import Embedder, PassageIndex, Reranker

FEWEST, MOST = 20, 60  # headings
STEEPEST, FLATTEST = 40.0, 1.0  # slopes
TINY, FARTHEST = 1e-12, 50.0  # what is divided by at least, and exponents at most
FALL, RISE = 0.6, 0.25  # of the slope that fits, below the boundary and above it, as for the built-in embedder
TOO_FEW = "The documents have {} different headings, and {} are needed to measure with. Read more documents first."
ALIKE = "{} does not tell the headings of the documents from questions about other things, so nothing was measured."
FOREIGN = (
    *("How do I boil an egg?", "What is the capital of Peru?"),
    *("Who won the world cup in 2018?", "Why is the sky blue?"),
    *("How do I get wine out of a carpet?", "Is it going to rain tomorrow?", "Which vitamins are in an orange?"),
    *("How long does a flight to Sydney take?", "What is the best way to learn the guitar?", "Who wrote Hamlet?"),
    *("When does the library open on Saturday?", "What grade did I get in the exam?", "How do I renew my passport?"),
    *("How do I fall asleep faster?", "What should I cook with potatoes?", "How do I plant tomatoes?"),
    *("Which languages are spoken in Switzerland?", "How do I ask my boss for a raise?", "Where do I park on campus?"),
    *("What do I wear to a wedding?", "How do I undo the last commit in git?", "How do I join two tables in SQL?"),
    *("What does a pod in Kubernetes contain?", "How do I center a div in CSS?", "What is a React hook?"),
    *("How do I set up a reverse proxy with nginx?", "How do I index a column in Postgres?", "What is CORS?"),
    *("How do I revoke a token in OAuth?", "How do I define a model in Django?", "What is the borrow checker in Rust?"),
    *("How do I sign an Android app?", "How do I write a pivot table in Excel?", "How do I group by month in pandas?"),
    *("What is a partition in Kafka?", "How do I set an alert in Grafana?", "How do I resize an image in Photoshop?"),
    *("How do I reset the root password on Linux?", "How do I connect payments to my shop?", "What is a monad?"),
)


@dataclass(frozen=True, slots=True)
class Curve:
    """What speaks for the best passage of each question by a model of some *name*, and what that was *before*."""

    name: str
    before: Calibration
    right: Sequence[float]
    foreign: Sequence[float]

    @property
    def fitted(self) -> Calibration:
        """The calibration that tells both kinds apart best. Raises `InvalidInput` where none does."""
        middle, slope = fit(self.right, self.foreign)
        if not slope >= FLATTEST:
            raise InvalidInput(ALIKE.format(self.name), field="documents")
        return replace(
            self.before, midpoint=round(middle, 3), slope=round(slope * FALL, 1), rise=round(slope * RISE, 1)
        )

    def shares(self, calibration: Calibration, threshold: float) -> tuple[float, float]:
        """Return which share of the headings, and of the others, would get sources."""
        right, foreign = (
            statistics.fmean(calibration.relevance(each) >= threshold for each in scores)
            for scores in (self.right, self.foreign)
        )
        return right, foreign


def fit(right: Sequence[float], wrong: Sequence[float]) -> tuple[float, float]:
    """Return the midpoint and the slope of a logistic curve, by Newton's method.

    Both kinds weigh the same, however many there are of each; where nothing lies between them, it is not too steep.
    """
    points = [(x, 1.0, 0.5 / len(right)) for x in right] + [(x, 0.0, 0.5 / len(wrong)) for x in wrong]
    centre = statistics.fmean(x for x, _, _ in points)
    slope = shift = 0.0
    for _ in range(50):
        g0 = g1 = h00 = h01 = h11 = 0.0
        for x, y, weight in points:
            z = x - centre
            p = 1 / (1 + math.exp(-max(min(slope * z + shift, FARTHEST), -FARTHEST)))
            g0, g1 = g0 + weight * (y - p), g1 + weight * (y - p) * z
            v = weight * p * (1 - p)
            h00, h01, h11 = h00 + v, h01 + v * z, h11 + v * z * z
        determinant = h00 * h11 - h01 * h01 + TINY
        shift += (h11 * g0 - h01 * g1) / determinant
        slope += (h00 * g1 - h01 * g0) / determinant
        if abs(slope) > STEEPEST:
            break
    return centre - shift / (slope or TINY), min(slope, STEEPEST)


async def curves(index: PassageIndex, embedder: Embedder, reranker: Reranker | None) -> list[Curve]:
    """Measure with what the index holds.

    Raises `InvalidInput` where that is too little, and what the index, the embedder and the reranker raise.
    """

    async def found(text: str) -> Sequence[Candidate]:
        return await index.candidates(IndexQuery(text, await embedder.embed_query(text)), limit=CANDIDATES)

    async def evidence(text: str, candidates: Sequence[Candidate]) -> list[float]:
        speaks = embedder.calibration.evidence
        best = max((speaks(each.dense or 0.0, each.words) for each in candidates), default=0.0)
        if reranker is None:
            return [best]
        scores = await reranker.rerank(text, [each.passage for each in candidates])
        return [best, max((reranker.calibration.evidence_of(score) for score in scores), default=0.0)]

    others = {text: await found(text) for text in FOREIGN}
    headings = await _headings(index, [each for candidates in others.values() for each in candidates])
    right = [await evidence(text, await found(text)) for text in headings]
    foreign = [await evidence(text, candidates) for text, candidates in others.items()]
    models = [(embedder.name, embedder.calibration), *([(reranker.name, reranker.calibration)] if reranker else [])]
    return [
        Curve(name, calibration, [each[number] for each in right], [each[number] for each in foreign])
        for number, (name, calibration) in enumerate(models)
    ]


async def _headings(index: PassageIndex, found: Sequence[Candidate]) -> list[str]:
    """Choose headings of at least two words, from what was *found* and what those find by their words."""
    seen = dict.fromkeys(_names(found))
    for text in [*seen][:MOST]:
        seen |= dict.fromkeys(_names(await index.candidates(IndexQuery(text, None), limit=CANDIDATES)))
    if len(seen) < FEWEST:
        raise InvalidInput(TOO_FEW.format(len(seen), FEWEST), field="documents")
    return [*seen][:: max(len(seen) // MOST, 1)][:MOST]


def _names(found: Sequence[Candidate]) -> list[str]:
    names = {each.passage.heading.rpartition(" › ")[2] for each in found}
    return sorted(name for name in names if len(name.split()) > 1)
