"""Cuts passages into what can be quoted whole, and chooses the units that fit a question best, in a readable order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from core.answering.citations import Quoted
from core.answering.dialect import MARKDOWN
from core.answering.markup import read
from core.documents.excerpt import sentences, stems

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_MARKER = re.compile(r"^\s*(?:>\s*|[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|\[[ xX]\]\s+)*")
_HEADING = re.compile(r"^\s*#{1,6}\s|^\s*[-=*_]{3,}\s*$")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s")
_ONLY_MARKUP = re.compile(r"`[^`]*`|!?\[[^\]]*\]\([^)]*\)")
_LABEL = re.compile(r"(?:\*\*|__)[^*_]+(?:\*\*|__)[.:]?")
_POINTS_BACK = re.compile(
    r"(?:its?|this|that|these|those|they|them|their|such|s?he|both|here|then|thus|so|but|and)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a passage that can be quoted by itself; `place` is its position in the passage."""

    text: str
    place: int
    is_prose: bool
    is_item: bool = False

    @property
    def needs_before(self) -> bool:
        """Whether it points back to what was said before it."""
        return self.is_prose and bool(_POINTS_BACK.match(self.text))

    @property
    def needs_after(self) -> bool:
        """Whether it announces what follows."""
        return self.is_prose and self.text.rstrip("*_").endswith(":")

    @property
    def is_label(self) -> bool:
        """Whether it is a run of bold text that only names what the next sentence says."""
        return self.is_prose and bool(_LABEL.fullmatch(self.text))


def units(text: str) -> list[Unit]:
    """Return the units of a passage in their order; an unfinished fence at its end is left out."""
    return [replace(unit, place=place) for place, unit in enumerate(_parts(text))]


def _parts(text: str) -> Iterator[Unit]:
    for kind, lines in groupby(_labelled(text), key=lambda labelled: labelled[0]):
        block = "\n".join(line for _, line in lines)
        if kind == "prose":
            yield from _prose(block)
        elif kind.startswith("table") or _is_closed(block):
            yield Unit(block, 0, is_prose=False)


def _labelled(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line with its kind: prose, part of a table, or of which fence."""
    fence, fences = "", 0
    for line in text.splitlines():
        found = _FENCE.match(line)
        if fence:
            yield f"fence{fences}", line
            if found and found[1].startswith(fence) and line.strip() == found[1]:
                fence = ""
        elif found:
            fence, fences = found[1], fences + 1
            yield f"fence{fences}", line
        else:
            yield ("table" if line.lstrip().startswith("|") else "prose"), line


def _is_closed(block: str) -> bool:
    lines = block.splitlines()
    return len(lines) > 2 and bool(_FENCE.match(lines[-1]))  # noqa: PLR2004 - two fences with something between


def _prose(block: str) -> Iterator[Unit]:
    """Yield the sentences; wrapped lines are joined; headings, captions in code marks and bare links are left out."""
    for sentence in sentences(block):
        if not _HEADING.match(sentence):
            text = _balanced(" ".join(_MARKER.sub("", sentence, count=1).split()))
            if not _ONLY_MARKUP.fullmatch(text):
                yield Unit(text, 0, is_prose=True, is_item=bool(_ITEM.match(sentence)))


def _balanced(text: str) -> str:
    """Drop marks of emphasis and code that were cut off from their other half: they would change what follows."""
    for mark in ("**", "`"):
        if text.count(mark) % 2:
            text = text.replace(mark, "")
    return text


CHARACTERS = 900  # a short answer: about as much as fits a phone's screen
QUOTES = 3
NEAR_BEST = 0.8  # of the best unit's score; what fits clearly worse only dilutes
FILLS_A_GAP = 0.6  # the same for a unit that names a word of the question which no quote has named yet
SAME = 0.7  # of their words in common: two units that say the same thing
FEWEST_WORDS = 3
DANGLING = 0.7
HEADLINE = 0.8
DEFINITION = 1.25

_TOPIC = re.compile(r"(?:what|who)(?:'s| is| are| does| do) (?:an? |the )?(.{2,60}?)(?: mean| stand for)?[?.! ]*$")
_DEFINES = re.compile(
    r"[*_`\"“]*+(?:an? |the )?([^.:(]{2,60}?)[*_`\"”]*+\s*+(?:\([^)]*+\)[*_`]*+\s*+)?"
    r"(?::|\b(?:is|are|means|refers to)\b)"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A passage as the tool gave it, cut into units."""

    number: int
    score: float
    section: str
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A unit that could be quoted, and how well it fits."""

    source: Source
    unit: Unit
    score: float


def candidates(sources: Sequence[Source]) -> list[tuple[Source, Unit]]:
    """Return the units worth scoring: prose that says something by itself."""
    return [
        (source, unit)
        for source in sources
        for unit in source.units
        if unit.is_prose and len(unit.text.split()) > FEWEST_WORDS and not unit.text.endswith("?")
    ]


def word_fit(question: str, unit: str) -> float:
    """Return the share of the question's words that a unit holds."""
    wanted = set(stems(question))
    return len(wanted & set(stems(unit))) / len(wanted) if wanted else 0.0


def standing(question: str, source: Source, unit: Unit) -> float:
    """Return how well a unit stands by itself as an answer, about 1.

    Relevant passages count more; words that point at nothing and headlines without a sentence count less; a sentence
    that says what the thing asked for *is* counts more.
    """
    weight = 0.5 + source.score / 2
    if unit.needs_before and unit.place == 0:
        weight *= DANGLING
    if unit.text.rstrip('*_`)"”')[-1:] not in ".!?:;$":
        weight *= HEADLINE
    if unit.needs_after and unit is source.units[-1]:
        weight *= DANGLING
    topic = _TOPIC.match(question.strip().casefold())
    if topic and (said := _DEFINES.match(unit.text.casefold())) and set(stems(topic[1])) == set(stems(said[1])):
        weight *= DEFINITION
    return weight


def choose(question: str, scored: Sequence[ScoredUnit]) -> list[ScoredUnit]:
    """Take the best few that do not repeat one another: nearly as good as the best, or about a part still missing."""
    chosen: list[ScoredUnit] = []
    missing = set(stems(question))
    for candidate in sorted(scored, key=lambda item: -item.score):
        if len(chosen) == QUOTES:
            break
        words = set(stems(candidate.unit.text))
        enough = (NEAR_BEST if not missing & words else FILLS_A_GAP) * (chosen[0].score if chosen else 0.0)
        if candidate.score >= enough and not any(_same(words, set(stems(other.unit.text))) for other in chosen):
            chosen.append(candidate)
            missing -= words
    return chosen


def _same(one: set[str], other: set[str]) -> bool:
    return bool(one and other) and len(one & other) / min(len(one), len(other)) >= SAME


def compose(chosen: Sequence[ScoredUnit]) -> list[str]:
    """Write the quotes as paragraphs, best passage first, each sentence in its passage's order with its mark.

    Several passages of one section have the same mark.
    """
    places: dict[Source, set[int]] = {}
    for candidate in chosen:
        source, unit = candidate.source, candidate.unit
        places.setdefault(source, set()).update(_with_neighbours(source, unit))
    kept: list[str] = []
    for source, chosen_places in places.items():
        paragraph = _paragraph(source, chosen_places)
        if kept and sum(map(len, kept)) + len(paragraph) > CHARACTERS:
            break
        kept.append(paragraph)
    return kept


def _with_neighbours(source: Source, unit: Unit) -> set[int]:
    """Add the sentence that a unit points back to, and what it announces."""
    found = {unit.place}
    if unit.needs_before and unit.place and source.units[unit.place - 1].is_prose:
        found.add(unit.place - 1)
    following = source.units[unit.place + 1 : unit.place + 5]
    if unit.is_label and following and following[0].is_prose:
        found.add(following[0].place)
    if unit.needs_after:
        found |= {other.place for other in (following if following and following[0].is_prose else following[:1])}
    while len(found) > 1 and source.units[max(found)].needs_after:
        found.remove(max(found))  # it announces what is not quoted
    return found


def _paragraph(source: Source, places: set[int]) -> str:
    lines: list[str] = []
    for place in sorted(places):
        unit = source.units[place]
        text = MARKDOWN.write(read(unit.text, Quoted()))
        if not unit.is_prose:
            lines.append(f"\n\n{text}\n\n[{source.number}]")
            continue
        before = "\n- " if unit.is_item and len(places) > 1 else " "
        lines.append(f"{before}{text} [{source.number}]")
    return "".join(lines).strip()
