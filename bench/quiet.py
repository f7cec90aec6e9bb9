"""How well the bot keeps out of people's talk: situations in threads of its own, some with a question for it.

`python -m bench.quiet` judges each part by words and company alone. With `search` behind it, what it would answer among
people is also looked for, as the bot is silent there where it finds nothing: in the textbook and the pages in `docs`,
the fifth part, in which people talk about the subject of a course, in that course's book, and the sixth and the last in
that book and `docs`. The same is done for what a chat model would judge, where there is one: how much reaches it, and
how often it is asked; `python -m bench.judging` shows what comes of it.

Each part but the first was written after the rule had been frozen, and judged it before it was changed again; what was
measured then stands in `docs/measurements.md`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from adapters.documents.folder import Folder
from bench.corpora import course, indexed, textbook
from bench.report import Row, at_least, at_most, print_rows, shown
from core.answering.tools import MOST_FOUND
from core.community.addressing import reads_as_question
from core.community.routing import Action, Company, Standing, route
from core.documents.retrieval import HybridRetriever
from core.model import Attendance, Inbound, InboundKind, MessageRef, Person, Scope, Setting, ThreadRef
from core.ports import DocumentSource, Retriever

ROOT = Path(__file__).resolve().parents[1]
PARTS = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh"),  # short ones, in twelve languages
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),  # with what askers say next
    *("seventeenth", "eighteenth"),
)
BOT, ASKER, OTHER = "bot", "asker", "other"
ANSWERED = datetime(2026, 1, 1, 12, tzinfo=UTC)
THREAD = ThreadRef(platform="bench", workspace="w", channel="c", thread="t")
RELEVANT = 0.5


@dataclass(frozen=True, slots=True)
class Situation:
    """What somebody says in a thread of the bot's, and whom it is for.

    It comes *from* the asker who is alone with the bot, from the asker once others have spoken, or from one of those;
    and *after* the bot's last answer or after another person. It is `addressed` by a mention or a reply, or not at all.
    """

    text: str
    language: str
    comes_from: Literal["alone", "asker", "other"]
    after: Literal["bot", "people"]
    addressed: Literal["mention", "reply", ""]
    names: tuple[str, ...]
    is_for_bot: bool

    @property
    def is_among_people(self) -> bool:
        """Whether nobody speaks to the bot, and it is not alone with whoever asked."""
        return not self.addressed and self.comes_from != "alone"

    def is_answered(self, *, judges: bool = False) -> bool:
        """Return whether the product would look for an answer; where a model *judges*, to let it do so."""
        author = OTHER if self.comes_from == "other" else ASKER
        others = {} if self.comes_from == "alone" else {ASKER if author == OTHER else OTHER: self._when()}
        standing = Standing(
            me=BOT,
            threads_we_own={THREAD.thread},
            reads_all=True,
            company=Company({ASKER}, Attendance(spoke=others), ANSWERED, self.names),
            judges=judges,
        )
        inbound = Inbound(
            kind=InboundKind.WRITTEN,
            message=MessageRef(thread=THREAD, id="1"),
            setting=Setting.THREAD,
            author=Person(id=author),
            text=self.text,
            mentions=(BOT,) if self.addressed == "mention" else (),
            is_reply_to=BOT if self.addressed == "reply" else "",
            at=ANSWERED + timedelta(minutes=2),
        )
        return route(inbound, standing).action is not Action.LEAVE

    def _when(self) -> datetime:
        """Return when somebody else spoke last."""
        return ANSWERED + timedelta(minutes=1 if self.after == "people" else -1)


@dataclass(frozen=True, slots=True)
class Judged:
    """How many situations there are of a kind, and which of them are answered."""

    all: int
    answered: tuple[Situation, ...]

    @property
    def share(self) -> float:
        """Return how many of a hundred are answered."""
        return 100 * len(self.answered) / max(self.all, 1)


def situations(part: str) -> Sequence[Situation]:
    """Return the situations of a part."""
    lines = (ROOT / "tests" / "evaluation" / f"quiet_{part}.jsonl").read_text("utf-8").splitlines()
    return [
        Situation(
            text=row["text"],
            language=row["language"],
            comes_from=row["from"],
            after=row["after"],
            addressed=row["addressed"],
            names=tuple(row["names"]),
            is_for_bot=row["for"] == "bot",
        )
        for row in map(json.loads, lines)
    ]


def judged(parts: Sequence[str], *, judges: bool = False) -> tuple[Judged, Judged, Judged]:
    """Return what is none of the bot's business, what is said to it, and what is asked of it among people.

    Where a model *judges*, what is answered is what it gets to see once something relevant is found.
    """
    found = [each for part in parts for each in situations(part)]
    kinds = (
        [each for each in found if not each.is_for_bot],
        [each for each in found if each.is_for_bot and not each.is_among_people],
        [each for each in found if each.is_for_bot and each.is_among_people],
    )
    people, direct, among = (
        Judged(len(kind), tuple(each for each in kind if each.is_answered(judges=judges))) for kind in kinds
    )
    return people, direct, among


def rows(name: str, parts: Sequence[str]) -> list[Row]:
    """Return the figures of some parts, of which not all have questions that are said to the bot."""
    people, direct, among = judged(parts)
    said = at_least(f"{name}: {direct.all} questions said to the bot, answered", direct.share, 99, " %")
    return [
        at_most(f"{name}: {people.all} remarks of people among themselves, taken for questions", people.share, 2, " %"),
        *([said] if direct.all else []),
        at_least(f"{name}: {among.all} questions among people, answered", among.share, 80, " %"),
    ]


async def found(retriever: Retriever, kind: Judged, *, judges: bool = False) -> Judged:
    """Return those of a kind for which something relevant is found, or which a model that *judges* would see anyway."""
    relevant = list[Situation]()
    for each in kind.answered:
        result = await retriever.search(each.text, limit=MOST_FOUND, scope=Scope())
        is_found = any(hit.score >= RELEVANT for hit in result.hits)
        if is_found or (judges and reads_as_question(each.text, follows_answer=True)):
            relevant.append(each)
    return Judged(kind.all, tuple(relevant))


async def searched(name: str, parts: Sequence[str], *sources: DocumentSource) -> list[Row]:
    """Look for what is said among people and is taken for a question, or may be one for a model to judge."""
    rows = list[Row]()
    async with indexed(name, *sources) as (embedder, index):
        retriever = HybridRetriever(embedder, index, clock=time.monotonic)
        for part in parts:
            for judges in (False, True):
                people, _, among = judged([part], judges=judges)
                by_words = len(people.answered) + len(among.answered)
                people, among = [await found(retriever, kind, judges=judges) for kind in (people, among)]
                calls = len(people.answered) + len(among.answered)
                if judges:
                    rows.append(shown(f"{part}: {people.all} remarks of people that reach a model", people.share, " %"))
                    rows.append(at_least(f"{part}: {among.all} questions that reach a model", among.share, 90, " %"))
                    rows.append(shown(f"{part}: calls of a model, after {by_words} searches", calls))
                    continue
                rows.append(at_most(f"{part}: {people.all} remarks of people, answered", people.share, 2, " %"))
                rows.append(shown(f"{part}: {among.all} questions among people, answered", among.share, " %"))
                asked = [each for each in situations(part) if each.is_for_bot and each.is_among_people]
                known = await found(retriever, Judged(len(asked), tuple(asked)))
                of_known = Judged(len(known.answered), among.answered)
                what = f"{part}: the {of_known.all} of them that a mention would have had answered, answered"
                rows.append(at_least(what, of_known.share, 80, " %"))
    return rows


def main() -> None:
    """Print the figures of each part, and of all."""
    for part in PARTS:
        print_rows(f"The {part} part", rows("by words", [part]))
    print_rows("All parts", rows("by words", PARTS))
    if "search" in sys.argv:
        manual = Folder(ROOT / "docs", name="manual")
        print_rows(
            "With search in the textbook and docs", asyncio.run(searched("quiet", PARTS[:4], textbook(), manual))
        )
        print_rows("With search in the course book", asyncio.run(searched("course", PARTS[4:5], course())))
        print_rows(
            "With search in the course book and docs",
            asyncio.run(searched("course and docs", (PARTS[5], PARTS[-1]), course(), manual)),
        )


if __name__ == "__main__":
    main()
