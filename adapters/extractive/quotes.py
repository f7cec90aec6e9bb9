"""Chooses the units that fit a question best, and quotes them in order, with what they need to be understood."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations, zip_longest
from math import log

from adapters.extractive.units import (
    ASKS_GRADES,
    CHARACTERS,
    TELLS_OF_PAGE,
    AskedWords,
    Source,
    Unit,
    UnitKind,
    is_aside,
    leads_on,
)
from core.answering.citations import Quoted
from core.answering.dialect import MARKDOWN
from core.answering.markup import read
from core.documents.excerpt import stems

WHOLE = 450  # a passage with no more than this beside tables and code is quoted whole
GOES_ON = 450  # what is quoted of another, from where it begins to answer
PARAGRAPH = 320  # a paragraph up to this length is quoted whole, since its sentences explain one another
LIST = 480  # and a list
QUOTES = 3
FEWEST_WORDS = 4
NEAR_BEST = 0.82  # of the best unit's score; what fits clearly worse only dilutes
FILLS_A_GAP = 0.65  # the same for a unit that names a word of the question which no quote has named yet
SAME = 0.7  # of their words in common: two units that say the same thing
DANGLING = 0.7
HEADLINE = 0.8
DEFINITION = 1.4
NEARLY_DEFINITION = 1.2
BEGINNING = 4  # words of a unit that say what it is about
EXAMPLE = 0.85
ASSIGNED = 0.55
NEWS = 0.75
WANTED = 1.1
UNWANTED = 0.8
NO_DEFINITION = 0.65

_DEFINES = re.compile(
    r"[*_`\"“]*+(?:an? |the )?([^.:(]{2,60}?)[*_`\"”]*+\s*+(?:\(([^)]*+)\)[*_`]*+\s*+)?"
    r"(?::|—|=|\b(?:is|are|means|refers to)\b)"
)
_OPENED = r"(?:`{3,}|~{3,})\s*(?:console|text|txt|shell|bash|sh)?\s*\n"
_TERMINAL = re.compile(_OPENED, re.IGNORECASE)
_OUTPUT = re.compile(rf"{_OPENED}(?!\s*(?:[$#] )?[a-z][\w./-]*(?:\s|$))")  # no command is its first line
_ENTRY = re.compile(r"(\*\*|__|`)[^*_`]{2,80}(?::\1|\1(?:\s\([^)]*\))?:)")
_ASKS_WHETHER = re.compile(
    r"\W*(?:do|does|did|is|are|was|can|could|will|would|has|have|may|must|should)\b", re.IGNORECASE
)
_SAYS_WHETHER = re.compile(r"\W*(?:yes|no)\b", re.IGNORECASE)
_ILLUSTRATES = re.compile(
    r"\b(?:examples?|worked|exercises?|demonstration|analogy|mistakes?|pitfalls?|misconceptions?|challenges?|validation"
    r"|diagrams?|prerequisites)\b"
)
_ASSIGNED = re.compile(r"\b(?:assessments?|assignments?|homework|rubric|visual explanation)\b|\(\+?\d+ points?\)")
_FOLLOWS = re.compile(r"\b(?:the following|as follows|like this)\b(?!.*[:`])")
_NEWS = re.compile(
    r"\b(?:changes|changelog|releases?|new features|what's new|known issues|improvements since|timeline)\b"
)


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A unit that could be quoted, and how well it fits."""

    source: Source
    unit: Unit
    score: float


def candidates(asked: AskedWords, sources: Sequence[Source]) -> list[tuple[Source, Unit]]:
    """Return the units worth scoring, of sections that are about something: very short ones if there are no others."""
    about = (source for source in sources if not is_aside(asked, source))
    found = [(source, unit) for source in about for unit in source.units if not leads_on(asked, source, unit)]
    return [each for each in found if can_answer(each[1])] or [each for each in found if can_answer(each[1], fewest=2)]


def can_answer(unit: Unit, *, fewest: int = FEWEST_WORDS) -> bool:
    """Return whether a unit says something by itself, in at least so many words; who asks does not answer."""
    if not unit.is_prose:
        return True
    if len(unit.text) > CHARACTERS:
        return False
    is_long = len(unit.text.split()) >= (1 if unit.label else fewest)
    is_silent = unit.is_label or unit.is_link or unit.is_question or TELLS_OF_PAGE.match(unit.text)
    return is_long and not is_silent


def in_context(source: Source, unit: Unit) -> str:
    """Return a unit below what it stands under, since what it is about often stands only there."""
    title = "" if source.title in (source.section, "") or source.section.startswith(source.title) else source.title
    above = ": ".join(part.strip("*_: ") for part in (title, source.name, unit.label) if part)
    return f"{above}: {unit.text}" if above else unit.text


def rarities(texts: Iterable[str]) -> Counter[str]:
    """Return of each word in how many texts it is."""
    return Counter(word for text in texts for word in set(stems(text)))


def word_fit(wanted: frozenset[str], text: str, found_in: Counter[str] | None = None, size: int = 1) -> float:
    """Return the share of the wanted words that a text holds; rare ones count more."""
    if not wanted:
        return 0.0
    weights = {
        word: log((size + 1) / ((found_in or {}).get(word, 0) + 0.5)) + 0.2 if found_in else 1.0 for word in wanted
    }
    held = set(stems(text))
    return sum(weight for word, weight in weights.items() if word in held) / sum(weights.values())


def fit(asked: AskedWords, source: Source, unit: Unit, held: Counter[str], size: int) -> float:
    """Return the share of the question's words that a unit holds; what stands only above it counts half."""
    above = in_context(source, unit)
    share = sum(word_fit(asked.words, text, held, size) for text in (unit.text, above)) / 2
    if asked.compared:  # of two things, most say something of one
        share = (share + max((word_fit(each, above, held, size) for each in asked.topics), default=share)) / 2
    return share


def standing(asked: AskedWords, source: Source, unit: Unit) -> float:
    """Return how well a unit stands as an answer by what it is, about 1.

    Relevant passages count more; words that point at nothing and headlines without a sentence count less; a sentence
    that says what the thing asked for *is* counts more, and so does code for who asks how.
    """
    weight = 0.5 + source.score / 2
    if unit.place == 0 and (unit.points_back or (source.opening and _TERMINAL.match(unit.text))):
        weight *= DANGLING
    if unit.kind is UnitKind.SENTENCE and unit.text.rstrip('*_`)"”')[-1:] not in ".!?:;$":
        weight *= HEADLINE
    if not unit.is_prose:
        is_wanted = asked.asks_how if unit.kind is UnitKind.CODE else asked.asks_value
        weight *= WANTED if is_wanted else NO_DEFINITION if asked.topic else UNWANTED
    above, asks_for_grades = f"{source.title} › {source.section}".casefold(), ASKS_GRADES.search(asked.text.casefold())
    for kind, less in ((_ILLUSTRATES, EXAMPLE), (_ASSIGNED, ASSIGNED), (_NEWS, NEWS)):
        found = kind.search(above)
        if found and not set(stems(found[0])) & asked.words and not (kind is _ASSIGNED and asks_for_grades):
            weight *= less
    headings = (frozenset(stems(each.strip("0123456789. "))) for each in source.section.split(" › "))
    if not asked.topic and any(words and words <= asked.words for words in headings):
        weight *= WANTED
    return weight * _defining(asked, unit)


def _defining(asked: AskedWords, unit: Unit) -> float:
    can_define = asked.topics and unit.is_prose and not unit.announces
    if not (can_define and (said := _DEFINES.match(unit.text.casefold()))):
        return 1.0
    short, name = sorted((said[1], said[2] or ""), key=len)
    letters = iter(name)  # of which an abbreviation has some, in their order and from the first on
    is_short = " " not in short and short[:1] == name[:1] and all(letter in letters for letter in short)
    said_words = stems(said[1])
    names = [frozenset(said_words), frozenset(stems(said[2] if is_short else ""))]
    if any(topic in names for topic in asked.topics):
        return DEFINITION
    near = (
        topic <= {*said_words[: len(topic)]} or any(words and words < topic for words in names)
        for topic in asked.topics
    )
    return NEARLY_DEFINITION if any(near) else 1.0  # SLAM is not VSLAM


def choose(asked: AskedWords, scored: Sequence[ScoredUnit]) -> list[ScoredUnit]:
    """Take the best few that do not repeat one another: nearly as good as the best, or about a part still missing."""
    chosen, said, missing = list[ScoredUnit](), list[set[str]](), set(asked.words)
    ranked = sorted(scored, key=lambda item: -item.score)
    for candidate in [*_of_each(asked, ranked), *ranked]:
        if len(chosen) == QUOTES:
            break
        words = set(stems(candidate.unit.text))
        fills = missing & words or len(chosen) < len(asked.compared)
        enough = (FILLS_A_GAP if fills else NEAR_BEST) * (chosen[0].score if chosen else 0.0)
        is_said = any(len(words & each) >= SAME * min(len(words), len(each)) > 0 for each in said)
        if candidate.score >= enough and not is_said:
            chosen.append(candidate)
            said.append(words)
            missing -= words
    about = (set(stems(in_context(each.source, each.unit))) for each in chosen)
    return chosen if not asked.topic or any(map(asked.topic.intersection, about)) else []


def _of_each(asked: AskedWords, ranked: Sequence[ScoredUnit]) -> list[ScoredUnit]:
    """Return the best unit that begins with each of two things that are compared, or whose section is called so."""
    found = list[ScoredUnit]()
    for topic, other in permutations(asked.topics) if asked.compared else ():
        for each in ranked:
            names = each.source.name, " ".join(each.unit.text.split()[:BEGINNING])
            if any(topic <= words and not words & (other - topic) for words in (set(stems(name)) for name in names)):
                found.append(each)
                break
    return sorted(found, key=lambda item: -item.score)


def compose(asked: AskedWords, chosen: Sequence[ScoredUnit]) -> list[str]:
    """Write the quotes as paragraphs, each page's best passage first, in its own order and with its section's mark."""
    kept: dict[Source, set[int]] = {}
    titles = [candidate.source.title for candidate in chosen]
    for _, candidate in sorted(enumerate(chosen), key=lambda each: titles[: each[0]].count(titles[each[0]])):
        source, unit = _opening(asked, candidate)
        places = kept.get(source, set[int]())
        used = sum(_length(*each) for each in kept.items()) + len(source.name)
        room = CHARACTERS - used if kept else CHARACTERS // max(len(asked.compared), 1)
        more = _finished(source, _understood(asked, source, unit, room) | places) - places
        if more and not (kept and _length(source, more) > room):
            kept[source] = places | more
    numbers = [source.number for source in kept]
    return [
        _paragraph(source, places, is_first=not at or numbers[at - 1] == numbers[at])
        for at, (source, places) in enumerate(kept.items())
    ]


def _finished(source: Source, places: set[int]) -> set[int]:
    """Return places without those that announce what is not among them, and with those that announce what is."""
    finished, blocks = set[int](), set[int]()
    for unit, after in reversed([*zip_longest(source.units, source.units[1:])]):
        announces = unit.announces or (_FOLLOWS.search(unit.text) and not (after and after.is_prose))
        is_due = after and (after.place in finished or after.block in blocks - {unit.block})
        if is_due if announces else unit.place in places:
            finished.add(unit.place)
            blocks.add(unit.block)
    return finished


def _understood(asked: AskedWords, source: Source, unit: Unit, room: int) -> set[int]:
    """Return the places of a unit and of what it needs: the rest of its paragraph or list, and what announces it.

    A short passage is quoted whole, and of a long one what goes on from there, as far as a short answer has room.
    """
    quotable = _quotable(asked, source)
    if _ENTRY.match(unit.text) and _defining(asked, unit) == DEFINITION:  # which says in itself what it is
        found = _around(source, unit, room)
    elif _length(source, quotable) <= min(room, WHOLE):
        found = quotable | {unit.place}
    else:
        found = _around(source, unit, min(room, LIST))
        first = source.units[min(found)]
        if first.points_back and first.place and source.units[first.place - 1].is_prose:
            found.add(first.place - 1)
        if _SAYS_WHETHER.match(source.units[0].text) and _ASKS_WHETHER.match(asked.text):
            found.add(0)
        found = _going_on(asked, source, found, quotable, min(room, GOES_ON))
        commands = [each.place for each in source.units if each.kind is UnitKind.CODE and not _OUTPUT.match(each.text)]
        if asked.asks_how and not found.intersection(commands):
            found.update([place for place in commands if place < min(found)][-1:])
    while len(found) > 1 and (_length(source, found) > room or source.units[max(found)].announces):
        last = max(found)  # there is no room for it, or it announces what is not quoted
        if last == unit.place and _length(source, found) <= room:
            break
        found.remove(last if last != unit.place else min(found))
    return found


def _quotable(asked: AskedWords, source: Source) -> set[int]:
    """Return the places of what may be quoted beside a chosen unit."""
    return {
        each.place
        for each in source.units
        if not (TELLS_OF_PAGE.match(each.text) or each.is_link or leads_on(asked, source, each))
        and not (each.is_question and each.marker)
        and not (each.place == 0 and source.opening and _TERMINAL.match(each.text))
    }


def _opening(asked: AskedWords, chosen: ScoredUnit) -> tuple[Source, Unit]:
    """Return where to begin: a section that is called as the question is answers from its own beginning on."""
    source, named = chosen.source.opening or chosen.source, frozenset(stems(chosen.source.name))
    is_called_so = len(asked.words & named) >= SAME * len(asked.words | named)
    if is_called_so and (quotable := _quotable(asked, source)):
        return source, source.units[min(quotable)]
    return chosen.source, chosen.unit


def _going_on(asked: AskedWords, source: Source, found: set[int], quotable: set[int], room: int) -> set[int]:
    """Add the blocks that follow while there is room; what was announced, and code for who asks how, in any case."""
    while (at := max(found) + 1) < len(source.units):
        before, following = source.units[at - 1], _around(source, source.units[at], LIST)
        is_due = before.announces or (asked.asks_how and source.units[at].kind is UnitKind.CODE)
        more = {place for place in following & quotable if place >= at}
        if not more or not (is_due or _length(source, found | more) <= room):
            break
        found = found | more
    return found


def _length(source: Source, places: set[int]) -> int:
    """Return the characters of units beside tables and code."""
    return sum(len(source.units[place].text) for place in places if source.units[place].is_prose)


def _around(source: Source, unit: Unit, room: int) -> set[int]:
    """Return a unit's whole paragraph, list or code where that is short, and else what of it has room from there on."""
    block = [each for each in source.units if each.block == unit.block]
    most = PARAGRAPH if unit.kind is UnitKind.SENTENCE else room
    if not unit.is_prose or sum(len(each.text) for each in block) <= most:
        return {each.place for each in block}
    if unit.kind is UnitKind.SENTENCE:
        before = {each.place for each in block if each.place <= unit.place}
        return before if _length(source, before) <= PARAGRAPH else {unit.place}
    found, length = {unit.place}, len(unit.text)
    for each in block:
        if each.place > unit.place and length + len(each.text) <= most:
            found.add(each.place)
            length += len(each.text)
    return found


def _paragraph(source: Source, places: set[int], *, is_first: bool) -> str:
    """Write units in their order: sentences of one paragraph as one, items as a list, tables and code whole.

    A list stands below the section's name unless it *is_first*, or it would be read with what stands above it. A mark
    stands behind each paragraph and list, but for what only announces what comes next, and behind the end.
    """
    chosen = [unit for unit in source.units if unit.place in places]
    has_name = not is_first and len(chosen) > 1 and (chosen[0].marker or chosen[0].announces) and source.name
    written = MARKDOWN.write(read(f"**{source.name}**", Quoted())) if has_name else ""
    for number, unit in enumerate(chosen):
        before = chosen[number - 1] if number else None
        after = chosen[number + 1] if number + 1 < len(chosen) else None
        goes_on = before is not None and before.block == unit.block and (unit.marker or before.place + 1 == unit.place)
        if unit.marker and len(chosen) > 1:
            written += f"\n{unit.marker} " if goes_on or (before and before.announces) else f"\n\n{unit.marker} "
        else:
            written += " " if goes_on else "\n\n"
        written += MARKDOWN.write(read(unit.text, Quoted()))
        ends = after is None or after.block != unit.block or after.place != unit.place + 1
        if after is None or (ends and unit.is_prose and not unit.announces):
            written += f" [{source.number}]" if unit.is_prose else f"\n\n[{source.number}]"
    return written.strip()
