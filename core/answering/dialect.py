"""Writes the tree of an answer as Markdown; platforms whose Markdown is another one change what they need to.

Every text node is escaped on its way, so that what was no link, mark or marker in the tree is none in what is written.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence

from core.answering.nodes import TextRun, Wrap, inert, runs
from core.model import without_controls
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
    # each begins with a character, and looks back only then: so the others are passed over quickly
    r"\\(?=[!-/:-@\[-`{-~]|\Z)|`|\*(?:(?=\S|\Z)|(?<=\S\*))|(?<!\w)(?:__++|_(?=\S|\Z))|(?<=[^\s_])_++(?!\w)|~~+|\](?=\(|\Z)"
    r"|<(?=[a-zA-Z/!]|\Z)|\$(?!\s|\d[\d.,]*(?:[\s;:!?)]|\Z))"
)
_SIGN = re.compile(r"[\\`*_~\]<$]")  # without one of these there is nothing special, which is quickly seen
_ENTITY = re.compile(r"(&#?\w{1,31});")
_BEGUN = re.compile(r"(?::/{0,2}|\bwww\.?)\Z", re.IGNORECASE)  # an address of which too little is left to know it
_APART = {  # ends and beginnings that would mean something together, and what stands there instead
    "``": f"`{GAP}`",
    "\\`": f"\\{GAP}`",  # some readers take it for an escaped one, though the backslash itself is escaped
    "](": "]\\(",
    "![": "\\![",
    "]:": "]\\:",  # in a row that begins with a bracket, or it would define where all such numbers lead
}


def row_marker(more: str = "") -> re.Pattern[str]:
    """Return what finds a marker at the start of a row, up to the sign to escape; *more* are other beginnings."""
    begins = r"(?:#{1,6}|[-+*])(?:\s|\Z)|={2,}\Z|-{3,}\Z|~{3}"
    return re.compile(rf"\d{{1,9}}(?=[.)](?:\s|\Z))|(?={begins}{more})")


class MarkdownDialect:
    """Markdown as it is stored, with `[1]` for a footnote: read again, it gives the same words and nothing live."""

    fence = FENCE
    keeps_code_in_place = True
    links_footnotes = False
    rule = "---"  # a line between two parts; empty where there is none
    marker: re.Pattern[str] | None = row_marker(r"|>|\[")
    marks: Mapping[Wrap, str] = {Strong: "**", Emphasis: "_", Strike: "~~"}
    spoken: MarkdownDialect | None = None  # writes the words alone, for whoever cannot see a message

    def write(self, blocks: Iterable[Block]) -> str:
        """Return blocks as one text."""
        writer, blocks = self, tuple(blocks)
        if self.fence and self.keeps_code_in_place:  # its fences are longer than any in the code, to be read again
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
        lead, again = leads(block.path, block.opens) if block.path else ("", "")
        joint = _joint(block, before) if body else ""
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
                out, opened = self._with_marks(out, marks, opened, pieces, at), run.wraps
            node = run.node
            if isinstance(node, Text):
                text = node.text
                is_first = at_start and not opened and (not out or out.endswith(line_break))
                sign = self.marker.match(text) if is_first and self.marker else None
                start = f"{sign[0]}{self.escaped_marker(text[sign.end()])}" if sign else ""
                piece = start + self.text(text[sign.end() + 1 :] if sign else text)
            elif isinstance(node, CodeSpan):
                piece = self.code(node.text)
            elif isinstance(node, LineBreak):
                piece = line_break
            else:
                piece = f"[{node.number}]" if isinstance(node, Footnote) else self.inline(node.children)
                is_live = self.links_footnotes or isinstance(node, Link)
                piece = self.link(node.url, piece) if is_live and self.can_link(node.url) else piece
            out = joined(out, piece)
        return out + "".join(reversed(marks))

    def escaped_marker(self, sign: str) -> str:
        """Return a sign that would begin something at the beginning of a row, so that it does not."""
        return "&#91;" if sign == "[" else f"\\{sign}"  # behind a backslash, it may begin a formula

    def _with_marks(
        self, out: str, marks: list[str], opened: tuple[Wrap, ...], pieces: Sequence[TextRun], at: int
    ) -> str:
        """Return a text with the marks of emphasis behind it that end before a piece, and those that begin."""
        wraps, shared = pieces[at].wraps, 0
        while wraps[: shared + 1] == opened[: shared + 1]:
            shared += 1
        out += "".join(reversed(marks[shared:]))
        del marks[shared:]
        for depth in range(shared, len(wraps)):
            mark, inside = self.marks[wraps[depth]], wraps[: depth + 1]
            if mark == "_":  # it would be part of a word on which it touches
                following = (pieces[place] for place in range(at + 1, len(pieces)))
                behind = next((run for run in following if run.wraps[: depth + 1] != inside), None)
                is_beside = behind and behind.wraps == inside[:-1]
                word = behind.node.text[:1] if behind and is_beside and isinstance(behind.node, Text) else ""
                mark = "*" if out[-1:].isalnum() or word.isalnum() else mark
            marks.append(mark)
            out += mark
        return out

    def text(self, text: str) -> str:
        """Return words so that they are nothing but words."""
        if _SIGN.search(text):
            text = _SPECIAL.sub(lambda found: "".join(f"\\{character}" for character in found[0]), text)
        return _ENTITY.sub(r"\1\;", text) if "&" in text else text

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

    def can_link(self, url: str) -> bool:
        """Return whether an address can be shown as a link."""
        return True

    def link(self, url: str, label: str) -> str:
        """Return a link; the label is written already."""
        return f"[{label}](<{url}>)"

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


def leads(path: Sequence[Quote | ListItem], opens: int) -> tuple[str, str]:
    """Return what the first line of a block begins with, and what every other one does."""
    lead = again = ""
    for depth, container in enumerate(path):
        if isinstance(container, ListItem):
            sign = "- " if container.number is None else f"{container.number}. "
            lead += sign if depth >= len(path) - opens else " " * len(sign)
            again += " " * len(sign)
        else:
            lead += "> "
            again += "> "
    return lead, again


def _joint(block: Block, before: Block | None) -> str:
    """Return what stands between a block and the one before it; items of a list stand close to each other."""
    leaf, depth = block.leaf, len(block.path) - block.opens
    if isinstance(leaf, (CodeLine, TableRow)) and not leaf.is_first:
        return "\n"
    shared, item = block.path[:depth], block.path[depth] if block.opens else None
    last = before.path[depth] if before and len(before.path) > depth else None
    if isinstance(item, ListItem) and isinstance(last, ListItem) and (item.number is None) == (last.number is None):
        return "\n"
    is_follower = not block.opens and isinstance(leaf, Paragraph) and before and isinstance(before.leaf, Paragraph)
    if not (block.is_spaced or is_follower or isinstance(leaf, Rule)):  # right below words it would be their underline
        return "\n"
    blank = leads(shared, 0)[1].rstrip() if any(isinstance(each, Quote) for each in shared) else ""
    return f"\n{blank}\n"


def joined(out: str, piece: str) -> str:
    """Return a text with one more piece, where both would mean something together kept apart."""
    seam = out[-1:] + piece[:1]
    if seam not in _APART or (seam == "]:" and out.rpartition("\n")[2].lstrip(" >")[:1] != "["):
        return out + piece
    return out[:-1] + _APART[seam] + piece[1:]


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, of *limit* characters at most, which does not end where an address begins."""
    line = " ".join(without_controls(text).split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1].rstrip()
    return (cut.rpartition(" ")[0] or cut if _BEGUN.search(cut) else cut) + "…"


def plain_words(text: str) -> str:
    """Return words that no model wrote, such as a title, without links; an address is code as Markdown has it."""
    pieces = inert(without_controls(text).replace("](", "] ("))
    words = (f"`{one.text}`" if isinstance(one, CodeSpan) else one.text.replace("`", "'") for one in pieces)
    return "".join(words).replace("\\`", "\\ `")  # or Markdown would take it for one that opens no code
