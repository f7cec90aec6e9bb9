"""Writes the tree of an answer as Markdown; platforms whose Markdown is another one change what they need to.

Every text node is escaped on its way, so that what was no link, mark or marker in the tree is none in what is written.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence

from core.answering.nodes import TextRun, Wrap, runs
from core.model.markup import (
    Block,
    CodeLine,
    CodeSpan,
    Emphasis,
    Footnote,
    Heading,
    Inline,
    LineBreak,
    Link,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Strike,
    Strong,
    TableRow,
    Text,
)

GAP = "\u200b"  # has no width: it keeps characters apart that would mean something together
FENCE = "```"

_BACKTICKS = re.compile(r"`+")
_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\Z)|`|\*(?=\S|\Z)|(?<=\S)\*|(?<!\w)_+(?=\S|\Z)|(?<=\S)_+(?!\w)|~~+|\](?=\(|\Z)|<(?=[a-zA-Z/!]|\Z)"
)
_ENTITY = re.compile(r"(&#?\w{1,31});")
_MARKER = re.compile(r"(?:#{1,6}|[-+*])(?=\s|\Z)|>|={2,}\Z|-{3,}\Z|~{3}|(?<=\d)[.)](?=\s|\Z)")
_APART = {  # ends and beginnings that would mean something together, and what stands there instead
    "``": f"`{GAP}`",
    "](": "]\\(",
    "![": "\\![",
}
_NUMBERED = re.compile(r"\d{1,9}(?=[.)](?:\s|\Z))")


class MarkdownDialect:
    """Markdown as it is stored, with `[1]` for a footnote: read again, it gives the same words and nothing live."""

    fence = FENCE
    keeps_code_in_place = True
    rule = "---"  # a line between two parts; empty where there is none
    marks: Mapping[Wrap, str] = {Strong: "**", Emphasis: "_", Strike: "~~"}
    spoken: MarkdownDialect | None = None  # writes the words alone, for whoever cannot see a message

    def write(self, blocks: Iterable[Block]) -> str:
        """Return blocks as one text."""
        writer, blocks = self, tuple(blocks)
        if self.keeps_code_in_place:  # then fences are longer than any in the code, so that it is read again as it was
            lines = [block.leaf.text for block in blocks if isinstance(block.leaf, CodeLine)]
            longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
            if longest >= len(self.fence):
                writer = copy.copy(self)
                writer.fence = "`" * (longest + 1)
        body, closing, before = "", "", None
        for block in blocks:
            body, closing = writer.extended(body, closing, block, before)
            before = block
        return body + closing

    def extended(self, body: str, closing: str, block: Block, before: Block | None) -> tuple[str, str]:
        """Return a text with one more block at its end, and what has to close it if nothing follows."""
        leaf = block.leaf
        lead, again = self.lead(block)
        joint = self._joint(block, before) if body else ""
        match leaf:
            case CodeLine(language, text, is_first):
                again = again if self.keeps_code_in_place else ""
                if body and not is_first and (closing or not self.fence):
                    return f"{body}\n{again}{self.code_line(text)}", closing
                opening = f"{lead if self.keeps_code_in_place else ''}{self.fence}{language}\n" if self.fence else ""
                closed = f"\n{again}{self.fence}" if self.fence else ""
                return f"{body}{closing}{joint}{opening}{again}{self.code_line(text)}", closed
            case TableRow():
                rows = self.rows(leaf, is_first=leaf.is_first or not body)
                text = "\n".join(f"{again if at else lead}{row}" for at, row in enumerate(rows))
            case Heading(level, children):
                text = lead + self.heading(level, self.inline(children, f"\n{again}"))
            case Paragraph(children):
                text = lead + self.inline(children, f"\n{again}", at_start=True)
            case Rule():
                text = self.rule
        return (f"{body}{closing}{joint}{text}", "") if text else (body + closing, "")

    def inline(self, nodes: Iterable[Inline], line_break: str = " ", *, at_start: bool = False) -> str:
        """Return nodes as text; *at_start* keeps the words at the beginning of a row from being a marker."""
        out, marks, opened = "", list[str](), tuple[Wrap, ...]()
        pieces = list(runs(nodes))
        for at, run in enumerate(pieces):
            if run.wraps != opened:
                shared = 0
                while run.wraps[: shared + 1] == opened[: shared + 1]:
                    shared += 1
                out += "".join(reversed(marks[shared:]))
                del marks[shared:]
                for depth in range(shared, len(run.wraps)):
                    marks.append(self._mark(run.wraps, depth, out, pieces[at:]))
                    out += marks[-1]
                opened = run.wraps
            is_first = at_start and not opened and (not out or out.endswith(line_break))
            piece = self._piece(run.node, line_break, is_first=is_first)
            apart = _APART.get(out[-1:] + piece[:1])
            out = out[:-1] + apart + piece[1:] if apart else out + piece
        return out + "".join(reversed(marks))

    def _piece(self, node: Text | CodeSpan | LineBreak | Footnote | Link, line_break: str, *, is_first: bool) -> str:
        match node:
            case Text(text):
                return self.at_start(text) if is_first else self.text(text)
            case CodeSpan(text):
                return self.code(text)
            case LineBreak():
                return line_break
            case Footnote(number, url):
                return self.footnote(number, url)
            case Link(url, children):
                return self.link(url, children)

    def _mark(self, wraps: tuple[Wrap, ...], depth: int, out: str, following: Sequence[TextRun]) -> str:
        """Return the mark of an emphasis; lines below would be part of a word on which they touch."""
        mark = self.marks[wraps[depth]]
        if mark != "_":
            return mark
        inside = wraps[: depth + 1]
        behind = next((run for run in following if run.wraps[: depth + 1] != inside), None)
        word = behind.node.text[:1] if behind and behind.wraps == inside[:-1] and isinstance(behind.node, Text) else ""
        return "*" if out[-1:].isalnum() or word.isalnum() else mark

    def lead(self, block: Block) -> tuple[str, str]:
        """Return what the first line of a block begins with, and what every other one does."""
        lead = again = ""
        first = len(block.path) - block.opens
        for depth, container in enumerate(block.path):
            if isinstance(container, ListItem):
                sign = "- " if container.number is None else f"{container.number}. "
                lead += sign if depth >= first else " " * len(sign)
                again += " " * len(sign)
            else:
                lead += "> "
                again += "> "
        return lead, again

    def _joint(self, block: Block, before: Block | None) -> str:
        """Return what stands between a block and the one before it; items of a list stand close to each other."""
        leaf, depth = block.leaf, len(block.path) - block.opens
        if isinstance(leaf, (CodeLine, TableRow)) and not leaf.is_first:
            return "\n"
        shared, item = block.path[:depth], block.path[depth] if block.opens else None
        last = before.path[depth] if before and len(before.path) > depth else None
        if isinstance(item, ListItem) and isinstance(last, ListItem) and (item.number is None) == (last.number is None):
            return "\n"
        is_follower = not block.opens and isinstance(leaf, Paragraph) and before and isinstance(before.leaf, Paragraph)
        if not (block.is_spaced or is_follower):
            return "\n"
        blank = self.lead(Block(leaf, shared))[1].rstrip() if any(isinstance(each, Quote) for each in shared) else ""
        return f"\n{blank}\n"

    def text(self, text: str) -> str:
        """Return words so that they are nothing but words."""
        text = _SPECIAL.sub(lambda found: "".join(f"\\{character}" for character in found[0]), text)
        return _ENTITY.sub(r"\1\;", text)

    def at_start(self, text: str) -> str:
        """Return words with which a row begins so that they are no marker."""
        digits = _NUMBERED.match(text)
        marker = _MARKER.match(text, digits.end() if digits else 0)
        if marker is None:
            return self.text(text)
        return f"{text[: marker.start()]}\\{marker[0][0]}{self.text(text[marker.start() + 1 :])}"

    def code(self, text: str) -> str:
        """Return code within a line, in one pair of backticks, or two where it has some itself."""
        if "`" not in text:
            return f"`{text}`"
        text = _BACKTICKS.sub(lambda found: GAP.join(found[0]), text)
        return f"``{' ' if text[0] == '`' else ''}{text}{' ' if text[-1] == '`' else ''}``"

    def code_line(self, text: str) -> str:
        """Return a line of code, in which nothing ends it."""
        shortest = len(self.fence or FENCE)
        return _BACKTICKS.sub(lambda found: GAP.join(found[0]) if len(found[0]) >= shortest else found[0], text)

    def footnote(self, number: int, url: str) -> str:
        """Return a footnote."""
        return f"[{number}]"

    def link(self, url: str, children: Sequence[Inline]) -> str:
        """Return a link."""
        return f"[{self.inline(children)}](<{url}>)"

    def heading(self, level: int, text: str) -> str:
        """Return a heading."""
        return f"{'#' * level} {text}"

    def rows(self, row: TableRow, *, is_first: bool) -> Sequence[str]:
        """Return a row of a table, with the head above it where it *is_first*."""
        wanted = [*([row.head] if is_first else []), *([row.cells] if row.cells else [])]
        written = ([self.inline(cell).replace("|", "\\|") for cell in cells] for cells in wanted)
        lines = [f"| {' | '.join(cells)} |" for cells in written]
        return [lines[0], f"|{'---|' * len(row.head)}", *lines[1:]] if is_first else lines


MARKDOWN = MarkdownDialect()


_MARK = re.compile(r"((`{3,}).*?(?:\2|\Z)|(?<!`)(`{1,2})(?!`).*?(?<!`)\3(?!`)|\\.)|[ \t]*\[\d{1,4}\]", re.DOTALL)


def without_marks(text: str) -> str:
    """Return a stored answer as a model may read it again: its numbers mean nothing in a new answer."""
    return _MARK.sub(r"\1", text)
