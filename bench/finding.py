"""How well it finds the pages that questions are about, and how well it tells that there are none.

`python -m bench.finding` asks the questions of `tests/evaluation`: those of `pages_*.jsonl` name the pages of the
documentation that answer them, those of `foreign.jsonl` are about something else, and the conversations of
`follow_ups.jsonl` go on from question to question. Their author saw the names of the pages, and nothing of what the
search finds. The curve was fitted to the course book and its `foreign_questions`; how words count was chosen with a
look at all of these but those that are `held out`. `rankings` compares ways to order what is found, and says between
what the difference to how it is done lies, in 95 of 100 draws of as many of the questions. `slips` misspells a word of
each question. `languages` asks the questions of `languages.jsonl`, which were drawn by chance and translated, over the
English corpora, with each model of this process, and `multilingual` asks everything of the second one.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import ir_measures
from ir_measures import Qrel, ScoredDoc, nDCG

from adapters.minilm import MiniLM
from adapters.minilm.multilingual import Multilingual
from bench.corpora import CACHE, Abstracts, claims, course, course_questions, indexed, lesson_of, ros, textbook
from bench.report import Row, at_least, at_most, print_rows, shown
from bench.retrieval import DEEP
from bot.evaluation.measures import interval
from core.answering.context import earlier_questions, stands_alone
from core.documents.retrieval import CANDIDATES, MEANING, NAMED, HybridRetriever
from core.model import Candidate, Conversation, Hit, IndexQuery, MessageRef, Scope, ThreadRef, Turn, Vector
from core.ports import DocumentSource, Embedder, PassageIndex, Retriever
from tests.builders import NOON

CASES = Path(__file__).resolve().parents[1] / "tests" / "evaluation"
CORPORA: dict[str, Callable[[], DocumentSource]] = {"course": course, "ros": ros, "textbook": textbook}
FLOORS = {"course": 0.907, "ros": 0.817, "textbook": 0.579}
"""The nDCG@10 that each corpus has at least."""
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
    return bool({url, lesson_of(url)}.intersection(pages)) or any(
        url.rpartition(".")[0].endswith(f"/{page}") for page in pages
    )


def cited(hits: Sequence[Hit]) -> list[Hit]:
    """Return what an answer would cite."""
    return [hit for hit in hits if hit.score >= THRESHOLD][:CITED]


def quality(asked: Sequence[tuple[Sequence[Hit], Sequence[str]]]) -> float:
    """Give nDCG@10 by page."""
    return statistics.fmean(qualities(asked))


def qualities(asked: Sequence[tuple[Sequence[Hit], Sequence[str]]]) -> list[float]:
    """Give nDCG@10 by page, of each question."""
    qrels, run = list[Qrel](), list[ScoredDoc]()
    for number, (hits, pages) in enumerate(asked):
        qrels += [Qrel(str(number), page, 1) for page in pages]
        urls = dict.fromkeys(hit.passage.page_url for hit in hits)
        named = [next((page for page in pages if is_of(url, [page])), url) for url in urls]
        run += [ScoredDoc(str(number), name, -rank) for rank, name in enumerate(dict.fromkeys(named))]
    measured: Any = ir_measures.iter_calc([nDCG @ 10], qrels, run)  # pyright: ignore[reportUnknownMemberType] - it also takes data frames
    found = {each.query_id: each.value for each in measured}
    return [found.get(str(number), 0.0) for number in range(len(asked))]


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
        at_least(f"{corpus}: nDCG@10 by page", quality(found), FLOORS[corpus]),
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


class Trusting(MiniLM):
    """The embedder as if it had a token for every word, so that none is taken for a misspelled one."""

    def count_tokens(self, text: str) -> int:
        """Count one."""
        return 1


def with_slip(text: str, draw: random.Random) -> str:
    """Return a question whose longest word, of those of at least six letters, has one slip of a key inside."""
    words = sorted(re.findall(r"(?<![\w-])[a-z]{6,}(?![\w-])", text.casefold()), key=len)
    if not words:
        return ""
    at, letter = draw.randrange(1, len(words[-1]) - 1), draw.choice(ascii_lowercase)
    start, here, after, end = words[-1][:at], words[-1][at], words[-1][at + 1], words[-1][at + 2 :]
    slips = (
        start + after + end,
        start + after + here + end,
        start + letter + after + end,
        start + letter + words[-1][at:],
    )
    return text.casefold().replace(words[-1], draw.choice(slips), 1)


async def slip_rows(corpus: str, embedder: Embedder, index: PassageIndex) -> list[Row]:
    """Ask the questions without a slip, with one, and with one where no word is read as another."""
    draw, rows = random.Random(0), list[Row]()
    asked = [(text, slip, pages) for text, pages in questions(corpus) if (slip := with_slip(text, draw))]
    slips = [(slip, pages) for _, slip, pages in asked]
    ways = {
        "without a slip": (embedder, [(text, pages) for text, _, pages in asked]),
        "with one": (embedder, slips),
        "with one, as it is spelled": (Trusting(CACHE / "models"), slips),
    }
    for way, (reader, texts) in ways.items():
        retriever = HybridRetriever(reader, index, clock=time.monotonic)
        found = [((await retriever.search(text, limit=DEEP, scope=Scope())).hits, pages) for text, pages in texts]
        what = f"{corpus}, {len(asked)} questions {way}"
        rows.append(shown(f"{what}: nDCG@10 by page", quality(found)))
        rows.append(shown(f"{what}: that get sources", statistics.fmean(bool(cited(hits)) for hits, _ in found)))
    return rows


async def language_rows(name: str) -> list[Row]:
    """Ask each translated question of its corpus, with one of the models."""
    among, got = defaultdict[str, list[bool]](list), defaultdict[str, list[bool]](list)
    for corpus, source in CORPORA.items():
        async with indexed(corpus, source(), embedder=made(name)) as (embedder, index):
            retriever = HybridRetriever(embedder, index, clock=time.monotonic)
            for case in (each for each in cases("languages") if each["corpus"] == corpus):
                for language, text in {"en": case["question"], **case["in"]}.items():
                    hits = (await retriever.search(text, limit=DEEP, scope=Scope())).hits
                    urls = list(dict.fromkeys(hit.passage.page_url for hit in hits))[:CITED]
                    among[language].append(any(is_of(url, case["pages"]) for url in urls))
                    got[language].append(bool(cited(hits)))
    others = {language: values for language, values in among.items() if language != "en"}
    among["all but en"] = [each for values in others.values() for each in values]
    got["all but en"] = [each for language in others for each in got[language]]
    rows = list[Row]()
    for language, right in among.items():
        figures = f"{statistics.fmean(right):.1%}, {statistics.fmean(got[language]):.1%}"
        what = f"{name}, {language}, {len(right)}"
        rows.append(Row(f"{what}: right page among the first five, and that get sources", figures))
    return rows


def made(name: str) -> Embedder | None:
    """Return the model of a name; none where it is the usual one."""
    return None if name == "english" else Multilingual(CACHE / "models")


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


@dataclass(frozen=True, slots=True)
class Ranking:
    """A way to order what an index found: how many of each list, and what counts for how much beside words."""

    candidates: int = CANDIDATES
    meaning: float = MEANING
    heading: float = 0.0  # of the cosine of the heading path alone
    best_three: float = 0.0  # of the mean of the three best passages of the page
    least: int = 1  # passages of a page whose best three count
    named: float = NAMED  # of the share of words that the title has


RANKINGS = {
    "as it is done": Ranking(),
    "without the title": Ranking(named=0.0),
    ".05 for the title": Ranking(named=0.05),
    ".06 for the title": Ranking(named=0.06),
    ".1 for the title": Ranking(named=0.1),
    ".48 for meaning": Ranking(meaning=0.48),
    ".52 for meaning": Ranking(meaning=0.52),
    ".6 for meaning": Ranking(meaning=0.6),
    "all candidates": Ranking(500),
    ".02 for the heading, without the title": Ranking(heading=0.02, named=0.0),
    ".2 for the heading, without the title": Ranking(heading=0.2, named=0.0),
    "+ .3 for the page's best three": Ranking(best_three=0.3),
    "+ .1 for the best three, of pages of eight passages": Ranking(best_three=0.1, least=8),
    "all candidates, .6, .2 and .3, without the title": Ranking(500, 0.6, 0.2, 0.3, named=0.0),
}


def ordered(way: Ranking, found: Sequence[Candidate], likeness: Mapping[str, float]) -> list[Hit]:
    """Order candidates in a way, where each heading has a *likeness* to the question."""
    best = {name: sorted(found, key=lambda one: -(getattr(one, name) or 0.0)) for name in ("dense", "lexical")}
    kept = {one.passage.passage_id: one for each in best.values() for one in each[: way.candidates]}
    ranks = {
        name: way.meaning * (one.dense or 0.0)
        + (1 - way.meaning) * (one.lexical or 0.0)
        + way.heading * likeness.get(one.passage.heading, 0.0)
        + way.named * one.named
        for name, one in kept.items()
    }
    pages = defaultdict[str, list[float]](list)
    for name, rank in sorted(ranks.items(), key=lambda item: -item[1]):
        pages[kept[name].passage.page_url].append(rank)
    whole = {url: way.best_three * statistics.fmean(best[:3]) for url, best in pages.items()}
    large = {name for name, one in kept.items() if one.passage.page_length >= way.least}
    counted = {name: rank + whole[kept[name].passage.page_url] * (name in large) for name, rank in ranks.items()}
    order = sorted(counted, key=lambda name: (-counted[name], name))
    return [Hit(kept[name].passage, ranks[name]) for name in order]


async def ranking_rows(corpus: str, embedder: Embedder, index: PassageIndex) -> list[Row]:
    """Ask the same questions, and order what is found in every way."""
    asked = claims() if corpus == "scifact" else questions(corpus)
    found = {way: list[tuple[Sequence[Hit], Sequence[str]]]() for way in RANKINGS}
    known: dict[str, Vector] = {}
    for text, pages in asked:
        vector = await embedder.embed_query(text)
        candidates = await index.candidates(IndexQuery(text, vector, Scope()), limit=500)
        new = list({one.passage.heading for one in candidates} - known.keys())
        known.update(zip(new, await embedder.embed_passages(new) if new else (), strict=True))
        likeness = {each: sum(map(mul, vector, known[each])) for each in {one.passage.heading for one in candidates}}
        for name, way in RANKINGS.items():
            found[name].append((ordered(way, candidates, likeness), pages))
    usual, rows = qualities(found["as it is done"]), list[Row]()
    for name, hits in found.items():
        values = qualities(hits)
        change = interval([one - other for one, other in zip(values, usual, strict=True)])
        figures = f"{statistics.fmean(values):.3f}, {change.mean:+.3f} ({change.low:+.3f} to {change.high:+.3f})"
        rows.append(Row(f"{corpus}, {name}: nDCG@10", figures))
    return rows


async def main(parts: Sequence[str] = ()) -> None:
    """Measure all of it, only what becomes of misspelled words, or how what is found had better be ordered."""
    if "slips" in parts:
        rows = list[Row]()
        for name, source in CORPORA.items():
            async with indexed(name, source()) as (embedder, index):
                rows += await slip_rows(name, embedder, index)
        print_rows("Questions with a misspelled word", rows)
        return
    if "rankings" in parts:
        rows = list[Row]()
        for name, source in {**CORPORA, "scifact": Abstracts}.items():
            async with indexed(name, source()) as (embedder, index):
                rows += await ranking_rows(name, embedder, index)
        print_rows("Ways to rank", rows)
        return
    if "languages" in parts:
        print_rows(
            "Questions in other languages",
            [row for name in ("english", "multilingual") for row in await language_rows(name)],
        )
        return
    rows, others = list[Row](), dict[str, float]()
    for name, source in CORPORA.items():
        model = made("multilingual" if "multilingual" in parts else "english")
        async with indexed(name, source(), embedder=model) as (embedder, index):
            retriever = HybridRetriever(embedder, index, clock=time.monotonic)
            rows += await page_rows(name, retriever)
            rows += await foreign_rows(name, retriever, others)
            rows += await follow_up_rows(name, retriever) if name != "course" else []
    rows.append(at_most(f"{OTHERS}, mean of the corpora", statistics.fmean(others.values()), 0.12))
    print_rows("Finding the right pages, and none", rows)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
