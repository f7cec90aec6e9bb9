"""Reads what stands within a paragraph: words, code, emphasis, footnote marks, links and addresses.

What more text could change is left off unless the text is whole, so that of a text that grows every reading begins with
the one before it. Nothing here waits.
"""

from __future__ import annotations

import html
import re
import string
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import ClassVar

from core.answering.citations import (
    LONGEST_URL,
    MOST_FOOTNOTES,
    URL,
    Footnotes,
    Sources,
    addresses,
    names_another_place,
    trim_url,
    without_scheme,
)
from core.answering.claims import LOOKED_BACK
from core.answering.nodes import put, shown, trim_end, trimmed
from core.model import without_controls
from core.model.markup import CodeSpan, Emphasis, Inline, LineBreak, Link, Strike, Strong, Text, visible, visible_row

REACH = 500  # characters in which a mark has to be closed, so that a stray one holds back no more than that

_NUMBER = r"\s{0,3}\^?\d{1,4}\s{0,3}"
_NUMBERS = rf"{_NUMBER}(?:[,;–—-]{_NUMBER}){{0,50}}"
_MARK = re.compile(rf"\[\[{_NUMBERS}\]\]|\[{_NUMBERS}\]|[【［]{_NUMBERS}(?:[†:][^】］\n]{{0,40}})?[】］]")
# A "+" behind a bound takes all it can and gives nothing back: each character is looked at once for each bracket.
# Where a try inside of one fails last, Python before 3.11.5 does not go back to where it began; "(?!)" always does.
_OPEN_MARK = re.compile(r"\[\[?[\s\d^,;–—-]{0,400}+\]?\Z|[【［][^】］\n]{0,60}+\Z")
_DESTINATION = re.compile(r"\(([^()\n]{0,2000}+(?:\([^()\n]{0,500}+\)[^()\n]{0,500}+){0,9}+)\)")
_OPEN_DESTINATION = re.compile(r"\([^\n)]{0,2000}+(?:\)[^\n]{0,500}+)?\Z")
_LABEL = re.compile(r"!?\[((?:[^\[\]\n\\]|\\.|\[[^\[\]\n]{0,100}+\]|(?!)){0,200}+)\]")
_OPEN_LABEL = re.compile(r"!?\[(?:[^\[\]\n\\]|\\.|\[[^\[\]\n]{0,100}+\]|(?!)){0,200}+(?:\[[^\[\]\n]{0,100}+)?\\?\]?\Z")
_AUTOLINK = re.compile(r"<((?:[a-zA-Z][a-zA-Z0-9+.-]{1,30}:|www\.)[^\s<>]{0,2000})>")
_COMMENT, _COMMENT_END, _LONGEST_COMMENT = "<!--", "-->", 2_000  # characters
_NAMES = (
    "a|abbr|article|aside|audio|b|big|blockquote|body|br|button|caption|center|cite|code|col|colgroup|data|dd|del|"
    "details|dfn|div|dl|dt|em|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|"
    "label|li|link|main|mark|meta|nav|object|ol|option|p|picture|pre|q|s|samp|script|section|select|small|source|span|"
    "strike|strong|style|sub|summary|sup|svg|table|tbody|td|textarea|tfoot|th|thead|time|title|tr|tt|u|ul|var|video"
)
_TAG = re.compile(rf"</?({_NAMES})(?:[ \t/][^<>\n]{{0,2000}})?>", re.IGNORECASE)
_OPEN_ANGLE = re.compile(r"<(?:[a-zA-Z/][^<>\n]{0,2000})?\Z|<!-?\Z")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_OPEN_ENTITY = re.compile(r"&[#a-zA-Z0-9]{0,33}\Z")
_PLAIN = re.compile(r"[^\\`\[!【［<&*_~\n$]+")
# As in pandoc, no space stands inside of the dollars; what looks like a price begins nothing.
_DOLLARS = re.compile(
    r"\$\$([^$`]{1,480}+)\$\$|(?<![\w$])\$(?![\s$]|\d[\d.,]*(?:[\s;:!?)]|\Z))([^$`\n]{1,200}+)(?<!\s)\$(?![\w${(])"
)
_OPEN_DOLLARS = re.compile(r"\$(?:\$[^$`]{0,480}+\$?|(?!\d[\d.,]*[\s;:!?)])[^\s$`][^$`\n]{0,199}+\$?)?\Z")
_SHORT = 2  # characters of a name, such as one of a variable
_MATHS = re.compile(r"[\\^_={}]|\A\(\w(?:, ?\w)+\)\Z")  # or what names a point
_SIGNS, _NAMED = re.compile(r"[<>+*/|-]"), re.compile(r"[^\W\d_]|\\")
_CLOSING = {"(": re.compile(r"(?<!\\)\\\)"), "[": re.compile(r"(?<!\\)\\\]")}
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,30}://|www\.")
_OPEN_WORD = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}(?::/{0,2})?\Z")
_LONGEST_WORD = 34  # characters that could be the beginning of an address
_RUN = re.compile(r"`+|\*+|_+|~+")
_END_OF_WORD = re.compile(r"[.,;:!?)*_~]*(\s)?")
_END_OF_LINE = re.compile(r"\n[ \t]*")
_LONGEST_RUN = 3
_KINDS: dict[str, type[Strong | Emphasis | Strike]] = {
    "**": Strong, "__": Strong, "*": Emphasis, "_": Emphasis, "~~": Strike,
}  # fmt: skip


class _Undecided(Exception):
    """More text could change what stands here."""


@dataclass(slots=True)
class _Frame:
    """What stands behind a mark of emphasis that is open; the text itself has none."""

    mark: str
    start: int
    nodes: list[Inline]


@dataclass(slots=True)
class InlineReader:
    """Goes through the text of a paragraph or cell once, from left to right."""

    text: str
    notes: Footnotes
    is_whole: bool = True
    row: str = ""  # what a reader sees of the cells before this one
    _at: int = 0
    _frames: list[_Frame] = field(default_factory=lambda: [_Frame("", 0, [])])
    _numbers: set[int] = field(default_factory=set[int])  # of the footnotes right before: no white space between them
    _has_addresses: bool = True
    _words_end: int = 0  # behind the words at which the reader is

    def read(self) -> tuple[Inline, ...]:
        """Return the nodes; unless the text *is_whole*, only those that more of it cannot change."""
        text, frames = self.text, self._frames
        self._has_addresses = "://" in text or "www." in text or not self.is_whole
        with suppress(_Undecided):
            while self._at < len(text):
                self._READERS.get(text[self._at], InlineReader._plain)(self)
                while len(frames) > 1 and self._at - frames[1].start > REACH:
                    self._dissolve(1)  # marks that were opened too far back are text
        while self.is_whole and len(frames) > 1:
            self._dissolve(-1)
        return tuple(shown(frames[0].nodes, is_whole=self.is_whole))

    def _wait_if(self, is_open: object) -> None:
        if is_open and not self.is_whole:
            raise _Undecided

    def _add(self, *nodes: Inline | str, length: int) -> None:
        """Add nodes and words that stand for so many characters of the text."""
        put(self._frames[-1].nodes, nodes)
        self._at += length
        if self._numbers and any(not isinstance(node, str) or node.strip() for node in nodes):
            self._numbers.clear()

    def _escape(self) -> None:
        behind = self.text[self._at + 1 : self._at + 2]
        self._wait_if(not behind)
        if behind and behind in string.punctuation:
            self._add(behind, length=2)
        elif behind == "\n":
            self._at += 1
        else:
            self._add("\\", length=1)

    def _backslash(self) -> None:
        """Read a formula between brackets with backslashes, or a character that one makes a word."""
        text, at = self.text, self._at
        opening = text[at + 1 : at + 2] if not text[max(at - 1, 0) : at].isalnum() else ""
        closing = _CLOSING[opening].search(text, at + 2, at + REACH) if opening in _CLOSING else None
        self._wait_if(opening in _CLOSING and not closing and len(text) - at < REACH)
        inner = text[at + 2 : closing.start()] if closing else ""
        is_plain = opening == "[" or len(inner) > _SHORT  # what people write in brackets, unless it has a sign of maths
        if not closing or (is_plain and not _MATHS.search(inner)) or not self._formula(inner, closing.end() - at):
            self._escape()

    def _dollar(self) -> None:
        """Read a formula between dollars; others are those of prices and variables."""
        is_inside = self._at and (self.text[self._at - 1].isalnum() or self.text[self._at - 1] in "_$")
        self._wait_if(not self.is_whole and not is_inside and _OPEN_DOLLARS.match(self.text, self._at))
        found = _DOLLARS.match(self.text, self._at)
        if not found or not self._formula(found[1] or found[2], len(found[0])):
            self._add("$", length=1)

    def _formula(self, inner: str, length: int) -> bool:
        """Add a formula as code, in which nothing is a mark; return whether it is one."""
        inner = " ".join(inner.split())
        has_sign = _MATHS.search(inner) or (_SIGNS.search(inner) and not inner[:1].isdigit())
        is_formula = bool(_NAMED.search(inner) and (has_sign or len(inner) <= _SHORT))
        if is_formula:
            self._add(CodeSpan(inner), length=length)
        return is_formula

    def _code(self) -> None:
        run = self._run()
        closing = re.compile(rf"(?<!`){run}(?!`)").search(self.text, self._at + len(run), self._at + REACH)
        self._wait_if(closing.end() == len(self.text) if closing else len(self.text) - self._at < REACH)
        inner = self.text[self._at + len(run) : closing.start()] if closing else ""
        if closing is None or not inner.strip():
            self._add(run, length=len(run))
            return
        inner = re.sub(r"[ \t]*\n[ \t>]*", " ", inner)
        is_padded = inner[0] == inner[-1] == " " and len(inner) > 1
        self._add(CodeSpan(inner[1:-1] if is_padded else inner), length=closing.end() - self._at)

    def _bracket(self) -> None:
        """Read a mark of the model, a link, or a bracket that is only that."""
        text, at = self.text, self._at
        if text[at] == "!" and text[at + 1 : at + 2] not in ("[", ""):
            self._add("!", length=1)
            return
        if not self.is_whole:
            self._wait_if(text[at:] == "!" or _OPEN_MARK.match(text, at) or _OPEN_LABEL.match(text, at))
        mark = _MARK.match(text, at)
        label = mark or _LABEL.match(text, at)
        behind, destination = label.end() if label else at, None
        if label and text[at] in "[!" and text[behind : behind + 1] in ("(", ""):
            destination = _DESTINATION.match(text, behind)
            if not destination and not self.is_whole:
                self._wait_if(_OPEN_DESTINATION.match(text, behind))
        length = (destination.end() if destination else behind) - at
        if mark and self.notes.sources.are_quoted:
            self._add(mark[0], length=length)
        elif mark:
            self._mark(mark[0], length=length)
        elif label and destination:
            url = (destination[1].split() or [""])[0].strip("<>")  # behind it may be a title
            self._link(label[1], url, is_image=text[at] == "!", length=length)
        else:
            self._add(text[at], length=1)

    def _mark(self, mark: str, *, length: int) -> None:
        """Add footnotes, close to what they belong to; a mark that says nothing new goes with the space before it."""
        evidence, sentence = self.notes.sources.evidence, ""
        if evidence.passages and self.notes.given < MOST_FOOTNOTES:
            nodes = (node for frame in self._frames for node in frame.nodes[-LOOKED_BACK:])
            sentence = evidence.claim_before(visible(nodes), self.row)
        notes = {note.number: note for note in self.notes.read(mark, sentence)}
        new = [note for number, note in notes.items() if number not in self._numbers]
        self._at += length
        if self._numbers or not new:
            self._close_up(is_word_apart=not new)
        self._frames[-1].nodes += new
        self._numbers.update(notes)

    def _close_up(self, *, is_word_apart: bool) -> None:
        """Leave off the white space before what disappears, unless it keeps words apart, or what is next to them."""
        found = _END_OF_WORD.match(self.text, self._at) if is_word_apart else None
        if found and not found[1]:
            self._wait_if(found.end() == len(self.text))
            if found.end() < len(self.text):
                return
        trim_end(self._frames[-1].nodes)

    def _link(self, label: str, url: str, *, is_image: bool, length: int) -> None:
        """Add a link to a page of the index; of any other, what is written on it."""
        sources = self.notes.sources
        children = InlineReader(label, Footnotes(Sources())).read()
        is_blank = not visible(children).strip()
        if self._can_link(url) and not is_image:
            bare = _bare_link(url)
            if names_another_place(label, url):
                children = (*children, Text(" ("), bare, Text(")"))
            elif is_blank or any(addresses(label)):
                children = (bare,)
            else:
                children = (Link(url, children),)
        elif not sources.names(url):
            self.notes.removed_urls += 1
        elif is_blank and not is_image:
            children = (Text(url),)
        self._add(*children, length=length)

    def _can_link(self, url: str) -> bool:
        """Return whether an address leads to a page of the index, is short, and has a scheme."""
        return len(url) <= LONGEST_URL and "://" in url and url in self.notes.sources.urls

    def _address(self, url: str, *, length: int) -> None:
        if self._can_link(url):
            self._add(_bare_link(url), length=length)
        elif self.notes.sources.names(url):
            self._add(url, length=length)  # which is shown as code
        else:
            self.notes.removed_urls += 1
            self._at += length
            self._close_up(is_word_apart=True)

    def _angle(self) -> None:
        text, at = self.text, self._at
        if text.startswith(_COMMENT, at):
            end = text.find(_COMMENT_END, at + len(_COMMENT), at + _LONGEST_COMMENT)
            self._wait_if(end < 0 and len(text) - at < _LONGEST_COMMENT)
            if end < 0:
                self._add(_COMMENT, length=len(_COMMENT))
            else:
                self._at = end + len(_COMMENT_END)
        elif found := _AUTOLINK.match(text, at):
            self._address(found[1], length=len(found[0]))
        elif found := _TAG.match(text, at):
            self._at = found.end()
            if found[1].lower() == "br":
                self._line_break()
        else:
            self._wait_if(_OPEN_ANGLE.match(text, at))
            self._add("<", length=1)

    def _entity(self) -> None:
        found = _ENTITY.match(self.text, self._at)
        self._wait_if(not found and _OPEN_ENTITY.match(self.text, self._at))
        character = " ".join(without_controls(html.unescape(found[0])).split("\n")) if found else "&"
        self._add(character, length=len(found[0]) if found else 1)

    def _line_break(self) -> None:
        found = _END_OF_LINE.match(self.text, self._at)
        trim_end(self._frames[-1].nodes)
        self._add(LineBreak(), length=len(found[0]) if found else 0)

    def _plain(self) -> None:
        """Add words up to the next character that may mean something, or an address."""
        text, at = self.text, self._at
        if at >= self._words_end:
            found = _PLAIN.match(text, at)
            self._words_end = found.end() if found else at + 1
        end = self._words_end
        address = _ADDRESS.search(text, at, end) if self._has_addresses else None
        if address:
            end = address.start()
            if end == at:
                found = URL.match(text, at)
                self._wait_if((found or address).end() == len(text))
                url = trim_url(found[0]) if found else ""
                if "://" in url or url.startswith("www."):
                    self._address(url, length=len(url))
                    return
                end = at + 1
        if not self.is_whole and (address or end == len(text)):
            word = _OPEN_WORD.search(text, max(at, len(text) - _LONGEST_WORD))
            end = min(end, word.start()) if word else end
            self._wait_if(end == at)
        self._add(text[at:end], length=end - at)

    def _emphasis(self) -> None:
        """Close what a run of marks closes, and open what it opens; the rest of it is text."""
        run = self._run()
        before, behind = self.text[max(self._at - 1, 0) : self._at], self.text[self._at + len(run) :][:1]
        is_line = run[0] == "_"
        closes = bool(before.strip()) and not (is_line and behind.isalnum())
        opens = bool(behind.strip()) and not (is_line and before.isalnum())
        if len(run) > _LONGEST_RUN or (run[0] == "~" and len(run) != len("~~")):
            self._add(run, length=len(run))
            return
        left = run
        while left and closes:
            places = range(len(self._frames) - 1, 0, -1)
            place = next((at for at in places if left.startswith(self._frames[at].mark)), None)
            if place is None:
                break
            left = left.removeprefix(self._frames[place].mark)
            self._close(place)
        self._at += len(run) - len(left)
        if not opens:
            self._add(left, length=len(left))
            return
        for mark in filter(None, (left[:2], left[2:])):
            self._at += len(mark)
            self._frames.append(_Frame(mark, self._at - len(mark), []))

    def _run(self) -> str:
        """Return the same character as often as it stands here."""
        found = _RUN.match(self.text, self._at)
        run = found[0] if found else ""
        self._wait_if(self._at + len(run) == len(self.text))
        return run

    def _close(self, place: int) -> None:
        """Let what stands behind an open mark be one node; marks that were opened behind it are text."""
        while len(self._frames) > place + 1:
            self._dissolve(-1)
        frame = self._frames.pop()
        kind = _KINDS[frame.mark]
        nodes = trimmed(frame.nodes, at_start=True)
        is_within = any(_KINDS.get(outer.mark) is kind for outer in self._frames)
        numbers = set(self._numbers)
        self._add(*(nodes if is_within or not nodes else [kind(tuple(nodes))]), length=0)
        self._numbers = numbers

    def _dissolve(self, place: int) -> None:
        """Let an open mark be text."""
        frame = self._frames.pop(place)
        put(self._frames[place - 1 if place > 0 else -1].nodes, [frame.mark, *frame.nodes])

    _READERS: ClassVar[dict[str, Callable[[InlineReader], None]]] = {
        "\\": _backslash, "$": _dollar, "`": _code, "[": _bracket, "!": _bracket, "【": _bracket, "［": _bracket,
        "<": _angle, "&": _entity, "*": _emphasis, "_": _emphasis, "~": _emphasis, "\n": _line_break,
    }  # fmt: skip


def read_cells(notes: Footnotes, cells: Sequence[str]) -> tuple[tuple[Inline, ...], ...]:
    """Return the cells of a row, each of which is one line; a mark in one belongs to the row up to there."""
    read = list[tuple[Inline, ...]]()
    for cell in cells:
        nodes = InlineReader(cell, notes, row=visible_row(read)).read()
        read.append(tuple(Text(" ") if isinstance(node, LineBreak) else node for node in nodes))
    return tuple(read)


def _bare_link(url: str) -> Link:
    return Link(url, (Text(without_scheme(url).removesuffix("/")),))
