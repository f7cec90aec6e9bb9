"""Reads an answer, while it is written, into the blocks of its tree.

A line is taken in once, when it is whole; only the last one, and the paragraph that it belongs to, are read again with
the next drawing, and what could still become something else is left off. So every reading begins with the one before
it. Nothing is read that would change what stands before it: no underlined headings, no definitions of links, no blocks
of HTML, no lines that go on in a quote or an item without its mark.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from core.answering.citations import Footnotes, Remembered, Sources, trim_url
from core.answering.deeds import deeds, undecided
from core.answering.inline import InlineReader, read_cells
from core.answering.nodes import cut, inlines, runs, trimmed
from core.answering.source_lists import RawBlock, is_alone, is_forged, is_of_sources, is_title, parts
from core.messages import WARNING
from core.model import Answer, Citation, without_controls
from core.model.markup import (
    Block,
    CodeLine,
    Footnote,
    Heading,
    Inline,
    Leaf,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    TableRow,
    Text,
    visible,
)

_ENDS = re.compile("[\n\u2028\u2029]")  # of lines
_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r"( {0,3})([-*+•]|\d{1,9}[.)])([ \t]+|\Z)")
_TASK = re.compile(r"\[([ xX])\][ \t]+")
_OPEN_TASK = re.compile(r"\[[ xX]?\]?[ \t]*\Z")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?\Z")
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
_DEEPEST = 9  # quotes and items in each other; of more, the marks are words
_WIDEST_GAP = 4  # columns between a marker and its words; more would be code


@dataclass(slots=True)
class _Open:
    """A quote or item that is open; an item ends where a line begins further left than its *indent*."""

    node: Quote | ListItem
    indent: int = 0
    sign: str = ""


@dataclass
class MarkupReader:
    """An answer while it is written: feed it, and read its blocks whenever they are drawn."""

    notes: Footnotes
    blocks: list[Block] = field(default_factory=list[Block], init=False)
    _pieces: list[str] = field(default_factory=list[str], init=False)
    _rest: str = field(default="", init=False)
    _tail: Sequence[Block] = field(default=(), init=False)
    _open: list[_Open] = field(default_factory=list[_Open], init=False)
    _opens: int = field(default=0, init=False)
    _is_spaced: bool = field(default=True, init=False)
    _words: list[str] = field(default_factory=list[str], init=False)
    _fence: str = field(default="", init=False)
    _language: str = field(default="", init=False)
    _fence_indent: int = field(default=0, init=False)
    _gaps: int = field(default=0, init=False)
    _head: tuple[str, ...] = field(default=(), init=False)
    _is_first: bool = field(default=False, init=False)  # whether the next line of code, or row, is the first one
    _held: list[RawBlock] = field(default_factory=list[RawBlock], init=False)  # perhaps sources that the model lists
    _title: RawBlock | None = field(default=None, init=False)  # of the list that begins there
    _has_begun: bool = field(default=False, init=False)
    _is_ahead: bool = field(default=False, init=False)
    _citations: tuple[Citation, ...] | None = field(default=None, init=False)  # of all that was fed until now

    def feed(self, piece: str, *, is_last: bool = False) -> None:
        """Take more of the text. Nothing is read before it is drawn or the piece *is_last*.

        Then a list of sources at the end is left off, if anything is before it.
        """
        self._pieces.append(piece)
        self._citations = None
        if is_last:
            self._pieces.append("\n")
            self._take_lines()
            self._finish_leaf()
            self._tail = ()
            if not self._has_begun or is_alone(self._held):
                self.blocks += _read(self.notes, *self._held)
            self._held = []

    def read(self) -> tuple[Sequence[Block], Sequence[Block]]:
        """Return the finished blocks, which only ever get more, and those behind them as far as they are certain."""
        if self._pieces:
            self._take_lines()
            ahead = copy.copy(self)
            self._tail = ahead._look(without_controls(self._rest))  # noqa: SLF001 - it is one of these
        return self.blocks, self._tail

    def _take_lines(self) -> None:
        """Take the lines that are whole by now."""
        *lines, self._rest = _ENDS.split(self._rest + "".join(self._pieces))
        self._pieces.clear()
        for line in lines:
            self._take(without_controls(line))

    @property
    def is_blank(self) -> bool:
        """Whether nothing is there to be read."""
        return not any(
            isinstance(block.leaf, (CodeLine, TableRow)) or visible(inlines(block)).strip()
            for block in chain(*self.read())
        )

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The footnotes of all that is certain, in the order of their numbers."""
        if self._citations is None:
            self._citations = cited(chain(*self.read()), self.notes)
        return self._citations

    def _look(self, rest: str) -> Sequence[Block]:
        """Return what is certain of what is open, where *rest* is a line that may go on; this is a copy."""
        self.blocks, self._open, self._words, self._held = [], [*self._open], [*self._words], [*self._held]
        self.notes, self._is_ahead = copy.copy(self.notes), True
        found = _CONTAINERS.match(rest)
        bare = rest[found.end() :] if found else rest
        is_head = bool(self._words and self._words[-1][0] == "|")
        is_dashes = is_head and _MAYBE_DASHES.match(bare)
        if not (self._fence or self._head or not bare or is_dashes or _UNDECIDED.match(bare)):
            self._take(rest)
        else:
            if is_head:
                self._words.pop()  # it may be the head of a table
            self._words += [""] if self._words else []  # the line before is whole
        self._finish_leaf(is_whole=False)
        return self.blocks

    def _take(self, line: str) -> None:
        """Take a whole line."""
        if "\t" in line and not self._fence:
            line = line.expandtabs(4)
        at, depth = self._continued(line)
        rest, ended = line[at:], self._open[depth:]
        if self._fence and not any(isinstance(container.node, Quote) for container in ended):
            self._code_line(rest)  # an item that is indented badly does not end its code
            return
        self._fence = ""
        is_blank = not rest.strip()
        if is_blank:  # it ends quotes, and no items
            quotes = (at for at in range(depth, len(self._open)) if isinstance(self._open[at].node, Quote))
            depth = next(quotes, len(self._open))
        if is_blank or ended:
            self._finish_leaf()
            del self._open[depth:]
            self._opens = min(self._opens, depth)
        if is_blank:
            self._is_spaced = True
            return
        rest = self._opened(rest, ended)
        if rest.strip() and not self._is_leaf(rest):
            self._words.append(rest.lstrip())

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
                bare = line[at:].lstrip()
                indent = len(line) - at - len(bare)
                wanted = min(container.indent, 2) if _ITEM.match(bare) else container.indent
                if indent < wanted and bare:
                    return at, depth
                at += min(indent, container.indent)
        return at, len(self._open)

    def _opened(self, rest: str, ended: Sequence[_Open]) -> str:
        """Open the quotes and items that begin with a line; return what is left of it."""
        while len(self._open) < _DEEPEST:
            quote, item = _QUOTE.match(rest), _ITEM.match(rest)
            if quote:
                opened, width = _Open(Quote()), quote.end()
            elif item and not _RULE.match(rest):
                has_words = bool(rest[item.end() :].strip())
                if self._words and not ended and not (has_words and item[2][:-1] in ("", "1")):
                    return rest  # within a paragraph only words with a sign or the number 1 begin a list
                is_close = len(item[3]) <= _WIDEST_GAP and item.end() < len(rest)
                width = item.end() if is_close else item.end(2) + 1
                sign, digits = item[2][-1], item[2][:-1]
                last = ended[0].node if ended and ended[0].sign == sign else None
                number = last.number if isinstance(last, ListItem) else None
                next_number = int(digits) if digits else None
                opened = _Open(ListItem(next_number if number is None else number + 1), width, sign)
            else:
                return rest
            self._finish_leaf()
            self._open.append(opened)
            self._opens += 1
            rest, ended = rest[width:], ()
        return rest

    def _is_leaf(self, rest: str) -> bool:
        """Take a line that is more than words; return whether it was."""
        if fence := _FENCE.match(rest):
            self._finish_leaf()
            self._fence, self._is_first, self._gaps = fence[1], True, 0
            self._language = fence[2] if _LANGUAGE.fullmatch(fence[2]) else ""
            self._fence_indent = len(rest) - len(rest.lstrip(" "))
        elif heading := _HEADING.match(rest):
            self._finish_leaf()
            words = (heading[2] or "").strip()
            if (bare := words.rstrip("#")) == bare.rstrip():  # they are part of the last word
                bare = words if bare else bare
            self._emit(Heading(len(heading[1]), ()), [bare.rstrip()], is_whole=not self._is_ahead)
        elif _RULE.match(rest):
            self._finish_leaf()
            self._emit(Rule(), [])
        elif self._head or "|" in rest:
            return self._is_row(rest)
        elif found := _DEFINITION.match(rest):
            sources, url = self.notes.sources, trim_url(found[1].strip("<>"))
            is_known = url in sources.urls or sources.names(url)
            self.notes.removed_urls += not is_known
            return not is_known
        else:
            return False
        return True

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
        self._finish_leaf()
        self._head, self._is_first = head, True
        return True

    def _code_line(self, rest: str) -> None:
        bare = rest.strip()
        if len(bare) >= len(self._fence) and set(bare) == {self._fence[0]}:
            self._fence = ""
        elif not bare:
            self._gaps += not self._is_first  # blank lines count once another line follows them
        else:
            indent = min(self._fence_indent, len(rest) - len(rest.lstrip(" ")))
            for text in (*([""] * self._gaps), rest[indent:].rstrip()):
                self._emit(CodeLine(self._language, text, self._is_first), [text])
                self._is_first = False
            self._gaps = 0

    def _finish_leaf(self, *, is_whole: bool = True) -> None:
        """Finish the paragraph or table that is open."""
        lines, self._words = self._words, []
        for part in parts(lines, is_whole=is_whole):
            self._emit(Paragraph(()), part, is_whole=is_whole)
        if self._head and is_whole:
            head, self._head = self._head, ()
            if self._is_first:
                self._emit(TableRow((), (), is_first=True), (), head=head)

    def _emit(self, leaf: Leaf, lines: Sequence[str], *, is_whole: bool = True, head: tuple[str, ...] = ()) -> None:
        """Add a block, unless it may belong to a list of sources that the model wrote itself."""
        path = tuple(container.node for container in self._open)
        raw = RawBlock(Block(leaf, path, self._opens, self._is_spaced), tuple(lines), is_whole, head)
        self._opens, self._is_spaced = 0, isinstance(leaf, Rule)
        if isinstance(leaf, Rule) or is_of_sources(raw, title=self._title):
            self._held.append(raw)
            self._title = self._title or (raw if is_title(raw) else None)
            return
        if self._held and not is_whole:
            unnumbered = replace(self.notes, shown=dict(self.notes.shown))  # as footnotes of what is held come before
            if not _read(unnumbered, raw):
                return
        if self._title is not None and is_forged(self._held, title=self._title):
            raw, self._held = _moved_up(raw, self._held), []
        self.blocks += _read(self.notes, *self._held, raw)
        self._held, self._title, self._has_begun = [], None, True


def _moved_up(raw: RawBlock, gone: Sequence[RawBlock]) -> RawBlock:
    """Return a block as it is without those before it that are gone: it begins what they began and it stands in too."""
    opened = min(len(each.block.path) - each.block.opens for each in gone)
    opens = max(raw.block.opens, len(raw.block.path) - opened)
    is_spaced = raw.block.is_spaced or any(each.block.is_spaced for each in gone)
    return replace(raw, block=replace(raw.block, opens=opens, is_spaced=is_spaced))


def _read(notes: Footnotes, *raws: RawBlock) -> list[Block]:
    """Read the words of blocks; those that have none are left off."""
    blocks = list[Block]()
    for raw in raws:
        text, leaf = "\n".join(raw.lines), raw.block.leaf
        match leaf:
            case Paragraph():
                is_item = bool(raw.block.opens)
                task = _TASK.match(text) if is_item else None
                is_open = is_item and not raw.is_whole and _OPEN_TASK.match(text)
                words = "" if is_open else text[task.end() if task else 0 :]
                nodes = _without_deeds(InlineReader(words, notes, raw.is_whole).read(), notes, raw.is_whole)
                leaf = Paragraph((Text(f"{_CHECKED[task[1]]} "), *nodes) if task and nodes else nodes)
            case Heading(level):
                leaf = Heading(level, InlineReader(text, notes, raw.is_whole).read())
            case TableRow(is_first=is_first):
                if notes.head[0] is not raw.head:  # which is read once for all of its rows
                    notes.head = raw.head, read_cells(notes, raw.head)
                leaf = TableRow(notes.head[1], read_cells(notes, raw.lines), is_first)
            case _:
                pass
        if not isinstance(leaf, (Paragraph, Heading)) or leaf.children:
            blocks.append(Block(leaf, raw.block.path, raw.block.opens, raw.block.is_spaced))
    return blocks


def _without_deeds(nodes: tuple[Inline, ...], notes: Footnotes, is_whole: bool) -> tuple[Inline, ...]:
    """Leave off that something was done where nothing was, unless a passage says it in these words."""
    if notes.sources.may_tell_deeds or not notes.sources.are_checked:
        return nodes
    text = visible(nodes)
    end = len(text) if is_whole else undecided(text)
    found, passages = deeds(text[:end], is_whole=is_whole), notes.sources.evidence.passages
    told = [at for at in found if not any(text[slice(*at)] in each.text for each in passages)]
    notes.removed_deeds += len(told)
    return tuple(trimmed(cut(nodes, [*told, (end, len(text))]), at_start=True)) if told or end < len(text) else nodes


def shown_blocks(answer: Answer) -> tuple[Block, ...]:
    """Return the tree of an answer; one that something was wrong with begins with a warning.

    An answer that was stored, or that is a sentence of ours, is read from its text.
    """
    blocks = read(answer.text, Remembered(answer.citations)) if answer.blocks is None else answer.blocks
    if not (answer.is_failure or answer.lexical_only):
        return blocks
    warning = Text(f"{WARNING} ")
    if blocks and isinstance(leaf := blocks[0].leaf, Paragraph) and not blocks[0].path:
        return (replace(blocks[0], leaf=Paragraph((warning, *leaf.children))), *blocks[1:])
    return (Block(Paragraph((Text(WARNING),))), *blocks)


def cited(blocks: Iterable[Block], notes: Footnotes) -> tuple[Citation, ...]:
    """Return the footnotes of blocks, in the order of their numbers."""
    pieces = (run.node for block in blocks for run in runs(inlines(block)))
    numbers = {node.number for node in pieces if isinstance(node, Footnote)}
    used = (citation for citation in notes.shown.values() if citation.number in numbers)
    return tuple(sorted(used, key=lambda citation: citation.number))


def read(text: str, sources: Sources) -> tuple[Block, ...]:
    """Return the blocks of a whole text."""
    reader = MarkupReader(Footnotes(sources))
    reader.feed(text, is_last=True)
    return tuple(reader.blocks)


def _cells(line: str) -> tuple[str, ...]:
    bare = line.strip().removeprefix("|")
    if bare.endswith("|") and not bare.endswith("\\|"):
        bare = bare[:-1]
    return tuple(cell.strip().replace("\\|", "|") for cell in _CELL.split(bare))
