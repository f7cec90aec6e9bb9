"""Chooses what to quote: the units of all passages that fit the question best, in a readable order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.extractive.units import Unit
from core.answering.citations import Quoted
from core.answering.dialect import MARKDOWN
from core.answering.markup import read
from core.words import stems

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
    r"[*_`\"“]*(?:an? |the )?([^.:(]{2,60}?)[*_`\"”]*\s*(?:\([^)]*\)[*_`]*\s*)?(?::|\b(?:is|are|means|refers to)\b)"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A passage as the tool gave it, cut into units."""

    number: int
    score: float
    section: str
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit that could be quoted, and how well it fits."""

    source: Source
    unit: Unit
    score: float


def candidates(sources: Sequence[Source]) -> list[tuple[Source, Unit]]:
    """Give the units worth scoring: prose that says something by itself."""
    return [
        (source, unit)
        for source in sources
        for unit in source.units
        if unit.is_prose and len(unit.text.split()) > FEWEST_WORDS and not unit.text.endswith("?")
    ]


def word_fit(question: str, unit: str) -> float:
    """Give the share of the question's words that a unit holds."""
    wanted = set(stems(question))
    return len(wanted & set(stems(unit))) / len(wanted) if wanted else 0.0


def standing(question: str, source: Source, unit: Unit) -> float:
    """Say how well a unit stands by itself as an answer, about 1.

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


def choose(question: str, scored: Sequence[Candidate]) -> list[Candidate]:
    """Take the best few that do not repeat one another: nearly as good as the best, or about a part still missing."""
    chosen: list[Candidate] = []
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


def compose(chosen: Sequence[Candidate]) -> list[str]:
    """Write the quotes as paragraphs, best passage first, each sentence in its passage's order with its mark."""
    places: dict[int, set[int]] = {}
    sources: dict[int, Source] = {}
    for candidate in chosen:
        source, unit = candidate.source, candidate.unit
        sources.setdefault(source.number, source)
        places.setdefault(source.number, set()).update(_with_neighbours(source, unit))
    return _within(CHARACTERS, [_paragraph(sources[number], places[number]) for number in places])


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


def _within(limit: int, paragraphs: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for paragraph in paragraphs:
        if kept and sum(map(len, kept)) + len(paragraph) > limit:
            break
        kept.append(paragraph)
    return kept
