"""How well and how fast the embedded default finds: the course book, SciFact, and how long a search takes on one core.

`python -m bench.retrieval`; the first run makes the indexes, which takes some minutes. With `speed`, only the last.
With `shared`, what it costs that a community reads some sources of a large index and not all; `shared URL` measures the
same, and how long it takes until the sources are known, on a Qdrant server, in seconds that pass: the rest of its work
is not this process's. It makes a collection there, which it does not remove.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
import time
from collections.abc import Collection
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import ir_measures
from ir_measures import Qrel, ScoredDoc, nDCG

from adapters.qdrant import EdgeIndex, ServerIndex
from bench.corpora import CACHE, Abstracts, claims, course, course_questions, indexed, lesson_of
from bench.report import Row, at_least, at_most, print_rows, shown
from core.community.visibility import readable
from core.documents.retrieval import HybridRetriever
from core.model import EmbeddedPassage, IndexQuery, Passage, Scope, SearchResult
from core.ports import PassageIndex

DEEP = 100
"""Hits to make ten different pages of."""
MANY, PASSAGES_OF_A_PAGE, WORDS, DIMENSION, THEMES = 100_000, 100, 80, 384, 300
SHARES = ("handbook",) * 6 + ("wiki",) * 3 + ("course",)
"""The sources of pages that are made up, each as often as it is named."""
SEARCHES = 300


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
            f"course: lesson among the first five pages, {len(questions)} questions", among_five / len(questions), 0.965
        ),
        at_least("course: nDCG@10 by lesson", quality, 0.907),
    ]


async def scifact_rows() -> list[Row]:
    """Ask SciFact's claims."""
    asked = claims()
    qrels = [Qrel(str(number), url, 1) for number, (_, urls) in enumerate(asked) for url in urls]
    run: list[ScoredDoc] = []
    async with indexed("scifact", Abstracts()) as (embedder, index):
        retriever = HybridRetriever(embedder, index, clock=time.monotonic)
        for number, (claim, _) in enumerate(asked):
            result = await retriever.search(claim, limit=DEEP, scope=Scope())
            run += [ScoredDoc(str(number), url, -rank) for rank, url in enumerate(pages(result))]
    quality = ndcg(qrels, run)
    return [at_least("SciFact: nDCG@10, 300 claims", quality, 0.73)]


async def speed_rows() -> list[Row]:
    """Search SciFact's abstracts, which are about 10,000 passages, on one core."""
    async with indexed("scifact", Abstracts()) as (embedder, index):
        outline = await index.outline()
        retriever = HybridRetriever(embedder, index, clock=time.monotonic)
        questions = [text for text, _ in course_questions()]
        for text in questions[:20]:
            await retriever.search(text, limit=5, scope=Scope())
        clocks = {"elapsed": time.perf_counter, "CPU": time.process_time}
        times: dict[str, list[float]] = {name: [] for name in clocks}
        for text in questions:
            begun = {name: clock() for name, clock in clocks.items()}
            await retriever.search(text, limit=5, scope=Scope())
            for name, clock in clocks.items():
                times[name].append((clock() - begun[name]) * 1000)
    what = f"search of {outline.passages:,} passages on one core"
    return [
        row
        for name, taken in times.items()
        for row in (
            at_most(f"{what}, {name}, p95", statistics.quantiles(taken, n=20)[-1], 10, " ms"),
            shown(f"{what}, {name}, median", statistics.median(taken), " ms"),
        )
    ]


def made_page(number: int, chance: random.Random) -> list[EmbeddedPassage]:
    """Make a page up: its words are as rare as in a language, and its vectors lie around one of some themes."""
    source, url = SHARES[number % len(SHARES)], f"https://docs.example/{number}"
    theme = random.Random(number % THEMES)
    centre = [theme.gauss(0, 1) for _ in range(DIMENSION)]
    made: list[EmbeddedPassage] = []
    for position in range(PASSAGES_OF_A_PAGE):
        words = " ".join(f"word{int(chance.paretovariate(0.6)) % 20_000}" for _ in range(WORDS))
        id_ = str(uuid5(NAMESPACE_URL, f"{url}#{position}"))
        vector = [each + chance.gauss(0, 1) for each in centre]
        passage = Passage(id_, source, url, url, "Made up", "", "", words, position, PASSAGES_OF_A_PAGE, str(number))
        made.append(EmbeddedPassage(passage, vector))
    return made


async def filled(index: PassageIndex, chance: random.Random, pages: int) -> int:
    """Put the made-up pages into an index that has fewer, and return how many passages it holds."""
    if (await index.outline()).pages < pages:
        for number in range(pages):
            page = made_page(number, chance)
            await index.replace(page[0].passage.source, page[0].passage.page_url, page)
        for source in dict.fromkeys(SHARES):
            await index.prune(source, keep=[f"https://docs.example/{number}" for number in range(pages)])
    return (await index.outline()).passages


async def shared_rows(url: str = "") -> list[Row]:
    """Search a large index in all of it and in what one community reads, by turns; what counts is the CPU's time."""
    made: dict[str, Any] = {"embedder": "made up", "dimension": DIMENSION}
    index = ServerIndex(url, collection="footnote-bench", **made) if url else EdgeIndex(CACHE / "shared", **made)
    chance, clock = random.Random(1), time.perf_counter if url else time.process_time
    size = await filled(index, chance, MANY // PASSAGES_OF_A_PAGE)
    names = tuple(dict.fromkeys(SHARES))
    scopes = {
        "all, unfiltered": Scope(),
        **{" + ".join(each): Scope(sources=each) for each in (names, names[:2], names[-1:])},
    }
    times: dict[str, list[float]] = {name: [] for name in scopes}
    for number in range(SEARCHES):
        asked = made_page(number * 7, chance)[0]
        query = IndexQuery(" ".join(asked.passage.text.split()[:8]), asked.vector)
        for scope in scopes.values():  # what is found for the first time is read from the disk
            await index.candidates(replace(query, scope=scope), limit=20)
        for name in chance.sample([*scopes], len(scopes)):
            begun = clock()
            await index.candidates(replace(query, scope=scopes[name]), limit=20)
            times[name].append((clock() - begun) * 1000)
    looks: list[float] = []
    for _ in range(SEARCHES):
        begun = clock()
        readable(await index.sources(), (), None)
        looks.append((clock() - begun) * 1000)
    await index.aclose()
    first, *others = times
    whole = statistics.median(times[first])
    what = f"search of {size:,} passages"
    return [
        Row(f"{what}, {first}, median", f"{whole:.3g} ms"),
        *(
            at_most(f"{what}, in {name}: more than that", statistics.median(times[name]) - whole, 1, " ms")
            for name in others
        ),
        shown("deciding which sources may be read, with a request to the server", statistics.median(looks), " ms")
        if url
        else at_most("deciding which sources may be read", statistics.median(looks), 1, " ms"),
    ]


async def main(parts: Collection[str]) -> None:
    """Measure how well it finds and how long that takes, or only the named *parts*."""
    rows = [] if parts else await course_rows() + await scifact_rows()
    if hasattr(os, "sched_setaffinity") and "shared" not in parts:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    url = next((part for part in parts if "://" in part), "")
    rows += await shared_rows(url) if "shared" in parts else await speed_rows()
    print_rows(f"Retrieval, all-MiniLM-L6-v2 int8 + BM25, {url or 'embedded index'}", rows)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
