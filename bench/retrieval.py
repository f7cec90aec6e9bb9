"""How well and how fast the embedded default finds: the course book, SciFact, and how long a search takes on one core.

`python -m bench.retrieval`; the first run makes the indexes, which takes some minutes. With `speed`, only the last.
"""

from __future__ import annotations

import asyncio
import csv
import os
import statistics
import sys
import time
from typing import Any

import ir_measures
from ir_measures import Qrel, ScoredDoc, nDCG

from bench.corpora import Abstracts, course, course_questions, indexed, lesson_of, lines, need
from bench.report import Row, at_least, at_most, print_rows
from core.documents.retrieval import HybridRetriever
from core.model import Scope, SearchResult

DEEP = 100
"""Hits to make ten different pages of."""


def pages(result: SearchResult) -> list[str]:
    """Give the pages in the order of their first passage."""
    return list(dict.fromkeys(hit.passage.page_url for hit in result.hits))


def ndcg(qrels: list[Qrel], run: list[ScoredDoc]) -> float:
    """Give nDCG@10."""
    found: Any = ir_measures.calc_aggregate([nDCG @ 10], qrels, run)  # pyright: ignore[reportUnknownMemberType] - it also takes data frames
    return found[nDCG @ 10]


async def course_rows() -> list[Row]:
    """Ask the questions of the course book."""
    questions = course_questions()
    found: list[list[str]] = []
    async with indexed("course", course()) as (embedder, index):
        retriever = HybridRetriever(embedder, index, clock=time.monotonic)
        for text, _ in questions:
            result = await retriever.search(text, limit=DEEP, scope=Scope())
            found.append([lesson_of(url) for url in pages(result)])
    among_five = sum(lesson in best[:5] for (_, lesson), best in zip(questions, found, strict=True))
    qrels = [Qrel(str(number), lesson, 1) for number, (_, lesson) in enumerate(questions)]
    run = [ScoredDoc(str(q), lesson, -rank) for q, best in enumerate(found) for rank, lesson in enumerate(best)]
    quality = ndcg(qrels, run)
    return [
        at_least(
            f"course: lesson among the first five pages, {len(questions)} questions", among_five / len(questions), 0.95
        ),
        Row("course: nDCG@10 by lesson", f"{quality:.3f}"),
    ]


async def scifact_rows() -> list[Row]:
    """Ask SciFact's claims."""
    folder = need("scifact")
    claims = {item["id"]: item["text"] for item in lines(folder / "queries.jsonl")}
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    qrels = [Qrel(row["query-id"], row["corpus-id"], int(row["score"])) for row in rows]
    run: list[ScoredDoc] = []
    async with indexed("scifact", Abstracts()) as (embedder, index):
        retriever = HybridRetriever(embedder, index, clock=time.monotonic)
        for claim in {qrel.query_id for qrel in qrels}:
            result = await retriever.search(claims[claim], limit=DEEP, scope=Scope())
            run += [ScoredDoc(claim, url.partition(":")[2], -rank) for rank, url in enumerate(pages(result))]
    quality = ndcg(qrels, run)
    return [at_least("SciFact: nDCG@10, 300 claims", quality, 0.72)]


async def speed_rows() -> list[Row]:
    """Search SciFact's abstracts, which are about 10,000 passages, on one core."""
    async with indexed("scifact", Abstracts()) as (embedder, index):
        outline = await index.outline()
        retriever = HybridRetriever(embedder, index, clock=time.monotonic)
        questions = [text for text, _ in course_questions()]
        for text in questions[:20]:
            await retriever.search(text, limit=5, scope=Scope())
        times: list[float] = []
        for text in questions:
            begun = time.perf_counter()
            await retriever.search(text, limit=5, scope=Scope())
            times.append((time.perf_counter() - begun) * 1000)
    what = f"search of {outline.passages:,} passages on one core"
    return [
        at_most(f"{what}, p95", statistics.quantiles(times, n=20)[-1], 10, " ms"),
        Row(f"{what}, median", f"{statistics.median(times):.3g} ms"),
    ]


async def main(*, only_speed: bool) -> None:
    """Measure all of it, or only how long a search takes."""
    rows = [] if only_speed else await course_rows() + await scifact_rows()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print_rows("Retrieval, all-MiniLM-L6-v2 int8 + BM25, embedded index", rows + await speed_rows())


if __name__ == "__main__":
    asyncio.run(main(only_speed="speed" in sys.argv[1:]))
