"""Puts the blocks of an answer into messages of limited length.

Of an answer that grows the messages only grow: what stands in one stays there, wherever the cuts will be. So where a
platform lets a message only be added to, the pieces join to what writing all of it at once gives.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from adapters.chat.platform import Part
from core.answering.dialect import MarkdownDialect
from core.answering.nodes import TextRun, inlines, runs
from core.model.markup import Block, CodeLine, CodeSpan, Heading, Inline, LineBreak, Paragraph, TableRow, Text, visible

MOST_PARTS = 12  # messages of an answer; footnotes and tables can be much longer there than the model wrote them
_HALF = 0.5  # of a message: from here on, what does not fit goes whole into the next one
_SURE = 0.7  # of a message: what does not fit is cut behind this
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*(?:[ \t]?\ufffc)*(?=[ \t\n])|[。！？]\ufffc*(?=[^\ufffc])|(?=\n)")
_WORD = re.compile(r"(?<=\S)(?=[ \t])(?![ \t]*\ufffc)")


@dataclass
class Pager:
    """Puts blocks into messages of at most so many units, and cuts what is too long; a copy goes its own way.

    Once there are as many as an answer may have, nothing is added any more, and it is cut.
    """

    dialect: MarkdownDialect
    limit: int
    head: str = ""  # stands above the first message, and is not counted
    is_cut: bool = False
    _done: tuple[Part, ...] = ()
    _titles: tuple[Block, ...] = ()  # each stays with what it is the title of
    _blocks: tuple[Block, ...] = ()
    _text: tuple[str, str] = ("", "")  # of these blocks, and what has to close it if nothing follows
    _said: tuple[str, str] = ("", "")  # the same as words alone, where the platform wants them too

    def parts(self, *, is_open: bool = False) -> list[Part]:
        """Return the messages; with *is_open* the last one is not closed."""
        if not self._blocks:
            return list(self._done)
        body = ("" if self._done else self.head) + (self._text[0] if is_open else "".join(self._text))
        return [*self._done, Part(body, plain="".join(self._said))]

    def add(self, block: Block) -> None:
        """Add a block that is whole."""
        self.is_cut = self.is_cut or len(self._done) >= MOST_PARTS
        if self.is_cut:
            return
        group, self._titles = (*self._titles, block), ()
        if isinstance(block.leaf, Heading):
            self._titles = group
        elif self._place(group) > self.limit:
            if units(self._text[0]) >= self.limit * _HALF or (self._blocks and not isinstance(block.leaf, Paragraph)):
                self._turn()
            titles = () if self._place(group[:-1]) <= self.limit else group[:-1]
            if self._place((*titles, block)) > self.limit:
                self._add_in_pieces(block)

    def add_open(self, block: Block) -> None:
        """Add as much of a block that still grows as will stand there in the end too."""
        if len(self._done) >= MOST_PARTS or not isinstance(block.leaf, Paragraph):
            self.add(block)
            return
        group, self._titles = (*self._titles, block), ()
        is_full = units(self._text[0]) >= self.limit * _HALF
        size = self._place(group, most=-1 if is_full else self.limit * _SURE)
        if is_full:
            if size > self.limit:
                self._turn()
                self._titles = group[:-1]
                self.add_open(block)
        elif size > self.limit * _SURE and self._place(group[:-1]) <= self.limit:
            left, right = self._cut(block, is_open=size <= self.limit)
            self._place((left,))
            if size > self.limit:
                self._turn()
                self.add_open(right)

    def finish(self, room: int) -> None:
        """Add what was kept back, and leave so much room at the end of the last message."""
        titles, self._titles = self._titles, ()
        for title in titles:
            if self._place((title,)) > self.limit:
                self._turn()
                self._add_in_pieces(title)
        if units("".join(self._text)) + room > self.limit:
            last = Pager(self.dialect, self.limit - room, "" if self._done else self.head)
            for block in self._blocks:
                last.add(block)
            last.finish(0)
            self._done += last._done
            self._blocks, self._text, self._said = last._blocks, last._text, last._said

    def _turn(self) -> None:
        """Go on in the next message."""
        self._done = tuple(self.parts())
        self._blocks, self._text, self._said = (), ("", ""), ("", "")

    def _place(self, blocks: tuple[Block, ...], *, most: float | None = None) -> int:
        """Return the units of this message with more blocks; they are added unless that is more than the *most*.

        Of what is too long by its characters alone, the rest is not looked at: nothing is less than a unit.
        """
        if any(_up_to(inlines(block), self.limit)[1] for block in blocks):
            return self.limit + 1
        before = self._blocks[-1] if self._blocks else None
        text = _extended(self.dialect, self._text, before, blocks)
        size = units("".join(text))
        if size <= (self.limit if most is None else most):
            if self.dialect.spoken:
                self._said = _extended(self.dialect.spoken, self._said, before, blocks)
            self._blocks += blocks
            self._text = text
        return size

    def _add_in_pieces(self, block: Block) -> None:
        """Add a block that is longer than what is left of this message, and perhaps than any message."""
        if isinstance(block.leaf, Heading):
            block = replace(block, leaf=Paragraph(block.leaf.children))
        elif isinstance(block.leaf, TableRow):
            cells = [node for cell in block.leaf.cells or block.leaf.head for node in (*cell, Text(" · "))]
            block = replace(block, leaf=Paragraph(tuple(cells[:-1])))
        if isinstance(block.leaf, Paragraph):  # each piece by itself, so that no cut has to look at all that follows
            block = replace(block, leaf=Paragraph(tuple(run.wrapped() for run in runs(block.leaf.children))))
        while not self.is_cut and self._place((block,)) > self.limit:
            left, block = self._cut(block)
            self._place((left,))
            self._turn()
            self.is_cut = len(self._done) >= MOST_PARTS

    def _cut(self, block: Block, *, is_open: bool = False) -> tuple[Block, Block]:
        """Cut a block behind a sentence, else a word, else a character; one that *is_open* where it will be cut too."""
        if isinstance(code := block.leaf, CodeLine):
            at = self._last(range(len(code.text)), lambda at: replace(block, leaf=replace(code, text=code.text[:at])))
            at = max(boundary(code.text, at), 1)
            behind = CodeLine(code.language, code.text[at:], is_first=False)
            left = replace(block, leaf=replace(code, text=code.text[:at]))
            return left, replace(block, leaf=behind, opens=0, is_spaced=False)
        assert isinstance(block.leaf, Paragraph)  # noqa: S101 - nothing else is long
        pieces, far = _up_to(block.leaf.children, self.limit + 2)
        shown = visible(run.node for run in pieces)

        def left_of(at: int) -> Block:
            return replace(block, leaf=Paragraph(_halves(pieces, at)[0]))

        sure = int(self.limit * _SURE)
        at = 0
        for pattern in (_SENTENCE,) if is_open else (_SENTENCE, _WORD):
            at = self._last([0, *(found.end() for found in pattern.finditer(shown[: self.limit + 2]))], left_of)
            if at and self._place((left_of(at),), most=-1) >= sure:
                break
            at = 0
        if not at:
            at = self._last(range(min(len(shown), self.limit)), left_of, sure if is_open else self.limit)
            at = max(boundary(shown, _outside(pieces, at)), 1)
        return left_of(at), replace(block, leaf=Paragraph((*_halves(pieces, at)[1], *far)), opens=0)

    def _last(self, places: Sequence[int], left_of: Callable[[int], Block], limit: int | None = None) -> int:
        """Return the last of some places, the first of which is 0, before which all fits."""
        fitting = bisect_right(places, limit or self.limit, lo=1, key=lambda at: self._place((left_of(at),), most=-1))
        return places[fitting - 1] if places else 0


def _extended(
    dialect: MarkdownDialect, text: tuple[str, str], before: Block | None, more: Sequence[Block]
) -> tuple[str, str]:
    """Return a text with more blocks at its end, behind the one *before* them."""
    for block in more:
        text, before = dialect.extended(*text, block, before), block
    return text


def _halves(pieces: Sequence[TextRun], at: int) -> tuple[tuple[Inline, ...], tuple[Inline, ...]]:
    """Return what stands before and behind a place in the visible text, without white space at the cut."""
    left, right = list[TextRun](), list[TextRun]()
    for run in pieces:
        size = len(run.node.text)
        if 0 < at < size and isinstance(node := run.node, (Text, CodeSpan)):
            left.append(run._replace(node=replace(node, text=node.text[:at])))
            right.append(run._replace(node=replace(node, text=node.text[at:])))
        else:
            (left if at >= size else right).append(run)
        at -= size
    if left and isinstance(node := left[-1].node, Text):
        left[-1] = left[-1]._replace(node=Text(node.text.rstrip()))
    while right and isinstance(node := right[0].node, (Text, LineBreak)):
        text = node.text.lstrip()
        right[:1] = [right[0]._replace(node=Text(text))] if text else []
        if text:
            break
    return tuple(run.wrapped() for run in left), tuple(run.wrapped() for run in right)


def _up_to(nodes: Sequence[Inline], size: int) -> tuple[Sequence[TextRun], Sequence[Inline]]:
    """Return the first pieces, which show more than so many characters if there are as many, and the nodes behind."""
    pieces = list[TextRun]()
    for number, node in enumerate(nodes, start=1):
        pieces += runs((node,))
        size -= len(node.text)
        if size < 0:
            return pieces, nodes[number:]
    return pieces, ()


def _outside(pieces: Sequence[TextRun], at: int) -> int:
    """Return the place before a footnote or link that would be cut in two."""
    start = 0
    for run in pieces:
        size = len(run.node.text)
        if start < at < start + size and not isinstance(run.node, (Text, CodeSpan)):
            return start or start + size
        start += size
    return at


def units(text: str) -> int:
    """Count a text as the strictest platform may: an emoji outside of the first 65,536 code points counts twice."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_JOINER = "\u200d"
_FLAG_HALVES = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two of them make a flag
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
    category = unicodedata.category(behind)
    if _JOINER in (before, behind) or category in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= behind <= "\U0001f3ff" or "\U000e0020" <= behind <= "\U000e007f":
        return True  # a skin tone, or a tag
    if before in _FLAG_HALVES and behind in _FLAG_HALVES:
        return (at - len(text[:at].rstrip(_FLAG_HALVES))) % 2 == 1
    if unicodedata.combining(before) == _VIRAMA and category == "Lo":
        return True
    return 0 < _jamo(before) <= _jamo(behind)


def _jamo(char: str) -> int:
    """Return the part of a Korean syllable that a letter is: 1, 2 or 3, and 0 for any other."""
    if not "\u1100" <= char <= "\u11ff":
        return 0
    return 1 + (char >= "\u1160") + (char >= "\u11a8")
