"""From cosine to relevance: the curve, where its middle belongs, and what that middle lets through.

`python -m bench.calibration`. Right questions are those of the course book; wrong ones are what people asked about
other things, and the course book's own questions with their lesson taken out, many of which other lessons answer.
"""

from __future__ import annotations

import asyncio
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.corpora import course, course_questions, foreign_questions, indexed, lesson_of, ros, textbook
from bench.report import Row, at_least, at_most, print_rows
from core.model import Candidate, IndexQuery, Scope
from core.ports import DocumentSource
from core.relevance import LEXICAL, Calibration, rarity
from core.retrieval import CANDIDATES, DENSE_WEIGHT

ELSEWHERE = {"the textbook": textbook, "the ROS 2 documentation": ros}
TOP = 5
RECALL = 0.95
FOREIGN = 0.05


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best of the five passages that a question would be given: by cosine; and the best of all by BM25."""

    dense: float
    lexical: float


@dataclass(frozen=True, slots=True)
class Questions:
    """The evidence of each kind of question."""

    right: list[Evidence]
    foreign: list[Evidence]
    taken_out: list[Evidence]


def best_evidence(candidates: Sequence[Candidate], size: int) -> Evidence:
    """Rank as the retriever does, and take the best scores of the first five, in an index of *size* passages."""
    most = max((candidate.lexical or 0.0 for candidate in candidates), default=0.0) or 1.0

    def rank(candidate: Candidate) -> float:
        return DENSE_WEIGHT * (candidate.dense or 0.0) + (1 - DENSE_WEIGHT) * (candidate.lexical or 0.0) / most

    top = sorted(candidates, key=rank, reverse=True)[:TOP]
    return Evidence(
        max((candidate.dense or 0.0 for candidate in top), default=0.0),
        rarity(max((candidate.lexical or 0.0 for candidate in candidates), default=0.0), size),
    )


async def gather_evidence() -> Questions:
    """Search for every question."""
    questions = Questions([], [], [])
    async with indexed("course", course()) as (embedder, index):
        size = (await index.outline()).passages

        async def candidates(text: str) -> Sequence[Candidate]:
            query = IndexQuery(text, await embedder.embed_query(text), Scope())
            return await index.candidates(query, limit=CANDIDATES)

        for text, lesson in course_questions():
            found = await candidates(text)
            elsewhere = [one for one in found if lesson_of(one.passage.page_url) != lesson]
            questions.right.append(best_evidence(found, size))
            questions.taken_out.append(best_evidence(elsewhere, size))
        for text in foreign_questions():
            questions.foreign.append(best_evidence(await candidates(text), size))
    return questions


async def foreign_elsewhere(name: str, source: DocumentSource) -> Row:
    """Ask the foreign questions of another corpus, which the curve was not fitted to."""
    from adapters.minilm.embedder import CALIBRATION

    evidence: list[Evidence] = []
    async with indexed(name, source) as (embedder, index):
        size = (await index.outline()).passages
        for text in foreign_questions():
            query = IndexQuery(text, await embedder.embed_query(text), Scope())
            evidence.append(best_evidence(await index.candidates(query, limit=CANDIDATES), size))
    dense = share([one.dense for one in evidence], CALIBRATION, 0.5)
    words = share([one.lexical for one in evidence], LEXICAL, 0.5)
    return Row(f"foreign questions that get sources from {name}", f"{dense:.1%}, by words alone {words:.1%}")


def fit(right: Sequence[float], wrong: Sequence[float]) -> Calibration:
    """Fit a logistic curve by Newton's method; both kinds weigh the same, however many there are of each."""
    points = [(x, 1.0, 0.5 / len(right)) for x in right] + [(x, 0.0, 0.5 / len(wrong)) for x in wrong]
    centre = statistics.fmean(x for x, _, _ in points)
    slope = shift = 0.0
    for _ in range(50):
        g0 = g1 = h00 = h01 = h11 = 0.0
        for x, y, weight in points:
            z = x - centre
            p = 1 / (1 + math.exp(-(slope * z + shift)))
            g0, g1 = g0 + weight * (y - p), g1 + weight * (y - p) * z
            v = weight * p * (1 - p)
            h00, h01, h11 = h00 + v, h01 + v * z, h11 + v * z * z
        determinant = h00 * h11 - h01 * h01 + 1e-12
        shift += (h11 * g0 - h01 * g1) / determinant
        slope += (h00 * g1 - h01 * g0) / determinant
    return Calibration(midpoint=centre - shift / slope, slope=slope)


def boundary(right: Sequence[float], fitted: Calibration) -> Calibration:
    """Move the middle of the curve to where 95 of 100 right questions still pass."""
    return Calibration(
        midpoint=round(min(statistics.quantiles(right, n=20)[0], fitted.midpoint), 3), slope=round(fitted.slope, 1)
    )


def share(scores: Sequence[float], calibration: Calibration, threshold: float) -> float:
    """Give the share of questions that get a source."""
    return sum(calibration.relevance(score) >= threshold for score in scores) / len(scores)


def curve(name: str, questions: dict[str, list[float]], calibration: Calibration) -> list[Row]:
    """Say for each threshold what passes."""
    return [
        Row(
            f"{name}, threshold {threshold:.1f}",
            ", ".join(f"{kind} {share(scores, calibration, threshold):.1%}" for kind, scores in questions.items()),
        )
        for threshold in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    ]


async def main() -> None:
    """Print the curves and the bars, for the calibrations in the code."""
    from adapters.minilm.embedder import CALIBRATION

    questions = await gather_evidence()
    kinds = {"right": questions.right, "foreign": questions.foreign, "taken out": questions.taken_out}
    dense = {kind: [one.dense for one in evidence] for kind, evidence in kinds.items()}
    lexical = {kind: [one.lexical for one in evidence] for kind, evidence in kinds.items()}
    rows = curve("cosine", dense, CALIBRATION) + curve("words alone", lexical, LEXICAL)
    rows += [
        at_least("right questions that get sources", share(dense["right"], CALIBRATION, 0.5), RECALL),
        at_most("foreign questions that get sources", share(dense["foreign"], CALIBRATION, 0.5), FOREIGN),
        Row(
            "questions with their lesson taken out that get sources",
            f"{share(dense['taken out'], CALIBRATION, 0.5):.1%}",
        ),
    ]
    for name, scores in (("cosine", dense), ("words alone", lexical)):
        fitted = fit(scores["right"], scores["foreign"])
        rows.append(Row(f"{name}: fitted", f"midpoint {fitted.midpoint:.3f}, slope {fitted.slope:.1f}"))
        best = boundary(scores["right"], fitted)
        rows.append(Row(f"{name}: 95 % recall at 0.5", f"midpoint {best.midpoint}, slope {best.slope}"))
    rows += [await foreign_elsewhere(name, source()) for name, source in ELSEWHERE.items()]
    counts = ", ".join(f"{len(evidence)} {kind}" for kind, evidence in kinds.items())
    print_rows(f"Calibration: {counts}", rows)


if __name__ == "__main__":
    asyncio.run(main())
