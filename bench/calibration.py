"""From meaning and words to relevance: the curve, where its middle belongs, and what that middle lets through.

`python -m bench.calibration` for the embedded default. With `cohere` behind it and COHERE_API_KEY set, for Cohere's
embeddings and reranking: some 5,000 texts to embed and 1,400 lists to rerank, the first time.

Right questions are those of the course book; wrong ones are what people asked about other things, and the course book's
own questions with their lesson taken out, many of which other lessons answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from bench.corpora import course, course_questions, foreign_questions, indexed, lesson_of, ros, textbook
from bench.report import Row, at_least, at_most, print_rows
from core.documents.calibrating import fit
from core.documents.retrieval import CANDIDATES, LEXICAL
from core.model import Calibration, Candidate, IndexQuery, Scope
from core.ports import DocumentSource, Embedder, PassageIndex, Reranker

ELSEWHERE = {"the textbook": textbook, "the ROS 2 documentation": ros}
PLAIN = Calibration(midpoint=0.5, slope=1.0)
"""A curve that loses nothing, so that a score can be had back from a relevance."""
RECALL = 0.95
FOREIGN = 0.05


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best of all passages that were found: by meaning and words, by words alone, and by reranking."""

    dense: float
    lexical: float
    reranked: float = 0.0


@dataclass(frozen=True, slots=True)
class Questions:
    """The evidence of each kind of question."""

    right: list[Evidence]
    foreign: list[Evidence]
    taken_out: list[Evidence]


@dataclass(frozen=True, slots=True)
class Engine:
    """What is measured: an embedder over an index, and perhaps a reranker whose relevance is that of `PLAIN`."""

    embedder: Embedder
    index: PassageIndex
    reranker: Reranker | None = None

    async def evidence(self, text: str, *, but: str = "") -> Evidence:
        """Search for a question, without the passages of one lesson."""
        query = IndexQuery(text, await self.embedder.embed_query(text), Scope())
        found = await self.index.candidates(query, limit=CANDIDATES)
        kept = [one for one in found if not but or lesson_of(one.passage.page_url) != but]
        best = best_evidence(kept, self.embedder.calibration)
        if self.reranker is None or not kept:
            return best
        scores = await self.reranker.rerank(text, [one.passage for one in kept])
        return dataclasses.replace(best, reranked=PLAIN.evidence_of(max(scores)))


def best_evidence(candidates: Sequence[Candidate], calibration: Calibration) -> Evidence:
    """Take the best of what speaks for any of the candidates, as the threshold is applied to all of them."""
    return Evidence(
        max((calibration.evidence(each.dense or 0.0, each.words) for each in candidates), default=0.0),
        max((each.lexical or 0.0 for each in candidates), default=0.0),
    )


async def gather_evidence(engine: Engine) -> Questions:
    """Search for every question."""
    questions = Questions([], [], [])
    for text, lesson in course_questions():
        questions.right.append(await engine.evidence(text))
        questions.taken_out.append(await engine.evidence(text, but=lesson))
    for text in foreign_questions():
        questions.foreign.append(await engine.evidence(text))
    return questions


async def foreign_elsewhere(name: str, source: DocumentSource) -> Row:
    """Ask the foreign questions of another corpus, which the curve was not fitted to."""
    async with indexed(name, source) as (embedder, index):
        engine = Engine(embedder, index)
        evidence = [await engine.evidence(text) for text in foreign_questions()]
    dense = share([one.dense for one in evidence], embedder.calibration, 0.5)
    words = share([one.lexical for one in evidence], LEXICAL, 0.5)
    return Row(f"foreign questions that get sources from {name}", f"{dense:.1%}, by words alone {words:.1%}")


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


def report(name: str, scores: dict[str, list[float]], calibration: Calibration) -> list[Row]:
    """Print the curve of a calibration, and the one that would fit better."""
    fitted = Calibration(*fit(scores["right"], scores["foreign"]))
    best = boundary(scores["right"], fitted)
    return [
        *curve(name, scores, calibration),
        Row(f"{name}: fitted", f"midpoint {fitted.midpoint:.3f}, slope {fitted.slope:.1f}"),
        Row(f"{name}: 95 % recall at 0.5", f"midpoint {best.midpoint}, slope {best.slope}"),
    ]


def by_kind(questions: Questions, field: str) -> dict[str, list[float]]:
    """Give one score of all evidence."""
    kinds = {"right": questions.right, "foreign": questions.foreign, "taken out": questions.taken_out}
    return {kind: [getattr(one, field) for one in evidence] for kind, evidence in kinds.items()}


def bars(dense: dict[str, list[float]], calibration: Calibration) -> list[Row]:
    """Compare the share of each kind that gets sources with what was promised."""
    return [
        at_least("right questions that get sources", share(dense["right"], calibration, 0.5), RECALL),
        at_most("foreign questions that get sources", share(dense["foreign"], calibration, 0.5), FOREIGN),
        Row(
            "questions with their lesson taken out that get sources",
            f"{share(dense['taken out'], calibration, 0.5):.1%}",
        ),
    ]


async def built_in() -> None:
    """Print the curves and the bars of the embedded default."""
    async with indexed("course", course()) as (embedder, index):
        questions = await gather_evidence(Engine(embedder, index))
    dense = by_kind(questions, "dense")
    rows = report("meaning and words", dense, embedder.calibration)
    rows += report("words alone", by_kind(questions, "lexical"), LEXICAL)
    rows += bars(dense, embedder.calibration)
    rows += [await foreign_elsewhere(name, source()) for name, source in ELSEWHERE.items()]
    print_rows(f"Calibration: {counts(questions)}", rows)


async def cohere() -> None:
    """Print the curves of Cohere's embeddings and of its reranking."""
    from adapters.cohere import CohereEmbedder, CohereReranker
    from adapters.cohere.reranker import CALIBRATION
    from bot.settings import read_settings

    settings = read_settings()
    if settings.cohere_key is None:
        sys.exit("Set COHERE_API_KEY to the key of a Cohere account.")
    key, url = settings.cohere_key.get_secret_value(), settings.cohere_url
    embedder = CohereEmbedder(
        settings.cohere_embed_model, dimension=settings.cohere_dimension, api_key=key, base_url=url
    )
    reranker = CohereReranker(settings.cohere_rerank_model, api_key=key, base_url=url, calibration=PLAIN)
    async with (
        contextlib.aclosing(embedder),
        contextlib.aclosing(reranker),
        indexed("course", course(), embedder=embedder) as (_, index),
    ):
        questions = await gather_evidence(Engine(embedder, index, reranker))
    rows = report(f"{embedder.name} and words", by_kind(questions, "dense"), embedder.calibration)
    rows += report(settings.cohere_rerank_model, by_kind(questions, "reranked"), CALIBRATION)
    print_rows(f"Calibration: {counts(questions)}", rows)


def counts(questions: Questions) -> str:
    """Say how many questions of each kind there are."""
    return f"{len(questions.right)} right, {len(questions.foreign)} foreign, {len(questions.taken_out)} taken out"


if __name__ == "__main__":
    asyncio.run(cohere() if "cohere" in sys.argv[1:] else built_in())
