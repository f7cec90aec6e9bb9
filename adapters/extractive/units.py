"""Cuts a passage into what can be quoted whole: sentences, list items, code and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from core.words import sentences

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
    """Give the units of a passage in their order; an unfinished fence at its end is left out."""
    return [replace(unit, place=place) for place, unit in enumerate(_parts(text))]


def _parts(text: str) -> Iterator[Unit]:
    for kind, lines in groupby(_labelled(text), key=lambda labelled: labelled[0]):
        block = "\n".join(line for _, line in lines)
        if kind == "prose":
            yield from _prose(block)
        elif kind.startswith("table") or _is_closed(block):
            yield Unit(block, 0, is_prose=False)


def _labelled(text: str) -> Iterator[tuple[str, str]]:
    """Say of each line whether it is prose, part of a table, or of which fence."""
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
    """Give the sentences; wrapped lines are joined; headings, captions in code marks and bare links are left out."""
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
