"""Puts the blocks of an answer into messages of limited length.

Of an answer that grows the messages only grow: what stands in one stays there, wherever the cuts will be. So where a
platform lets a message only be added to, the pieces join to what writing all of it at once gives.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from adapters.chat.posting import Part
from core.answering.nodes import TextRun, runs, visible
from core.model.markup import Block, CodeLine, CodeSpan, Heading, LineBreak, Paragraph, TableRow, Text

_HALF = 0.5  # of a message: from here on, what does not fit goes whole into the next one
_SURE = 0.7  # of a message: what does not fit is cut behind this
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*(?:[ \t]?\ufffc)*(?=[ \t\n])|[。！？]\ufffc*(?=[^\ufffc])|(?=\n)")
_WORD = re.compile(r"(?<=\S)(?=[ \t])(?![ \t]*\ufffc)")


class Writer(Protocol):
    """Writes blocks: for those who see a message, and as words alone for those who do not."""

    def extended(self, body: str, closing: str, block: Block, before: Block | None) -> tuple[str, str]:
        """Return a text with one more block, and what has to close it if nothing follows."""
        ...

    def spoken(self, blocks: Sequence[Block]) -> str:
        """Return blocks as plain text."""
        ...


class Pager:
    """Puts blocks into messages of at most so many units, and cuts what is too long for one."""

    def __init__(self, dialect: Writer, limit: int) -> None:
        self._dialect = dialect
        self._limit = limit
        self._done: list[Part] = []
        self._titles: list[Block] = []  # each stays with what it is the title of
        self._start()

    def _start(self) -> None:
        self._blocks: list[Block] = []
        self._body, self._closing = "", ""

    def ahead(self) -> Pager:
        """Return one that goes on from here."""
        other = Pager(self._dialect, self._limit)
        other._done, other._titles = list(self._done), list(self._titles)
        other._blocks, other._body, other._closing = list(self._blocks), self._body, self._closing
        return other

    def parts(self, *, is_open: bool = False) -> list[Part]:
        """Return the messages; with *is_open* the last one is not closed."""
        body = self._body if is_open else self._body + self._closing
        return [*self._done, *([Part(body, plain=self._dialect.spoken(self._blocks))] if self._blocks else [])]

    def add(self, block: Block) -> None:
        """Add a block that is whole."""
        if isinstance(block.leaf, Heading):
            self._titles.append(block)
            return
        group, self._titles = [*self._titles, block], []
        if self._has_placed(group):
            return
        if self._is_half_full or (self._blocks and not isinstance(block.leaf, Paragraph)):
            self._turn()
        self._titles = [] if self._has_placed(group[:-1]) else group[:-1]
        if not self._has_placed([*self._titles, block]):
            self._add_in_pieces(block)
        self._titles = []

    def add_open(self, block: Block) -> None:
        """Add as much of a block that still grows as will stand there in the end too."""
        if not isinstance(block.leaf, Paragraph):
            self.add(block)
            return
        group, self._titles = [*self._titles, block], []
        fits = self._size(group) <= self._limit
        if fits and self._is_half_full:
            return
        if not fits and self._is_half_full:
            self._turn()
            self._titles = group[:-1]
            self.add_open(block)
        elif fits and self._size(group) <= self._limit * _SURE:
            self._has_placed(group)
        elif fits and self._has_placed(group[:-1]):
            left, _ = self._cut(block, is_open=True)
            self._has_placed([left])
        elif self._has_placed(group[:-1]):
            left, right = self._cut(block)
            self._has_placed([left])
            self._turn()
            self.add_open(right)

    def finish(self, room: int) -> None:
        """Add what was kept back, and leave so much room at the end of the last message."""
        titles, self._titles = self._titles, []
        for title in titles:
            if not self._has_placed([title]):
                self._turn()
                self._add_in_pieces(title)
        if units(self._body + self._closing) + room <= self._limit:
            return
        last = Pager(self._dialect, self._limit - room)
        for block in self._blocks:
            last.add(block)
        last.finish(0)
        self._done += last._done
        self._blocks, self._body, self._closing = last._blocks, last._body, last._closing

    @property
    def _is_half_full(self) -> bool:
        return units(self._body) >= self._limit * _HALF

    def _turn(self) -> None:
        """Go on in the next message."""
        if self._blocks:
            self._done.append(Part(self._body + self._closing, plain=self._dialect.spoken(self._blocks)))
        self._start()

    def _with(self, blocks: Sequence[Block]) -> tuple[str, str]:
        body, closing, before = self._body, self._closing, self._blocks[-1] if self._blocks else None
        for block in blocks:
            body, closing = self._dialect.extended(body, closing, block, before)
            before = block
        return body, closing

    def _size(self, blocks: Sequence[Block]) -> int:
        return units("".join(self._with(blocks)))

    def _has_placed(self, blocks: Sequence[Block]) -> bool:
        """Add blocks to this message if they fit; return whether they did."""
        body, closing = self._with(blocks)
        if units(body + closing) > self._limit:
            return False
        self._blocks += blocks
        self._body, self._closing = body, closing
        return True

    def _add_in_pieces(self, block: Block) -> None:
        """Add a block that is longer than what is left of this message, and perhaps than any message."""
        if isinstance(block.leaf, Heading):
            block = replace(block, leaf=Paragraph(block.leaf.children))
        elif isinstance(block.leaf, TableRow):
            cells = [node for cell in block.leaf.cells or block.leaf.head for node in (*cell, Text(" · "))]
            block = replace(block, leaf=Paragraph(tuple(cells[:-1])))
        while not self._has_placed([block]):
            left, block = self._cut(block)
            self._has_placed([left])
            self._turn()

    def _cut(self, block: Block, *, is_open: bool = False) -> tuple[Block, Block]:
        """Cut a block behind a sentence, else a word, else a character; one that *is_open* where it will be cut too."""
        if isinstance(code := block.leaf, CodeLine):
            places = range(len(code.text))
            at = self._last(places, lambda at: replace(block, leaf=replace(code, text=code.text[:at])))
            at = max(boundary(code.text, at), 1)
            first = replace(block, leaf=replace(code, text=code.text[:at]))
            behind = CodeLine(code.language, code.text[at:], is_first=False)
            return first, replace(block, leaf=behind, opens=0, is_spaced=False)
        assert isinstance(block.leaf, Paragraph)  # noqa: S101 - nothing else is long
        pieces = list(runs(block.leaf.children))
        shown = visible(run.node for run in pieces)

        def left(at: int) -> Block:
            return replace(block, leaf=Paragraph(tuple(run.wrapped() for run in _before(pieces, at))))

        sure = int(self._limit * _SURE)
        at = 0
        for pattern in (_SENTENCE,) if is_open else (_SENTENCE, _WORD):
            places = [found.end() for found in pattern.finditer(shown[: self._limit + 2])]
            at = self._last([0, *places], left)
            if at and self._size([left(at)]) >= sure:
                break
            at = 0
        if not at:
            at = self._last(range(min(len(shown), self._limit)), left, sure if is_open else self._limit)
            at = max(boundary(shown, _outside(pieces, at)), 1)
        behind = tuple(run.wrapped() for run in _behind(pieces, at))
        return left(at), replace(block, leaf=Paragraph(behind), opens=0)

    def _last(self, places: Sequence[int], left: Callable[[int], Block], limit: int | None = None) -> int:
        """Return the last of some places before which all fits; 0 if there is none."""
        low, high = 0, len(places) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._size([left(places[middle])]) <= (limit or self._limit):
                low = middle
            else:
                high = middle - 1
        return places[low] if places else 0


def _before(pieces: Sequence[TextRun], at: int) -> list[TextRun]:
    """Return what stands before a place in the visible text, without white space at its end."""
    kept: list[TextRun] = []
    for run in pieces:
        size = len(visible([run.node]))
        if at < size and isinstance(run.node, Text | CodeSpan):
            kept.append(replace(run, node=type(run.node)(run.node.text[:at])))
        elif at >= size:
            kept.append(run)
        at -= size
        if at <= 0:
            break
    if kept and isinstance(node := kept[-1].node, Text):
        kept[-1] = replace(kept[-1], node=Text(node.text.rstrip()))
    return kept


def _behind(pieces: Sequence[TextRun], at: int) -> list[TextRun]:
    """Return what stands behind a place in the visible text, without white space at its beginning."""
    kept: list[TextRun] = []
    for run in pieces:
        size = len(visible([run.node]))
        if at <= 0:
            kept.append(run)
        elif at < size and isinstance(run.node, Text | CodeSpan):
            kept.append(replace(run, node=type(run.node)(run.node.text[at:])))
        at -= size
    while kept and isinstance(node := kept[0].node, Text | LineBreak):
        text = node.text.lstrip() if isinstance(node, Text) else ""
        if text:
            kept[0] = replace(kept[0], node=Text(text))
            break
        kept.pop(0)
    return kept


def _outside(pieces: Sequence[TextRun], at: int) -> int:
    """Return the place before a footnote or link that would be cut in two."""
    start = 0
    for run in pieces:
        size = len(visible([run.node]))
        if start < at < start + size and not isinstance(run.node, Text | CodeSpan):
            return start or start + size
        start += size
    return at


def units(text: str) -> int:
    """Count a text as the strictest platform may: an emoji outside of the first 65,536 code points counts twice."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_JOINER = "\u200d"
_REACH = 64  # a character made of more code points is no character that anybody wrote
_VIRAMA = 9  # the combining class of signs that join two Indic letters


def boundary(text: str, at: int) -> int:
    """Return the last place up to *at* that is between two characters; *at* itself if there is none in reach."""
    for place in range(at, max(at - _REACH, 0), -1):
        if place >= len(text) or not _joined(text, place):
            return place
    return at


def _joined(text: str, at: int) -> bool:
    """Return whether the code points before and behind *at* belong to one character."""
    before, behind = text[at - 1], text[at]
    if before == _JOINER or _extends(behind):
        return True
    if _is_flag_half(before) and _is_flag_half(behind):
        return _flag_halves(text, at) % 2 == 1
    if unicodedata.combining(before) == _VIRAMA and unicodedata.category(behind) == "Lo":
        return True
    return 0 < _jamo(before) <= _jamo(behind)


def _extends(char: str) -> bool:
    """Return whether a code point changes the one before it: accents, selectors, skin tones, tags, the joiner."""
    return (
        char == _JOINER
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or unicodedata.category(char) in ("Mn", "Me", "Mc")
    )


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _jamo(char: str) -> int:
    """Return the part of a Korean syllable that a letter is: 1, 2 or 3, and 0 for any other."""
    if not "\u1100" <= char <= "\u11ff":
        return 0
    return 1 + (char >= "\u1160") + (char >= "\u11a8")


def _flag_halves(text: str, at: int) -> int:
    """Count the flag halves in a row that end at *at*; two make a flag."""
    start = at
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return at - start
