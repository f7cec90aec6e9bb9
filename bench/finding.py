"""How well it finds the pages that questions are about, and how well it tells that there are none.

`python -m bench.finding` asks the questions of `tests/evaluation`: those of `pages_*.jsonl` name the pages of the
documentation that answer them, those of `foreign.jsonl` are about something else, and the conversations of
`follow_ups.jsonl` go on from question to question. Their author saw the names of the pages, and nothing of what the
search finds. The curve was fitted to the course book and its `foreign_questions`; how words count was chosen with a
look at all of these but those that are `held out`.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ir_measures import Qrel, ScoredDoc

from bench.corpora import course, course_questions, indexed, lesson_of, ros, textbook
from bench.report import Row, at_least, at_most, print_rows, shown
from bench.retrieval import DEEP, ndcg
from core.answering.context import earlier_questions, stands_alone
from core.documents.retrieval import HybridRetriever
from core.model import Conversation, Hit, MessageRef, Scope, ThreadRef, Turn
from core.ports import DocumentSource, Retriever
from tests.builders import NOON

CASES = Path(__file__).resolve().parents[1] / "tests" / "evaluation"
CORPORA: dict[str, Callable[[], DocumentSource]] = {"course": course, "ros": ros, "textbook": textbook}
CITED = 5
"""Sources of an answer."""
THRESHOLD = 0.5
THREAD = ThreadRef(platform="bench", workspace="w", channel="c", thread="t")
OTHERS = "other techniques"


def cases(name: str) -> list[dict[str, Any]]:
    """Read one JSON object a line."""
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()]


def questions(corpus: str) -> list[tuple[str, list[str]]]:
    """Return the questions about a corpus, each with the pages that answer it, as `page_of` names them."""
    if corpus == "course":
        return [(text, [lesson]) for text, lesson in course_questions()]
    return [(case["question"], case["pages"]) for case in cases(f"pages_{corpus}")]


def is_of(url: str, pages: Sequence[str]) -> bool:
    """Return whether a page is one of those that are named."""
    return lesson_of(url) in pages or any(url.rpartition(".")[0].endswith(f"/{page}") for page in pages)


def cited(hits: Sequence[Hit]) -> list[Hit]:
    """Return what an answer would cite."""
    return [hit for hit in hits if hit.score >= THRESHOLD][:CITED]


def quality(asked: Sequence[tuple[Sequence[Hit], Sequence[str]]]) -> float:
    """Give nDCG@10 by page."""
    qrels, run = list[Qrel](), list[ScoredDoc]()
    for number, (hits, pages) in enumerate(asked):
        qrels += [Qrel(str(number), page, 1) for page in pages]
        urls = dict.fromkeys(hit.passage.page_url for hit in hits)
        named = [next((page for page in pages if is_of(url, [page])), url) for url in urls]
        run += [ScoredDoc(str(number), name, -rank) for rank, name in enumerate(dict.fromkeys(named))]
    return ndcg(qrels, run)


async def page_rows(corpus: str, retriever: Retriever) -> list[Row]:
    """Ask what the corpus answers, and look whether the sources are right whose scores say so."""
    found: list[tuple[Sequence[Hit], Sequence[str]]] = []
    for text, pages in questions(corpus):
        found.append(((await retriever.search(text, limit=DEEP, scope=Scope())).hits, pages))
    firsts = [dict.fromkeys(hit.passage.page_url for hit in hits) for hits, _ in found]
    among = [any(is_of(url, pages) for url in [*urls][:CITED]) for urls, (_, pages) in zip(firsts, found, strict=True)]
    sources = [(hit.score, is_of(hit.passage.page_url, pages)) for hits, pages in found for hit in cited(hits)]
    sure = [right for score, right in sources if score >= 0.9]
    unsure = [right for score, right in sources if score < 0.6]
    whole = [score >= 0.995 for score, _ in sources]
    return [
        shown(f"{corpus}, {len(found)} questions: right page among the first five", statistics.fmean(among)),
        shown(f"{corpus}: nDCG@10 by page", quality(found)),
        shown(f"{corpus}: questions that get sources", statistics.fmean(bool(cited(hits)) for hits, _ in found)),
        at_most(f"{corpus}: sources whose score reads 1.00, of {len(sources)}", statistics.fmean(whole), 0.05),
        shown(f"{corpus}: sources of the right page, of {len(sure)} with .9 and more", statistics.fmean(sure)),
        shown(f"{corpus}: of {len(unsure)} with .5 to .6", statistics.fmean(unsure)),
    ]


async def foreign_rows(corpus: str, retriever: Retriever, others: dict[str, float]) -> list[Row]:
    """Ask what the corpus does not answer."""
    kinds = defaultdict[str, list[bool]](list)
    for case in cases("foreign"):
        result = await retriever.search(case["question"], limit=DEEP, scope=Scope())
        kinds[case["kind"]].append(bool(cited(result.hits)))
    others[corpus] = statistics.fmean([one for kind, got in kinds.items() if kind.startswith(OTHERS) for one in got])
    return [
        *(
            shown(f"{corpus}: {kind}, of {len(got)}, that get sources", statistics.fmean(got))
            for kind, got in kinds.items()
            if kind != "everyday"
        ),
        at_most(f"{corpus}: everyday, of {len(kinds['everyday'])}", statistics.fmean(kinds["everyday"]), 0.03),
        at_most(f"{corpus}: {OTHERS}, all parts", others[corpus], 0.17),
    ]


def conversation(asked: Sequence[str]) -> Conversation:
    """Return what was asked so far, as it is remembered."""
    turns = (
        Turn(question_ref=MessageRef(thread=THREAD, id=str(number)), question=text, answer="So it is.", at=NOON)
        for number, text in enumerate(asked)
    )
    return Conversation(thread=THREAD, turns=tuple(turns))


async def follow_up_rows(corpus: str, retriever: Retriever) -> list[Row]:
    """Ask each follow-up alone, after one question, after two, and after as many as the agent takes."""
    ways: dict[str, Callable[[Sequence[str]], str]] = {
        "alone": lambda _: "",
        "after one question": lambda asked: asked[-1],
        "after two": lambda asked: "\n".join(asked[-2:]),
        "as it is done": lambda asked: earlier_questions(conversation(asked)),
    }
    figures: dict[str, float] = {}
    for way, earlier in ways.items():
        found: list[tuple[Sequence[Hit], Sequence[str]]] = []
        for case in (each for each in cases("follow_ups") if each["corpus"] == corpus):
            asked = [turn["question"] for turn in case["turns"]]
            for number, turn in enumerate(case["turns"][1:], start=1):
                before = "" if stands_alone(asked[number]) else earlier(asked[:number])
                result = await retriever.search(asked[number], limit=DEEP, scope=Scope(), earlier=before)
                found.append((result.hits, turn["pages"]))
        figures[f"{corpus}, {len(found)} follow-ups {way}: nDCG@10"] = quality(found)
    *rows, (last, figure) = figures.items()
    return [*(shown(what, value) for what, value in rows), at_least(last, figure, max(value for _, value in rows[1:]))]


async def main() -> None:
    """Measure all of it."""
    rows, others = list[Row](), dict[str, float]()
    for name, source in CORPORA.items():
        async with indexed(name, source()) as (embedder, index):
            retriever = HybridRetriever(embedder, index, clock=time.monotonic)
            rows += await page_rows(name, retriever)
            rows += await foreign_rows(name, retriever, others)
            rows += await follow_up_rows(name, retriever) if name != "course" else []
    rows.append(at_most(f"{OTHERS}, mean of the corpora", statistics.fmean(others.values()), 0.12))
    print_rows("Finding the right pages, and none", rows)


if __name__ == "__main__":
    asyncio.run(main())
