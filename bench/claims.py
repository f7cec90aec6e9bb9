"""How well the claims of an answer are held against its passages, by words, numbers, names and code alone.

`python -m bench.claims` takes right answers, which people might have written over passages of three real corpora, and
breaks them by rule: a mark that names another passage of the answer, passages of another page or corpus, a changed
number, unit or name, a number that the passage has for something else, a negated verb. The thresholds were chosen on
the first set; the second has other pages, and is judged apart. The third is made by rule of pages that no other has.
Further sets have answers of one sentence over tables, lists and definitions, or are tables. Then it looks for sentences
that claim a deed. It begins with what the checks cost, and with the word `cost` ends there.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.agent.question import tokens
from bench.cohere import percentile
from bench.corpora import need
from bench.report import Row, at_least, at_most, print_rows, shown
from bench.rewording import answers
from core.answering.citations import Footnotes, Sources
from core.answering.claims import SAID, Evidence, Statement
from core.answering.deeds import deeds
from core.answering.markup import MarkupReader, read
from core.answering.prompts import NOT_IN_DOCUMENTS
from core.answering.tools import SearchTool
from core.answering.verdict import AnswerDraft, is_founded, judge, weighed
from core.documents.excerpt import sentences
from tests.builders import hit, question
from tests.fakes.shelf import Shelf

SETS = Path(__file__).resolve().parents[1] / "tests" / "evaluation"
CORPORA = {"course": "course-physical-ai/lessons", "textbook": "docusaurus-textbook/docs", "ros2": "ros2-docs/source"}
_MARK = re.compile(r"\s*\[(\d)\]")
_END = re.compile(r"([.!?]+[\"')]*)((?:\s*\[\d\])+)")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_UNIT = re.compile(r"(?<=\d )(?:ms|seconds|minutes|meters|kg|Hz|percent)\b|(?<=\d)(?:ms|%|Hz)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z]\w+")
_VERB = re.compile(r"\b(is|are|can|does|do|will|has|have)\b")
_SECTION = re.compile(r"^(?=#{1,6} )", re.MULTILINE)
_TITLE = re.compile(r"^#{1,6} +(.+)$|^(\S.*)\n(?:=+|-+|~+|\^+|\"+)$", re.MULTILINE)
_ROW = re.compile(r"^\|(?![-:| ]+$)(.+)\|\s*$", re.MULTILINE)
_VALUE = r"[~+<>≥$]*\d{1,4}(?:\.\d+)?(?: ?[A-Za-z%/]+)?"
_FIELD = re.compile(rf"^\s*[-*] \**([A-Z][\w ]{{2,40}})\**:\** ({_VALUE})\s*$", re.MULTILINE)
LONGEST, MADE = 2500, 40  # characters of a section that is one passage, and answers of a corpus that are made by rule
NAMES = ("tuning", "held_out", "facts")
ROUNDS, DRAWN = 3, 15  # of the answers whose cost is measured, and tokens from one drawing of them to the next
MANY, MOST = 5, 20  # passages that an answer is usually made of, and that it can be
BEHIND = 3  # words, where a sentence without a verb is cut into two cells; and rows that a table has at least
UNITS = ("ms", "s", "minutes", "km", "kg", "Hz", "%")


@dataclass(frozen=True, slots=True)
class Case:
    """A right answer and what it was written from."""

    corpus: str
    question: str
    pages: Sequence[str]
    passages: Sequence[str]
    answer: str

    @classmethod
    def made(cls, row: Mapping[str, Any]) -> Case:
        """Read its passages from the corpus."""
        root = need(CORPORA[row["corpus"]].partition("/")[0]) / CORPORA[row["corpus"]].partition("/")[2]
        texts = [titled(root / each["page"], each["start"], each["end"]) for each in row["passages"]]
        return cls(row["corpus"], row["question"], [each["page"] for each in row["passages"]], texts, row["answer"])

    def evidence(self, passages: Sequence[str] = ()) -> Evidence:
        """Return its passages, or others in their place."""
        found = Evidence(said=self.question)
        for number, text in enumerate(passages or self.passages, 1):
            found.add(number, text)
        return found

    def claims(self) -> Iterator[tuple[str, list[int]]]:
        """Yield each sentence and row that has marks, and these."""
        for line in self.answer.split("\n"):
            bare = _END.sub(r"\2\1", _ITEM.sub("", line))
            for each in [bare] if bare.startswith("|") else sentences(bare):
                said = _MARK.sub("", each).strip(" |")
                if (numbers := [int(one) for one in _MARK.findall(each)]) and Statement(said).is_checkable:
                    yield said, numbers


def cut(path: Path, start: int, end: int) -> str:
    """Return a part of a page, whose places count both characters at the ends of lines where there are two."""
    return path.read_bytes().decode()[start:end].replace("\r\n", "\n")


def titled(path: Path, start: int, end: int) -> str:
    """Return the same behind the titles of its page and its section, as a model is given it."""
    titles = [
        found[1] or found[2] for found in _TITLE.finditer(cut(path, 0, start + 200)) if found.start() < start + 5
    ] or [path.stem]
    return f"# {titles[0]}\n# {titles[-1]}\n\n{cut(path, start, end)}"


@dataclass
class Count:
    """How often something was so, of how often it could be."""

    yes: Counter[str]
    of: Counter[str]

    def add(self, what: str, *, is_so: bool) -> None:
        """Count one more."""
        self.yes[what] += is_so
        self.of[what] += 1

    def share(self, what: str) -> float:
        """Return it in percent."""
        return 100 * self.yes[what] / max(self.of[what], 1)


def exchanged(sentence: str, passage: str, chance: random.Random) -> Iterator[str]:
    """Yield a sentence with each of its numbers in turn exchanged for another one of its passage."""
    for one in _NUMBER.finditer(sentence):
        others = sorted({each for each in _NUMBER.findall(passage) if each not in sentence})
        if others:
            yield sentence[: one.start()] + chance.choice(others) + sentence[one.end() :]


def changed(sentence: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield what rules make of a sentence, by the name of the rule."""
    for one in _NUMBER.finditer(sentence):
        other = str(int(float(one[0])) + chance.choice((1, 2, 3, 7)))
        if "." in one[0]:
            other = one[0][:-1] + str((int(one[0][-1]) + chance.choice((1, 2, 3))) % 10)
        yield "number or version", sentence[: one.start()] + other + sentence[one.end() :]
    if one := _UNIT.search(sentence):
        other = chance.choice([unit for unit in UNITS if unit[0] != one[0][0]])
        yield "unit", sentence[: one.start()] + other + sentence[one.end() :]
    if names := list(_NAME.finditer(sentence)):
        one = chance.choice(names)
        yield "name", f"{sentence[: one.start()]}Contoso{sentence[one.end() :]}"
    if one := _VERB.search(sentence):
        yield "negation", f"{sentence[: one.end()]} not{sentence[one.end() :]}"


def judged(cases: Sequence[Case]) -> list[Row]:
    """Return what becomes of right answers and of broken ones."""
    chance, another, count = random.Random(1), random.Random(2), Count(Counter(), Counter())
    for case in cases:
        _judge_right(case, count)
        _judge_broken(case, count, chance)
        for where, texts in strangers(case, cases).items():
            _judge_strange(case, count, where, [chance.choice(texts) for _ in case.passages])
            _judge_strange(case, count, f"{MOST} of {where}", another.choices(texts, k=MOST))
    far = count.of["far"]
    return [
        shown("right answers", len(cases)),
        at_most("right marks that move or go", count.share("moved"), 5, " %"),
        at_most("right answers with a warning", count.share("warned"), 5, " %"),
        at_most("right answers that are refused", count.share("refused"), 0, " %"),
        at_least("marks on another passage of the answer that move or go", count.share("the same answer"), 90, " %"),
        *([shown(f"the same, of {far} where that is of another page", count.share("far"), " %")] if far else []),
        at_least("marks over passages of another page that go", count.share("another page"), 90, " %"),
        at_least("marks over passages of another corpus that go", count.share("another corpus"), 90, " %"),
        shown("answers over passages of another page that are refused", count.share("refused, another page"), " %"),
        shown("answers over passages of another corpus that are refused", count.share("refused, another corpus"), " %"),
        shown(f"the same, over {MOST} of another page", count.share(f"refused, {MOST} of another page"), " %"),
        shown(f"the same, over {MOST} of another corpus", count.share(f"refused, {MOST} of another corpus"), " %"),
        at_least("changed numbers and versions whose mark goes", count.share("number or version"), 90, " %"),
        shown("numbers exchanged for one of the passage whose mark goes", count.share("exchanged"), " %"),
        shown(f"changed units whose mark goes, of {count.of['unit']}", count.share("unit"), " %"),
        shown("changed names whose mark goes", count.share("name"), " %"),
        shown("negated sentences whose mark goes", count.share("negation"), " %"),
    ]  # fmt: skip


def strangers(case: Case, cases: Sequence[Case]) -> Mapping[str, Sequence[str]]:
    """Return passages that an answer was not written from, by where they come from."""
    pairs = [(each.corpus, page, text) for each in cases for page, text in zip(each.pages, each.passages, strict=True)]
    return {
        "another page": [text for corpus, page, text in pairs if corpus == case.corpus and page not in case.pages],
        "another corpus": [text for corpus, _, text in pairs if corpus != case.corpus],
    }


def _judge_right(case: Case, count: Count) -> None:
    evidence, known = case.evidence(), range(1, len(case.passages) + 1)
    for said, numbers in case.claims():
        for one in numbers:
            count.add("moved", is_so=evidence.place(said, one, known) != one)
    said = weighed(read(_MARK.sub("", case.answer), Sources()), evidence)
    count.add("warned", is_so=any(each.support < SAID for each in said))
    count.add("refused", is_so=not is_founded(said))


def _judge_broken(case: Case, count: Count, chance: random.Random) -> None:
    evidence, known = case.evidence(), range(1, len(case.passages) + 1)
    for said, numbers in case.claims():
        right = {case.pages[one - 1] for one in numbers}
        for one in (each for each in known if each not in numbers):
            place = evidence.place(said, one, known)
            for what in ["the same answer", *(["far"] if case.pages[one - 1] not in right else [])]:
                count.add(what, is_so=place is None or place in numbers)
        for rule, other in changed(said, chance):
            count.add(rule, is_so=evidence.place(other, numbers[0], known) is None)
        for other in exchanged(said, case.passages[numbers[0] - 1].partition("\n\n")[2], random.Random(said)):
            count.add("exchanged", is_so=evidence.place(other, numbers[0], known) is None)


def _judge_strange(case: Case, count: Count, where: str, passages: Sequence[str]) -> None:
    evidence, known = case.evidence(passages), range(1, len(passages) + 1)
    blocks = read(_MARK.sub("", case.answer), Sources())
    count.add(f"refused, {where}", is_so=not is_founded(weighed(blocks, evidence)))
    for said, numbers in case.claims():
        count.add(where, is_so=evidence.place(said, numbers[0], known) is None)


def facts(cases: Sequence[Case]) -> list[Row]:
    """Return what becomes of answers of one sentence, which are refused where its footnote goes."""
    chance, count, number = random.Random(1), Count(Counter(), Counter()), "number or version"
    for case in cases:
        evidence, known = case.evidence(), range(1, len(case.passages) + 1)
        for said, numbers in case.claims():
            place = evidence.place(said, numbers[0], known)
            is_founded_on = is_founded(weighed(read(said, Sources()), evidence))
            count.add("lost", is_so=place is None or not is_founded_on)
            count.add("moved", is_so=place not in {None, *numbers})
            for rule, other in changed(said, chance):
                count.add(rule, is_so=evidence.place(other, numbers[0], known) is None)
    return [
        at_most(f"right ones without footnote or refused, of {count.of['lost']}", count.share("lost"), 5, " %"),
        shown("right ones whose footnote names another passage", count.share("moved"), " %"),
        shown(f"changed numbers whose mark goes, of {count.of[number]}", count.share(number), " %"),
    ]  # fmt: skip


def cells(name: str) -> Iterator[Case]:
    """Yield a sentence for each number that a row or an item of a corpus in Markdown gives for something."""
    folder, _, rest = CORPORA[name].partition("/")
    for path in sorted((need(folder) / rest).rglob("*.md")):
        for section in _SECTION.split(path.read_text(encoding="utf-8")):
            heading = section.partition("\n")[0].lstrip("#0123456789. ")
            head, *rows = [[cell.strip(" *") for cell in row.split("|")] for row in _ROW.findall(section)] or [[]]
            said = [
                (f"{what} of {row[0]}", cell) for row in rows for what, cell in zip(head[1:], row[1:], strict=False)
            ]
            for what, value in said + _FIELD.findall(section) if len(section) <= LONGEST else ():
                if re.fullmatch(_VALUE, value):
                    yield Case(name, "", [path.name], [section], f"In {heading}, the {what} is {value} [1].")


def tabulated(case: Case) -> Case:
    """Return a case whose sentences are the rows of a table, each with its marks in a cell of their own."""
    rows = ["| What | More | Source |", "|---|---|---|"]
    for said, numbers in case.claims():
        verb = _VERB.search(said)
        first = said[: verb.start()] if verb and verb.start() else " ".join(said.split()[:BEHIND])
        rows.append(f"| {first.strip()} | {said[len(first) :].strip()} | {''.join(f'[{one}]' for one in numbers)} |")
    return replace(case, answer="\n".join(rows))


def copied(name: str) -> Iterator[Case]:
    """Yield each table of a corpus in Markdown as an answer, with a mark behind each row, beside other sections."""
    folder, _, rest = CORPORA[name].partition("/")
    for path in sorted((need(folder) / rest).rglob("*.md")):
        parts = [each for each in _SECTION.split(path.read_text(encoding="utf-8")) if len(each) <= LONGEST]
        for part in parts:
            head, *rows = [*re.findall(r"^\|.*\|(?=\s*$)", part, re.MULTILINE), ""]
            others = [each for each in parts if "|" not in each][:3]
            if len(rows) > BEHIND + 1 and rows[0].startswith("|--"):
                answer = "\n".join([head, rows[0], *(f"{each[:-1]} [1] |" for each in rows[1:-1])])
                yield Case(name, "Which are there?", [path.name] * (1 + len(others)), [part, *others], answer)


def unseen(half: int, seed: int) -> Iterator[Case]:
    """Yield cases that are made by rule, of pages that no other set has."""
    rows = [json.loads(line) for name in NAMES for line in (SETS / f"claims_{name}.jsonl").read_text().splitlines()]
    known = {passage["page"] for row in rows for passage in row["passages"]}
    for corpus, folder in {**CORPORA, "scifact": "scifact"}.items():
        root = need(folder.partition("/")[0]) / folder.partition("/")[2]
        for held, answer in answers(corpus, root, known, half=half, seed=seed, most=MADE):
            texts = [f"# {each.page_title}\n# {each.title}\n\n{each.text}" for each in held]
            yield Case(corpus, held[0].page_title, [each.page for each in held], texts, answer)


def cost(cases: Sequence[Case]) -> list[Row]:
    """Return what the checks add to an answer, with and without them in turns, by the CPU's time, and what is worst."""
    spent: dict[bool, list[tuple[float, float, float]]] = {True: [], False: []}
    for at, case, are_checked in itertools.product(range(ROUNDS), cases, (True, False)):
        spent[are_checked].append(asyncio.run(_answered(case, at, are_checked=are_checked)))
    whole = {each: 1000 * statistics.mean(first for first, *_ in times) for each, times in spent.items()}
    ends = [
        {each: 1000 * percentile([one[at] for one in times], 0.95) for each, times in spent.items()} for at in (1, 2)
    ]
    rows = [
        shown("CPU from the search to the verdict without checks", whole[False], " ms"),
        at_most("CPU that the checks add to it", whole[True] - whole[False], 15, " ms"),
        shown("CPU behind the last token without checks, p95", ends[0][False], " ms"),
        at_most("the same with checks", ends[0][True], 100, " ms"),
        shown("CPU of the longest drawing without checks, p95", ends[1][False], " ms"),
        shown("the same with checks", ends[1][True], " ms"),
    ]
    passages = sorted({each for case in cases for each in case.passages}, key=len)
    for largest in (passages[-MANY:], passages[-MOST:]):
        held = sorted(_held(largest, [said for case in cases for said, _ in case.claims()]))
        numbers = " ".join(f"There are {each} kg, {each + 7} m and {each + 9} Hz." for each in range(100, 430))
        _, last, _ = asyncio.run(_answered(replace(cases[0], passages=largest, answer=numbers), 0))
        over = f"over the {len(largest)} largest passages"
        rows += [shown(f"CPU of a right sentence {over}, p99", 1000 * held[-len(held) // 100], " ms")]
        rows += [shown("the same, the first with a number", 1000 * held[-1], " ms")]
        rows += [shown(f"CPU behind the last token of 330 sentences of numbers {over}", 1000 * last, " ms")]
    return rows


def _held(passages: Sequence[str], claims: Iterable[str]) -> Iterator[float]:
    """Yield the seconds that each claim takes, with passages whose words were read before."""
    evidence = Evidence()
    for number, text in enumerate(passages, 1):
        evidence.add(number, text)
        evidence.read_ahead()
    for said in claims:
        begun = time.process_time()
        evidence.place(said, 1, range(1, len(passages) + 1))
        yield time.process_time() - begun


async def _answered(case: Case, at: int, *, are_checked: bool = True) -> tuple[float, float, float]:
    """Return the seconds of an answer from its search on, behind its last token, and of its longest drawing."""
    texts = [f"{text}\n\nRead {at}, {are_checked}." for text in case.passages]
    hits = [hit(text=text, url=f"https://docs.example/{number}#a") for number, text in enumerate(texts)]
    asked, sources = question(case.question, top_k=len(hits)), Sources(are_checked=are_checked)
    begun = time.process_time()
    search = SearchTool(Shelf(*hits), asked, sources, excerpt_limit=LONGEST)
    await search.search_documents(case.question)
    draft = AnswerDraft(MarkupReader(Footnotes(sources)), is_live=True, unless=NOT_IN_DOCUMENTS)
    longest, last = 0.0, time.process_time()
    for number, token in enumerate(tokens(case.answer)):
        draft.feed(token)
        _ = draft.blocks if number % DRAWN == 0 else ()
        before, last = last, time.process_time()
        longest = max(longest, last - before)
    draft.feed("", is_last=True)
    judge(asked, draft, search, is_free=False, has_grounds=False)
    ended = time.process_time()
    return ended - begun, ended - last, longest


def told(name: str) -> list[Row]:
    """Return how many sentences of a set are taken for a deed."""
    count = Count(Counter(), Counter())
    for row in map(json.loads, (SETS / f"deeds_{name}.jsonl").read_text().splitlines()):
        count.add("deed" if row["is_claim_of_deed"] else "harmless", is_so=any(deeds(row["text"])))
    return [
        at_least(f"claims of a deed that are found, of {count.of['deed']}", count.share("deed"), 90, " %"),
        at_most(f"harmless ones that are taken for one, of {count.of['harmless']}", count.share("harmless"), 5, " %"),
    ]  # fmt: skip


def documented() -> Row:
    """Return how many sentences of the corpora, which say nothing of the bot, are taken for a deed."""
    sections = (
        section
        for where in CORPORA.values()
        for path in sorted((need(where.partition("/")[0]) / where.partition("/")[2]).rglob("*.[mr][ds]*"))
        for section in path.read_text(encoding="utf-8").split("\n\n")
    )
    said = [each for section in sections for each in sentences(" ".join(section.split()))]
    found = sum(any(deeds(each)) for each in said)
    return shown(f"sentences of documents that are taken for one, of {len(said):,}", found)


def main(parts: Collection[str]) -> None:
    """Print a table for each set, or with the word `cost` only what the checks cost."""
    sets = {name: (SETS / f"claims_{name}.jsonl").read_text().splitlines() for name in NAMES}
    made = {name: [Case.made(json.loads(row)) for row in rows] for name, rows in sets.items()}
    print_rows("What the checks of claims cost", cost([*made["tuning"], *made["held_out"]]))
    if "cost" in parts:
        return
    print_rows("Claims, the first set", judged(made["tuning"]))
    print_rows("Claims, the second set, with other pages", judged(made["held_out"]))
    print_rows("Claims, the third set, made by rule of other pages", judged([*unseen(half=1, seed=2027)]))
    print_rows("Claims, the second set as tables", judged([*map(tabulated, made["held_out"])]))
    print_rows("Claims, tables of the documents", judged([*copied("course"), *copied("textbook")]))
    print_rows("Claims, answers of one fact", facts(made["facts"]))
    print_rows("Claims, rows and items as sentences", facts([*cells("course"), *cells("textbook")]))
    for name in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"):
        print_rows(f"Deeds, the {name} set", told(name))
    print_rows("Deeds, documents", [documented()])


if __name__ == "__main__":
    main(sys.argv[1:])
