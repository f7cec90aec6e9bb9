"""How many natural questions get an answer that a student would accept where no chat model is connected.

`python -m bench.quotes` asks the questions of `tests/evaluation/answers_*.jsonl`, which beginners might ask a
textbook, a course book and the documentation of ROS 2. The ones with `new` in their id were written after the way of
quoting was settled, those with `third` by somebody who had read the documents and neither the code nor an answer, and
those with `fourth` to learn from; each part is counted alone. With `--wrong` it prints the answers that are not as they
should be.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from adapters.extractive import ExtractiveModel
from bench.corpora import course, indexed, ros, textbook
from bench.report import Row, at_least, at_most, print_rows, shown
from bot.evaluation.cases import Result, evaluate, read_cases
from core.answering.agent import Agent
from core.documents.retrieval import HybridRetriever
from core.messages import QUOTES_ONLY
from core.model import Answer, MessageRef, Passage, Person, Question, Scope, SearchResult, ThreadRef, Waiting

CASES = Path(__file__).resolve().parents[1] / "tests" / "evaluation"
BARS = {"textbook": (textbook, 0.60), "course": (course, 0.60), "ros": (ros, 0.45)}
THREAD = ThreadRef(platform="terminal", workspace="local", channel="bench", thread="quotes")
_WORD = re.compile(r"[^\W_]+")
_TARGET = re.compile(r"(?<=\])\([^)\s]*\)|\{[#.][^}]*\}")  # of a link, which is not shown
_MARK = re.compile(r"\[(\d+)\]")


class Watched(HybridRetriever):
    """The retriever, which keeps what it has found."""

    def __init__(self, *parts: object, **named: object) -> None:
        super().__init__(*parts, **named)  # type: ignore[arg-type]
        self.found: dict[str, list[Passage]] = {}

    async def search(
        self,
        query: str,
        *,
        limit: int,
        scope: Scope,
        earlier: str = "",
        is_about_both: bool = False,
        waiting: Waiting | None = None,
    ) -> SearchResult:
        """Search, and keep the passages by their section."""
        result = await super().search(
            query, limit=limit, scope=scope, earlier=earlier, is_about_both=is_about_both, waiting=waiting
        )
        for hit in result.hits:
            self.found.setdefault(hit.passage.source_url, []).append(hit.passage)
        return result


def misquoted(answer: Answer, found: Mapping[str, Sequence[Passage]]) -> int:
    """Count the lines of an answer that do not stand word for word in the section that the next mark names."""
    if not answer.citations:  # nothing was found, and nothing quoted
        return 0
    urls = {each.number: each.url for each in answer.citations}
    wrong, pending = 0, list[str]()
    for line in answer.text.replace(f"_{QUOTES_ONLY}_", "").splitlines():
        marks = _MARK.findall(line)
        pending.append(" ".join(_WORD.findall(_TARGET.sub("", _MARK.sub("", line)))))
        if marks:
            passages = found.get(urls[int(marks[-1])], ())  # a list may stand below the name of its section
            given = (text for each in passages for text in (each.text, each.section_title, each.page_title))
            texts = [" ".join(_WORD.findall(_TARGET.sub("", text))) for text in given]
            strange = [words for words in pending if not any(words in text for text in texts)]
            wrong += len(strange)
            if "--wrong" in sys.argv:
                sys.stdout.writelines(f"not there: {words}\n" for words in strange)
            pending = []
    return wrong + sum(map(bool, pending))


async def measure(name: str) -> list[Row]:
    """Ask all questions of one corpus."""
    source, bar = BARS[name]
    cases = read_cases((CASES / f"answers_{name}.jsonl").read_text("utf-8").split("\n"))
    async with indexed(f"quotes-{name}", source()) as (embedder, index):
        retriever = Watched(embedder, index, clock=time.monotonic)
        agent = Agent(ExtractiveModel(embedder), retriever, clock=time.monotonic)

        async def ask(questions: Sequence[str]) -> Answer:
            asked = Question.create(
                message=MessageRef(thread=THREAD, id=questions[-1]),
                text=questions[-1],
                author=Person(id="bench"),
                asked_at=datetime.now(UTC),
            )
            return await agent.answer(asked)

        begun = time.process_time()
        results = [result async for result in evaluate(cases, ask)]
        took = (time.process_time() - begun) / len(cases)
        wrong = sum(misquoted(result.answer, retriever.found) for result in results)
    if "--wrong" in sys.argv:
        for result in results:
            if not result.passed:
                print(f"\n{result.case.id} {result.case.question}\n{result.answer.text}")
    return [
        *(share(f"{name}, {what}", some, bar) for what, some in split(results).items()),
        at_most(f"{name}, lines that are not in the section they cite", wrong, 0),
        shown(f"{name}, CPU a question", took * 1000, " ms"),
    ]


def split(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Tell the questions apart by what was known of the way of quoting when they were written."""
    parts = defaultdict[str, list[Result]](list)
    for result in results:
        part = next((part for part in ("new", "third", "fourth") if f"-{part}-" in result.case.id), "first")
        parts[f"acceptable, {part} questions"].append(result)
    return parts


def share(what: str, results: Sequence[Result], bar: float) -> Row:
    """Give the share of answers that are as they should be."""
    return at_least(f"{what}, of {len(results)}", sum(each.passed for each in results) / len(results), bar)


async def main() -> None:
    """Measure all three."""
    print_rows("answers without a chat model", [row for name in BARS for row in await measure(name)])


if __name__ == "__main__":
    asyncio.run(main())
