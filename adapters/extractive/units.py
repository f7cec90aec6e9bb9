"""Cuts passages into what can be quoted by itself, each with what it stands under, announces and points back to."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from core.documents.excerpt import sentences

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_MARKER = re.compile(r"^\s*(?:>\s*|[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|\[[ xX]\]\s+)*")
_HEADING = re.compile(r"^\s*#{1,6}\s|^\s*[-=*_]{3,}\s*$|^\s*:{3,}")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_ONLY_MARKUP = re.compile(r"`[^`]*`|!?\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"!?\[[^\]]*\]\([^)]*\)|<?https?://\S+")
_BOLD = r"(?:\*\*|__)[^*_]+(?:\*\*|__)"
_LABEL = re.compile(rf"{_BOLD}(?:\s*\([^)]*\))?[.:]?")
_POINTS_BACK = re.compile(
    r"(?:its?|this|that|these|those|they|them|their|such|s?he|both|here|then|thus|so|but|and|however|otherwise)\b",
    re.IGNORECASE,
)
_DEFINED = re.compile(r"\s+:\s+")
_WORD = re.compile(r"\w+")
FEWEST_BESIDE_LINK = 4  # words beside a link that make it say something by itself
MOST_BEHIND_LINK = 12  # words behind a link that only describe it
LONGEST_LABEL = 80


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
    def is_link(self) -> bool:
        """Whether it leads elsewhere, or is a name, and says little beside that."""
        beside = len(_WORD.findall(_LINK.sub("", self.text)))
        fewest = MOST_BEHIND_LINK if _LINK.match(self.text) else FEWEST_BESIDE_LINK
        return bool(_ONLY_MARKUP.fullmatch(self.text) or (_LINK.search(self.text) and beside < fewest))


def units(text: str) -> list[Unit]:
    """Return the units of a passage in their order; an unfinished fence at its end is left out."""
    found: list[Unit] = []
    label = ""
    for block, (kind, lines) in enumerate(_blocks(text)):
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
    return text
