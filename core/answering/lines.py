"""Reads the lines of an answer into blocks.

A line is taken in once, when it is whole; only the last one, and the paragraph that it belongs to, are read again with
the next drawing. What could still become something else is held back, and nothing is read that would change what stands
before it: no underlined headings, no definitions of links, no blocks of HTML, no lines that go on in a quote or an item
without its mark.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.answering.addresses import trim_url
from core.answering.citations import Footnotes
from core.answering.inline import read_inline
from core.answering.sources_list import RawBlock, is_of_sources
from core.model.markup import (
    Block,
    CodeLine,
    Heading,
    Inline,
    Leaf,
    LineBreak,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    TableRow,
    Text,
)

_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r"( {0,3})([-*+•]|\d{1,9}[.)])([ \t]+|\Z)")
_TASK = re.compile(r"\[([ xX])\][ \t]+")
_OPEN_TASK = re.compile(r"\[[ xX]?\]?[ \t]*\Z")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#*)?\Z")
_RULE = re.compile(r" {0,3}(?:([-*_])[ \t]*(?:\1[ \t]*){2,}|={2,}[ \t]*)\Z")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*\Z)|~{3,})[ \t]*(\S*)")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+.#-]{1,30}")
_DEFINITION = re.compile(r" {0,3}\[[^\[\]]{1,200}\]:[ \t]*<?([a-zA-Z][a-zA-Z0-9+.-]{1,30}:\S+|www\.\S+|//\S+)")
_CELL = re.compile(r"(?<!\\)\|")
_DASHES = re.compile(r":?-+:?")
_MAYBE_DASHES = re.compile(r"[ \t:|-]*\Z")
_CONTAINERS = re.compile(r"(?:[ \t]*>|[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+)*[ \t]*")
_UNDECIDED = re.compile(  # the beginning of a marker, fence, rule, heading, task, definition or row
    r"(?:\d{0,9}[.)]?|[-*_+•= \t]*|#{1,6}[ \t#]*|`{1,2}|`{3,}[^`]*|~.*|\[[^\[\]]{0,200}(?:\](?::.*)?)?|\|.*)\Z"
)
_CHECKED = {" ": "☐", "x": "☑", "X": "☑"}


@dataclass(slots=True)
class _Open:
    """A quote or item that is open; an item ends where a line begins further left than its *indent*."""

    node: Quote | ListItem
    indent: int = 0
    sign: str = ""


class LineReader:
    """What is open at the end of the lines so far, and the blocks that are finished."""

    def __init__(self, notes: Footnotes) -> None:
        self.blocks: list[Block] = []
        self._notes = notes
        self._open: list[_Open] = []
        self._opens = 0
        self._is_spaced = True
        self._words: list[str] = []
        self._fence = ""
        self._language = ""
        self._fence_indent = 0
        self._is_first = False
        self._head: tuple[str, ...] = ()
        self._sources_list: list[RawBlock] = []
        self._has_begun = False
        self._is_ahead = False
        self._gaps = 0

    def foreseen(self, rest: str) -> tuple[Block, ...]:
        """Return the blocks that are certain behind the finished ones, where *rest* is a line that may go on."""
        ahead = copy.copy(self)
        ahead._look(rest)  # noqa: SLF001 - it is one of these
        return tuple(ahead.blocks)

    def _look(self, rest: str) -> None:
        """Read what is certain of what is open, which leaves the one that this was copied from as it was."""
        self.blocks, self._open, self._words = [], list(self._open), list(self._words)
        self._notes, self._sources_list, self._is_ahead = copy.copy(self._notes), list(self._sources_list), True
        bare = rest[_end(_CONTAINERS, rest) :]
        is_head = bool(self._words and self._words[-1][0] == "|")
        is_dashes = is_head and _MAYBE_DASHES.match(bare)
        if not (self._fence or self._head or not bare or is_dashes or _UNDECIDED.match(bare)):
            self.take(rest)
        else:
            if is_head:
                self._words.pop()  # it may be the head of a table
            self._words += [""] if self._words else []  # the line before is whole
        self._finish_words(is_whole=False)

    def take(self, line: str) -> None:
        """Take a whole line."""
        if "\t" in line and not self._fence:
            line = line.expandtabs(4)
        at, depth = self._continued(line)
        rest = line[at:]
        if self._fence and self._is_in_fence(depth):
            self._code_line(rest)
            return
        if not rest.strip():
            self._blank_line(depth)
            return
        self._fence = ""
        ended = self._open[depth:]
        if ended:
            self._finish_leaf()
            del self._open[depth:]
            self._opens = min(self._opens, depth)
        rest = self._opened(rest, ended)
        if rest.strip() and not self._is_leaf(rest):
            self._words.append(rest.lstrip())

    def end(self) -> None:
        """Finish what is open; rules and a list of sources at the end are left off, if anything stands before them."""
        self._finish_leaf()
        if not self._has_begun:
            self._release()
        self._sources_list = []

    def _continued(self, line: str) -> tuple[int, int]:
        """Return where a line begins within the quotes and items that go on with it, and how many do."""
        at = 0
        for depth, container in enumerate(self._open):
            if isinstance(container.node, Quote):
                quote = _QUOTE.match(line, at)
                if quote is None:
                    return at, depth
                at = quote.end()
            else:
                indent = len(line) - at - len(line[at:].lstrip())
                wanted = min(container.indent, 2) if _ITEM.match(line[at:].lstrip()) else container.indent
                if indent < wanted and line[at:].strip():
                    return at, depth
                at += min(indent, container.indent)
        return at, len(self._open)

    def _is_in_fence(self, depth: int) -> bool:
        """Return whether a line belongs to the code: a quote ends its code, an item that is indented badly does not."""
        return not any(isinstance(container.node, Quote) for container in self._open[depth:])

    def _blank_line(self, depth: int) -> None:
        self._finish_leaf()
        self._is_spaced = True
        quotes = [at for at in range(depth, len(self._open)) if isinstance(self._open[at].node, Quote)]
        if quotes:
            del self._open[quotes[0] :]
            self._opens = min(self._opens, len(self._open))
            self._fence = ""

    def _opened(self, rest: str, ended: Sequence[_Open]) -> str:
        """Open the quotes and items that begin with a line; return what is left of it."""
        while True:
            if quote := _QUOTE.match(rest):
                self._finish_leaf()
                self._open.append(_Open(Quote()))
                width = quote.end()
            elif (item := _ITEM.match(rest)) and not _RULE.match(rest) and self._may_open(item, rest, ended):
                self._finish_leaf()
                width = item.end() if len(item[3]) <= 4 and item.end() < len(rest) else item.end(2) + 1  # noqa: PLR2004 - more would be code
                self._open.append(self._item(item, width, ended))
            else:
                return rest
            self._opens += 1
            rest, ended = rest[width:], ()

    def _may_open(self, item: re.Match[str], rest: str, ended: Sequence[_Open]) -> bool:
        """Return whether a marker begins an item: within a paragraph only one that could begin a list does."""
        if not self._words or ended:
            return True
        return bool(rest[item.end() :].strip()) and (not item[2][:-1] or item[2][:-1] == "1")

    def _item(self, item: re.Match[str], width: int, ended: Sequence[_Open]) -> _Open:
        """Return an item; one that goes on with a list has the next number."""
        sign, digits = item[2][-1], item[2][:-1]
        before = ended[0] if ended and ended[0].sign == sign else None
        if before and isinstance(before.node, ListItem) and before.node.number is not None:
            return _Open(ListItem(before.node.number + 1), width, sign)
        return _Open(ListItem(int(digits) if digits else None), width, sign)

    def _is_leaf(self, rest: str) -> bool:
        """Take a line that is more than words; return whether it was."""
        if fence := _FENCE.match(rest):
            self._finish_leaf()
            self._fence, self._is_first, self._gaps = fence[1], True, 0
            self._language = fence[2] if _LANGUAGE.fullmatch(fence[2]) else ""
            self._fence_indent = len(rest) - len(rest.lstrip(" "))
        elif heading := _HEADING.match(rest):
            self._finish_leaf()
            self._emit(Heading(len(heading[1]), ()), [heading[2] or ""], is_whole=not self._is_ahead)
        elif _RULE.match(rest):
            self._finish_leaf()
            self._emit(Rule(), [])
        elif self._head or "|" in rest:
            return self._is_row(rest)
        elif (found := _DEFINITION.match(rest)) and not self._may_be_said(found[1]):
            self._notes.removed_urls += 1
        else:
            return False
        return True

    def _may_be_said(self, url: str) -> bool:
        sources, url = self._notes.sources, trim_url(url.strip("<>"))
        return sources.leads_to(url) or sources.names(url)

    def _is_row(self, rest: str) -> bool:
        """Take a row of a table, or the line of dashes that makes the line before it the head of one."""
        cells = _cells(rest)
        if self._head:
            if "|" not in rest:
                self._finish_leaf()
                return False
            self._emit(TableRow((), (), self._is_first), cells, head=self._head)
            self._is_first = False
            return True
        head = _cells(self._words[-1]) if self._words and self._words[-1][0] == "|" else ()
        if not head or len(head) != len(cells) or not all(map(_DASHES.fullmatch, cells)):
            return False
        self._words.pop()
        self._finish_words()
        self._head, self._is_first = head, True
        return True

    def _code_line(self, rest: str) -> None:
        bare = rest.strip()
        if len(bare) >= len(self._fence) and set(bare) == {self._fence[0]}:
            self._fence, self._gaps = "", 0
        elif not bare:
            self._gaps += not self._is_first  # blank lines count once another line follows them
        else:
            indent = min(self._fence_indent, len(rest) - len(rest.lstrip(" ")))
            for text in (*([""] * self._gaps), rest[indent:].rstrip()):
                self._emit(CodeLine(self._language, text, self._is_first), [])
                self._is_first = False
            self._gaps = 0

    def _finish_leaf(self) -> None:
        """Finish the paragraph or table that is open."""
        self._finish_words()
        if self._head and self._is_first:
            self._emit(TableRow((), (), is_first=True), (), head=self._head)
        self._head = ()

    def _finish_words(self, *, is_whole: bool = True) -> None:
        lines, self._words = self._words, []
        if lines:
            self._emit(Paragraph(()), lines, is_whole=is_whole)

    def _emit(
        self, leaf: Leaf, lines: Sequence[str],
        *, is_whole: bool = True, head: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """Add a block, unless it may belong to a list of sources that the model wrote itself."""
        path = tuple(container.node for container in self._open)
        raw = RawBlock(Block(leaf, path, self._opens, self._is_spaced), tuple(lines), is_whole, head)
        self._opens, self._is_spaced = 0, isinstance(leaf, Rule)
        if isinstance(leaf, Rule) or is_of_sources(raw, self._sources_list):
            self._sources_list.append(raw)
        elif is_whole or self._has_something(raw):
            self._release()
            self._has_begun = True
            self._add(raw)

    def _has_something(self, raw: RawBlock) -> bool:
        """Return whether anything of a block is certain; its footnotes get no numbers yet, as others come before."""
        notes, self._notes = self._notes, self._notes.trial()
        try:
            return self._read(raw) is not None
        finally:
            self._notes = notes

    def _release(self) -> None:
        """Add what was held back: it was no list of sources."""
        held, self._sources_list = self._sources_list, []
        for raw in held:
            self._add(raw)

    def _add(self, raw: RawBlock) -> None:
        if leaf := self._read(raw):
            self.blocks.append(replace(raw.block, leaf=leaf))

    def _read(self, raw: RawBlock) -> Leaf | None:
        """Read the words of a block; None if it has none."""
        match raw.block.leaf:
            case Paragraph():
                nodes = self._paragraph(raw)
                return Paragraph(nodes) if nodes else None
            case Heading(level):
                nodes = read_inline("\n".join(raw.lines), self._notes, is_whole=raw.is_whole)
                return Heading(level, nodes) if nodes else None
            case TableRow(is_first=is_first):
                return TableRow(self._cells(raw.head), self._cells(raw.lines), is_first)
            case leaf:
                return leaf

    def _paragraph(self, raw: RawBlock) -> tuple[Inline, ...]:
        text = "\n".join(raw.lines)
        if raw.block.opens and not raw.is_whole and _OPEN_TASK.match(text):
            return ()
        task = _TASK.match(text) if raw.block.opens else None
        nodes = read_inline(text[task.end() if task else 0 :], self._notes, is_whole=raw.is_whole)
        return (Text(f"{_CHECKED[task[1]]} "), *nodes) if task and nodes else nodes

    def _cells(self, cells: Sequence[str]) -> tuple[tuple[Inline, ...], ...]:
        return tuple(tuple(map(_on_one_line, read_inline(cell, self._notes))) for cell in cells)


def _cells(line: str) -> tuple[str, ...]:
    bare = line.strip().removeprefix("|")
    if bare.endswith("|") and not bare.endswith("\\|"):
        bare = bare[:-1]
    return tuple(cell.strip().replace("\\|", "|") for cell in _CELL.split(bare))


def _on_one_line(node: Inline) -> Inline:
    return Text(" ") if isinstance(node, LineBreak) else node


def _end(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0
