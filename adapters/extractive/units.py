"""Cuts passages into what can be quoted by itself, and tells what of that answers no question.

Each part knows what it stands under, announces and points back to.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from core.documents.excerpt import sentences, stems

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_LANGUAGE = re.compile(r"^\s*(?:`{3,}|~{3,})\s*(?!text|txt|plain|mermaid|ascii)[a-z]", re.IGNORECASE)
_GOES_ON = re.compile(r"\s*(?:[)\]}]|$|(?:el(?:se|if)|except|finally|catch)\b)")
_BREAKS_OFF = re.compile(r"^\s*(?:#|//)|[(\[{,\\:]\s*$|^\s*@\w")
DOCSTRING = '"""'
_MARKER = re.compile(r"^\s*(?:>\s*|[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|\[[ xX]\]\s+)*")
_HEADING = re.compile(r"^\s*#{1,6}\s|^\s*[-=*_]{3,}\s*$|^\s*:{3,}")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_ONLY_MARKUP = re.compile(r"`[^`]*`|!?\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"!?\[[^\]]{0,300}\]\([^)]{0,500}\)|<?https?://\S+")
_BOLD = r"(?:\*\*|__)[^*_]+(?:\*\*|__)"
_LABEL = re.compile(rf"{_BOLD}(?:\s*\([^)]*\))?[.:]?")
_POINTS_BACK = re.compile(
    r"(?:its?|this|that|these|those|they|them|their|such|s?he|both|here|then|thus|so|but|and|however|otherwise)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\((?:19|20)\d\d[a-z]?(?:, [^)]{1,20})?\)|, (?:19|20)\d\d[.,]?$")
_AUTHOR = re.compile(r"\W*(?:\[\w+\] )?[^\W\d_][\w'’-]+(?:,? et al\b|, (?:[A-Z]\.[ -]?)+|(?:,? &| and) [A-Z])")
_DEFINED = re.compile(r"\s+:\s+")
_WORD = re.compile(r"\w+")
QUESTIONS = re.compile(  # between two of them
    r"\s(?:and|or|but|then)\s+(?=(?:why|how|what|when|where|who|which|do|does|is|are|can|could|should)\b)",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"(?:(?:so|and|but|hey|hi|ok|please)[, ]+)?"
    r"(?:(?:what|who)(?:'s|s|\u2019s| is| are| does| do) (?:exactly )?(?:an? |the )?|define |explain |meaning of "
    r"|how (?:do|does) (?:an? |the )?(?=.* works?\b))"
    r"(.{2,60}?)(?: means?| works?| stand for| exactly| do| used for| good for| for)?(?: in [\w ]+)?[?.! ]*$"
)
_COMPARES = re.compile(
    r"(?:.*\bdif\w* between |compare )(?:an? |the )?(.{2,40}?) (?:and|with|to|vs\.?|versus) (?:an? |the )?(.{2,40}?)\W*"
    r"|(?:an? |the )?(.{2,40}?) (?:vs\.?|versus) (?:an? |the )?(.{2,40}?)\W*",
    re.IGNORECASE,
)
_ASKS_HOW = re.compile(
    r"\bhow (?:do|can|could|would|should) (?:i|you|we|one|they)\b|\bhow to\b|\b(?:un)?install(?:ing|ation)?\b"
    r"|\b(?:set ?up|commands?|code|syntax|errors?|not found|fail\w*|crash\w*|does(?:n'?t)|won'?t|can'?t|cannot)\b"
)
_ASKS_VALUE = re.compile(
    r"\b(?:how (?:much|many|long|often|big|fast|expensive)|which|compare\w*|cost\w*|price\w*|when|vs|versus"
    r"|difference)\b"
)
_ASIDE = re.compile(  # sections that tell of the page, or lead elsewhere, and hold no answer
    r"\b(?:(?:learning )?(?:objectives?|outcomes?|goals)|next (?:steps?|lessons?|modules?)|(?:table of )?contents"
    r"|(?:additional|related|further|more|external) (?:resources?|readings?|links|information|content)|further reading"
    r"|what'?s next|related|references|resources|see also|quick navigation|navigation|check your understanding|quiz"
    r"|knowledge check|extension ideas|self.assessment|getting more help|purchase links"
    r"|prerequisites)\b"
)
_ASIDE_PAGE = re.compile(  # the same of whole pages, and of what sections stand under
    r"\W*(?:references(?: and citations)?|bibliography|works cited|literature"
    r"|(?:additional|further) (?:readings?|resources)|resources|related links|see also)\W*"
)
_ASKS_SOURCES = re.compile(
    r"\b(?:papers?|articles?|books?|publications?|literature|references?|citations?|resources?|links?|read(?:ing)?s?"
    r"|authors?|cite|who (?:wrote|invented|published|proposed))\b"
)
_ASKS_NEEDS = re.compile(r"\b(?:needs?|needed|requir\w+|before|ready|have to know|should i know|start(?:ed)?)\b")
_CURRICULUM = re.compile(  # what a course does when, which names everything and explains nothing
    r"\b(?:weeks?|modules?|lessons?|units?|course) (?:\d|overview|outline|breakdown)"
    r"|\bweekly (?:breakdown|schedule|topics)\b|\bsyllabus\b"
)
_LISTS_LESSONS = re.compile(
    r"[|*_\s]*(?:weeks?(?: \d[\d\u2013-]*)?|deliverables?|topics(?: covered)?|lessons?|assignments?)\b[*_\s]*[|:]",
    re.IGNORECASE,
)
_GRADES = re.compile(
    r"\*\*(?:duration|weight|submission|submit to|due(?: date)?|deadline|late policy|team size|points|grading)"
    r"\s*:?\*\*",
    re.IGNORECASE,
)
_ASKS_PLAN = re.compile(
    r"\b(?:weeks?|topics?|covers?|covered|syllabus|curriculum|course|modules?|lessons?|deliverables?|assignments?)\b"
)
ASKS_GRADES = re.compile(
    r"\b(?:submit\w*|submission|due|deadlines?|late|weight|grad(?:e|ed|es|ing)|points|teams?|how long|how much time"
    r"|projects?|capstone|assess\w*|assign\w*|rubrics?)\b"
)
TELLS_OF_PAGE = re.compile(
    r"[*_>\s]*(?:(?:in|by the end of|after|before) (?:this|the next|completing) |in (?:the )?(?:last|previous) "
    r"|(?:(?:in addition|finally|then), )?you(?:'ve| have)?(?: (?:just|now|then|also|successfully))* "
    r"(?!need)(?:\w+ed|learnt|wrote|built|went|saw|made|ran) "
    r"|this (?:lesson|module|tutorial|section|chapter|page|guide|course)\b|you(?:'ll| will) (?:learn|be able|gain)"
    r"|\*{0,2}(?:content )?coming soon|\*{0,2}related\*{0,2}:|if you (?:have not|haven't) "
    r"|see (?:also |the )|(?:for )?(?:more|further) (?:details?|information|tutorials?)\b"
    r"|next(?: \([^)]*\))?:|next, \*{0,2}(?:unit|module|lesson|chapter|week)\b"
    r"|\*{0,2}(?:(?:estimated )?time|goal|objective|(?:tutorial )?level|prerequisites?)\*{0,2}:)",
    re.IGNORECASE,
)
CHARACTERS = 800  # beside tables, code and marks: about as much as fits a phone's screen
FEWEST_BESIDE_LINK = 4  # words beside a link that make it say something by itself
MOST_BEHIND_LINK = 12  # words behind a link that only describe it
LONGEST_LABEL = 80
LONGEST_NAME = 3  # words of a question that only names something


class UnitKind(Enum):
    """What a unit is."""

    SENTENCE = "sentence"
    ITEM = "item"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a passage that can be quoted by itself.

    `place` is its position in the passage, `block` that of the paragraph, list, table or code that it belongs to, and
    `marker` what stands before an item, indented as it is.
    """

    text: str
    place: int
    kind: UnitKind
    block: int = 0
    marker: str = ""
    label: str = ""

    @property
    def is_prose(self) -> bool:
        """Whether it is made of words, and not of code or a table."""
        return self.kind in (UnitKind.SENTENCE, UnitKind.ITEM)

    @property
    def points_back(self) -> bool:
        """Whether it points back to what was said before it."""
        return self.kind is UnitKind.SENTENCE and bool(_POINTS_BACK.match(self.text))

    @property
    def announces(self) -> bool:
        """Whether it says that something follows, or only names it."""
        return self.is_prose and (self.text.rstrip("*_ ").endswith(":") or self.is_label)

    @property
    def is_label(self) -> bool:
        """Whether it is a run of bold text that only names what follows."""
        return self.is_prose and len(self.text) <= LONGEST_LABEL and bool(_LABEL.fullmatch(self.text))

    @property
    def is_question(self) -> bool:
        """Whether it asks."""
        return self.is_prose and self.text.rstrip("*_ ").endswith("?")

    @property
    def is_reference(self) -> bool:
        """Whether it names a publication: who wrote it, and when."""
        return self.is_prose and bool(_YEAR.search(self.text) and _AUTHOR.match(self.text))

    @property
    def is_link(self) -> bool:
        """Whether it leads elsewhere, or is a name, and says little beside that."""
        beside = len(_WORD.findall(_LINK.sub("", self.text)))
        fewest = MOST_BEHIND_LINK if _LINK.match(self.text) else FEWEST_BESIDE_LINK
        return bool(_ONLY_MARKUP.fullmatch(self.text) or (_LINK.search(self.text) and beside < fewest))


def units(text: str) -> list[Unit]:
    """Return the units of a passage in their order; an unfinished fence at its end is left out."""
    found: list[Unit] = []
    label, block, before = "", 0, None
    blocks = [*_blocks(text)]
    for number, (kind, written) in enumerate(blocks):
        block += not (kind is before is UnitKind.ITEM)  # items with blank lines between them are one list
        before, lines = kind, written
        if kind is UnitKind.CODE:  # a passage may begin and end in the middle of some
            lines = _entire(written, is_first=not number, is_last=number == len(blocks) - 1)
        parts = _whole(kind, lines) if kind in (UnitKind.TABLE, UnitKind.CODE) else _prose(kind, "\n".join(lines))
        parts = [replace(unit, place=len(found) + at, block=block, label=label) for at, unit in enumerate(parts)]
        found += parts
        if parts and parts[-1].announces:
            label = parts[-1].text
        elif kind is not UnitKind.CODE:
            label = ""
    return found


def _blocks(text: str) -> Iterator[tuple[UnitKind, list[str]]]:
    """Yield the blocks of a text with their lines; what follows an item line by line belongs to its list."""
    kind, block, fence = UnitKind.SENTENCE, list[str](), ""
    for line in text.splitlines():
        marks = _FENCE.match(line)
        if fence:
            block.append(line)
            if marks and marks[1].startswith(fence) and line.strip() == marks[1]:
                yield kind, block
                block, fence = [], ""
            continue
        now = UnitKind.CODE if marks else _kind_of(line, kind if block else None)
        if block and (not line.strip() or now is not kind):
            yield kind, block
            block = []
        fence = marks[1] if marks else ""
        if line.strip():
            kind = now
            block.append(line)
    if block:
        yield kind, block


def _kind_of(line: str, before: UnitKind | None) -> UnitKind:
    if line.lstrip().startswith("|"):
        return UnitKind.TABLE
    if _ITEM.match(line):
        return UnitKind.ITEM
    return UnitKind.ITEM if before is UnitKind.ITEM and line[:1] in " \t" else UnitKind.SENTENCE


def _whole(kind: UnitKind, lines: list[str]) -> list[Unit]:
    """Return a table or code as one unit; code that does not end, or that is nothing, is none."""
    if kind is UnitKind.CODE and not (len(lines) > 2 and _FENCE.match(lines[-1])):  # noqa: PLR2004 - between two fences
        return []
    return [Unit(textwrap.dedent("\n".join(lines)), 0, kind)]


def _entire(lines: list[str], *, is_first: bool, is_last: bool) -> list[str]:
    """Return code in a known language from the first line that begins something to the last that ends something."""
    opening, *code = lines
    closing = code.pop() if code and _FENCE.match(code[-1]) else ""
    if not _LANGUAGE.match(opening) or not closing:
        return lines
    marks = [at for at, line in enumerate(code) for _ in range(line.count(DOCSTRING))]
    if len(marks) % 2:  # the first of them may end a docstring that began before the code
        first = code[marks[0]]
        before = [line.strip() for line in code[: marks[0]] if line.strip() and not _BREAKS_OFF.match(line)]
        is_behind = not before[-1].endswith(":") if before else first[:1].isspace()
        if is_first and is_behind and first.strip() == DOCSTRING:
            code = code[marks[0] + 1 :]
        elif is_last:
            code = code[: marks[-1]]
    start, end = 0, len(code)
    while is_last and start < end and (not code[end - 1].strip() or _BREAKS_OFF.search(code[end - 1])):
        end -= 1
    least = min((len(line) - len(line.lstrip()) for line in code[:end] if line.strip()), default=0)
    while is_first and start < end and (code[start][least : least + 1].isspace() or _GOES_ON.match(code[start])):
        start += 1
    return [opening, *code[start:end], closing]


def _prose(kind: UnitKind, block: str) -> Iterator[Unit]:
    """Yield the sentences, or items whole; wrapped lines are joined; headings are left out."""
    for part in _items(block) if kind is UnitKind.ITEM else sentences(block):
        if _HEADING.match(part):
            continue
        marker = _ITEM.match(part)
        text = _balanced(" ".join(_MARKER.sub("", part, count=1).split()))
        text = _DEFINED.sub(": ", text, count=1) if text.startswith(("**", "__", "`")) else text
        if text:
            yield Unit(text, 0, kind, marker=marker[0].rstrip() if marker else "")


def _items(block: str) -> Iterator[str]:
    """Yield the items of a list, each with the lines that go on with it."""
    item = ""
    for line in block.splitlines():
        if item and _ITEM.match(line):
            yield item
            item = line
        else:
            item = f"{item}\n{line}" if item else line
    yield item


def _balanced(text: str) -> str:
    """Drop marks of emphasis and code that were cut off from their other half: they would change what follows."""
    for mark in ("**", "`"):
        if text.count(mark) % 2:
            text = text.replace(mark, "")
    for mark in "*_":
        if text.count(mark) == 1:
            text = text.removeprefix(mark).removesuffix(mark)
    return text


def topic_of(question: str) -> str:
    """Return what a question, or the first of several, asks the meaning of; nothing if it asks for something else."""
    found = _TOPIC.match(QUESTIONS.split(question.strip().casefold(), maxsplit=1)[0])
    return found[1] if found else ""


@dataclass(frozen=True)
class AskedWords:
    """A question, and what can be told from its words."""

    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that carry meaning, but for those that only say that two things are compared."""
        return frozenset(stems(" ".join(self.compared) or self.text))

    @cached_property
    def compared(self) -> Sequence[str]:
        """The two things that it compares; nothing if it compares none."""
        found = _COMPARES.fullmatch(self.text)
        return [each for each in found.groups() if each] if found else ()

    @cached_property
    def topic(self) -> frozenset[str]:
        """The words of what the question asks the meaning of; none if it asks for something else."""
        return frozenset(stems(topic_of(self.text)))

    @cached_property
    def topics(self) -> Sequence[frozenset[str]]:
        """The same, or two things that are compared, or all of a question that only names something."""
        is_name = len(stems(self.text)) == len(_WORD.findall(self.text)) <= LONGEST_NAME
        named = [frozenset(stems(each)) for each in self.compared] or [self.topic or (self.words if is_name else None)]
        return [each for each in named if each]

    @cached_property
    def asks_how(self) -> bool:
        """Whether commands or code may be the answer."""
        return bool(_ASKS_HOW.search(self.text.casefold()))

    @cached_property
    def asks_value(self) -> bool:
        """Whether a table may be the answer."""
        return bool(_ASKS_VALUE.search(self.text.casefold()))


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A passage as the tool gave it, cut into units; `opening` is an earlier part of its section that was found too."""

    number: int
    score: float
    title: str
    section: str
    units: tuple[Unit, ...]
    opening: Source | None = None

    @property
    def name(self) -> str:
        """The section's own heading, without those that it stands under."""
        return self.section.rpartition(" › ")[2] or self.title


def is_aside(asked: AskedWords, source: Source) -> bool:
    """Return whether a section only tells of its page or leads elsewhere, and nobody asks for just that.

    That is told from what it is called, what it stands under, and what it looks like.
    """
    found, text = aside_in(source.name), asked.text.casefold()
    if found and stems(found)[-1] not in asked.words:
        return not (found == "prerequisites" and _ASKS_NEEDS.search(text))
    items = [unit for unit in source.units if unit.kind is not UnitKind.CODE]
    is_list = sum(unit.is_reference for unit in items) * 3 >= len(items) > 0
    above = (source.title.casefold(), *source.section.casefold().split(" › "))
    if (is_list or any(map(_ASIDE_PAGE.fullmatch, above))) and not _ASKS_SOURCES.search(text):
        return True
    return sum(unit.is_question for unit in items) * 2 > len(items)


def aside_in(heading: str) -> str:
    """Return the words of a heading that make it one of a section without answers, such as "next steps", or nothing."""
    found = _ASIDE.search(heading.casefold())
    return found[0] if found else ""


def leads_on(asked: AskedWords, source: Source, unit: Unit) -> bool:
    """Return whether a unit announces what does not follow, or leads elsewhere, and nobody asks for just that.

    It may name a publication, say how something is graded, or be part of a course's plan.
    """
    text = asked.text.casefold()
    if unit.announces and unit is source.units[-1]:
        return True
    if unit.is_reference:
        return not _ASKS_SOURCES.search(text)
    if unit.is_prose and _GRADES.match(unit.text):
        return not ASKS_GRADES.search(text)
    is_plan = _CURRICULUM.search(f"{source.title} {source.section}".casefold()) and not _ASKS_PLAN.search(text)
    return bool(is_plan) and any(map(_LISTS_LESSONS.match, (unit.text, unit.label)))
