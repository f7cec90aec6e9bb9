"""Reads what stands within a paragraph: words, code, emphasis, footnote marks, links and addresses.

What more text could change is left off unless the text is whole, so that of a text that grows every reading begins with
the one before it. Nothing here waits.
"""

from __future__ import annotations

import html
import re
import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.answering.addresses import URL, can_be_link, names_another_place, trim_url, without_scheme
from core.answering.citations import Footnotes, Sources
from core.answering.nodes import ends_apart, trimmed, visible, without, without_false_marks, without_open_end
from core.model import without_controls
from core.model.markup import CodeSpan, Emphasis, Inline, LineBreak, Link, Strike, Strong, Text

REACH = 500  # characters in which a mark has to be closed, so that a stray one holds back no more than that

_NUMBER = r"\s{0,3}\^?\d{1,4}\s{0,3}"
_NUMBERS = rf"{_NUMBER}(?:[,;–—-]{_NUMBER}){{0,50}}"
_MARK = re.compile(rf"\[\[{_NUMBERS}\]\]|\[{_NUMBERS}\]|[【［]{_NUMBERS}(?:[†:][^】］\n]{{0,40}})?[】］]")
_OPEN_MARK = re.compile(r"\[\[?[\s\d^,;–—-]{0,400}\]?\Z|[【［][^】］\n]{0,60}\Z")
_DESTINATION = re.compile(r"\(([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500}){0,9})\)")
_OPEN_DESTINATION = re.compile(r"\([^\n)]{0,2000}(?:\)[^\n]{0,500})?\Z")
_LABEL = re.compile(r"!?\[((?:[^\[\]\n\\]|\\.|\[[^\[\]\n]{0,100}\]){0,200})\]")
_OPEN_LABEL = re.compile(r"!?\[(?:[^\[\]\n\\]|\\.|\[[^\[\]\n]{0,100}\]){0,200}(?:\[[^\[\]\n]{0,100})?\\?\]?\Z")
_AUTOLINK = re.compile(r"<((?:[a-zA-Z][a-zA-Z0-9+.-]{1,30}:|www\.)[^\s<>]{0,2000})>")
_COMMENT = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)
_NAMES = (
    "a|abbr|article|aside|audio|b|big|blockquote|body|br|button|caption|center|cite|code|col|colgroup|dd|del|details|"
    "dfn|div|dl|dt|em|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|"
    "li|link|main|mark|meta|nav|object|ol|option|p|picture|pre|q|s|samp|script|section|select|small|source|span|"
    "strike|strong|style|sub|summary|sup|svg|table|tbody|td|textarea|tfoot|th|thead|time|title|tr|tt|u|ul|var|video"
)
_TAG = re.compile(rf"</?({_NAMES})(?:[ \t/][^<>\n]{{0,2000}})?>", re.IGNORECASE)
_OPEN_ANGLE = re.compile(r"<(?:[a-zA-Z/][^<>\n]{0,2000})?\Z|<!(?:-(?:-.{0,2000})?)?\Z", re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_OPEN_ENTITY = re.compile(r"&[#a-zA-Z0-9]{0,33}\Z")
_PLAIN = re.compile(r"[^\\`\[!【［<&*_~\n]+")
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,30}://|www\.")
_OPEN_WORD = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}(?::/{0,2})?\Z")
_LONGEST_WORD = 34  # characters that could be the beginning of an address
_RUN = re.compile(r"`+|\*+|_+|~+")
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


def read_inline(text: str, notes: Footnotes, *, is_whole: bool = True) -> tuple[Inline, ...]:
    """Return the nodes of a paragraph or cell; unless it *is_whole*, only those that more text cannot change."""
    return _InlineReader(text, notes, is_whole=is_whole).read()


class _InlineReader:
    """Goes through a text once, from left to right."""

    def __init__(self, text: str, notes: Footnotes, *, is_whole: bool) -> None:
        self._text = text
        self._notes = notes
        self._is_whole = is_whole
        self._at = 0
        self._frames = [_Frame("", 0, [])]
        self._numbers: set[int] = set()  # of the footnotes right before, between which no white space is kept
        self._certain: list[Inline] = []  # what stood before white space that went, and may have been shown
        self._closed_up = -1  # where white space stood that went with what disappeared behind it
        self._has_addresses = "://" in text or "www." in text or not is_whole

    def read(self) -> tuple[Inline, ...]:
        readers: dict[str, Callable[[], None]] = {
            "\\": self._escape, "`": self._code, "[": self._bracket, "!": self._bracket, "【": self._bracket,
            "［": self._bracket, "<": self._angle, "&": self._entity, "*": self._emphasis, "_": self._emphasis,
            "~": self._emphasis, "\n": self._line_break,
        }  # fmt: skip
        try:
            while self._at < len(self._text):
                self._release()
                readers.get(self._text[self._at], self._plain)()
        except _Undecided:
            pass
        self._release()
        while self._is_whole and len(self._frames) > 1:
            self._dissolve(len(self._frames) - 1)
        written = self._frames[0].nodes
        is_open = self._closed_up != self._at and not (written and ends_apart(written[-1]))
        nodes = without_false_marks(trimmed(written, at_start=True))
        if self._is_whole:
            return tuple(nodes)
        certain = without_open_end(nodes, is_open=is_open)
        return tuple(self._certain if len(visible(certain)) < len(visible(self._certain)) else certain)

    def _wait_unless_whole(self, *, is_open: bool) -> None:
        if is_open and not self._is_whole:
            raise _Undecided

    def _say(self, text: str, *, length: int | None = None) -> None:
        """Add words that stand for so many characters of the text."""
        self._at += len(text) if length is None else length
        nodes = self._frames[-1].nodes
        if nodes and isinstance(nodes[-1], Text):
            nodes[-1] = Text(nodes[-1].text + text)
        elif text := text.lstrip() if nodes and isinstance(nodes[-1], LineBreak) else text:
            nodes.append(Text(text))
        if self._numbers and text.strip():
            self._numbers.clear()

    def _add(self, nodes: Iterable[Inline], *, length: int = 0) -> None:
        for node in nodes:
            if isinstance(node, Text):
                self._say(node.text, length=0)
            else:
                self._frames[-1].nodes.append(node)
                self._numbers.clear()
        self._at += length

    def _escape(self) -> None:
        behind = self._text[self._at + 1 : self._at + 2]
        self._wait_unless_whole(is_open=not behind)
        if behind and behind in string.punctuation:
            self._say(behind, length=2)
        elif behind == "\n":
            self._at += 1
        else:
            self._say("\\")

    def _code(self) -> None:
        run = self._run()
        closing = re.compile(rf"(?<!`){run}(?!`)").search(self._text, self._at + len(run), self._at + REACH)
        is_open = closing.end() == len(self._text) if closing else len(self._text) - self._at < REACH
        self._wait_unless_whole(is_open=is_open)
        inner = self._text[self._at + len(run) : closing.start()] if closing else ""
        if closing is None or not inner.strip():
            self._say(run)
            return
        inner = re.sub(r"[ \t]*\n[ \t>]*", " ", inner)
        is_padded = inner[0] == inner[-1] == " " and len(inner) > 1
        self._add([CodeSpan(inner[1:-1] if is_padded else inner)], length=closing.end() - self._at)

    def _bracket(self) -> None:
        text, at = self._text, self._at
        if text[at] == "!" and text[at + 1 : at + 2] not in ("[", ""):
            self._say("!")
            return
        is_open = text[at:] == "!" or bool(_OPEN_MARK.match(text, at) or _OPEN_LABEL.match(text, at))
        self._wait_unless_whole(is_open=is_open)
        mark = _MARK.match(text, at)
        label = mark or _LABEL.match(text, at)
        behind = label.end() if label else at
        destination = _DESTINATION.match(text, behind) if label and text[at] in "[!" else None
        if label and not destination and text[at] in "[!":
            self._wait_unless_whole(is_open=bool(_OPEN_DESTINATION.match(text, behind)))
        end = destination.end() if destination else behind
        if mark:
            self._mark(mark[0], length=end - at)
        elif label and destination:
            self._link(label[1], _address_in(destination[1]), is_image=text[at] == "!", length=end - at)
        else:
            self._say(text[at])

    def _mark(self, mark: str, *, length: int) -> None:
        """Add footnotes, close to what they belong to; a mark that says nothing new goes with the space before it."""
        if self._notes.sources.are_quoted:
            self._say(mark, length=length)
            return
        notes = {note.number: note for note in self._notes.read(mark)}
        new = [note for number, note in notes.items() if number not in self._numbers]
        self._at += length
        if self._numbers or not new:
            self._close_up(is_word_apart=not new)
        self._frames[-1].nodes += new
        self._numbers.update(notes)

    def _close_up(self, *, is_word_apart: bool) -> None:
        """Leave off the white space before what disappears, unless it keeps words apart."""
        if not (is_word_apart and self._text[self._at : self._at + 1].isalnum()):
            nodes = self._frames[-1].nodes
            if self._closed_up == self._at or (nodes and ends_apart(nodes[-1])):
                self._closed_up = self._at
                shown = without_open_end(
                    without_false_marks(trimmed(self._frames[0].nodes, at_start=True)), is_open=False
                )
                self._certain = shown if len(self._frames) == 1 else self._certain
            nodes[:] = trimmed(nodes, breaks=False)

    def _link(self, label: str, url: str, *, is_image: bool, length: int) -> None:
        """Add a link to a page of the index; of any other, what is written on it."""
        sources = self._notes.sources
        children = read_inline(label, Footnotes(Sources()))
        shown = visible(children)
        if sources.leads_to(url) and can_be_link(url) and not is_image:
            bare = Link(url, (Text(without_scheme(url).removesuffix("/")),))
            if not shown.strip():
                children = (bare,)
            elif names_another_place(label, url):
                children = (*children, Text(" ("), bare, Text(")"))
            else:
                children = (Link(url, children),)
        elif not sources.names(url):
            self._notes.removed_urls += 1
        elif not shown.strip() and not is_image:
            children = (Text(url),)
        self._add(children, length=length)

    def _address(self, url: str, *, length: int) -> None:
        if self._notes.sources.leads_to(url) and can_be_link(url):
            self._add([Link(url, (Text(without_scheme(url).removesuffix("/")),))], length=length)
        elif self._notes.sources.names(url):
            self._say(url, length=length)
        else:
            self._notes.removed_urls += 1
            self._at += length
            self._close_up(is_word_apart=True)

    def _angle(self) -> None:
        if found := _AUTOLINK.match(self._text, self._at):
            self._address(found[1], length=len(found[0]))
        elif found := _COMMENT.match(self._text, self._at):
            self._at = found.end()
        elif found := _TAG.match(self._text, self._at):
            self._at = found.end()
            if found[1].lower() == "br":
                self._line_break()
        else:
            self._wait_unless_whole(is_open=bool(_OPEN_ANGLE.match(self._text, self._at)))
            self._say("<")

    def _entity(self) -> None:
        found = _ENTITY.match(self._text, self._at)
        self._wait_unless_whole(is_open=not found and bool(_OPEN_ENTITY.match(self._text, self._at)))
        character = " ".join(without_controls(html.unescape(found[0])).split("\n")) if found else "&"
        self._say(character, length=len(found[0]) if found else 1)

    def _line_break(self) -> None:
        found = _END_OF_LINE.match(self._text, self._at)
        nodes = self._frames[-1].nodes
        nodes[:] = trimmed(nodes, breaks=False)
        self._add([LineBreak()], length=len(found[0]) if found else 0)

    def _plain(self) -> None:
        """Add words up to the next character that may mean something, or to an address."""
        found = _PLAIN.match(self._text, self._at)
        end = found.end() if found else self._at + 1
        if self._has_addresses and (address := _ADDRESS.search(self._text, self._at, end)):
            if address.start() == self._at:
                self._take_address()
                return
            end = address.start()
        elif end == len(self._text) and not self._is_whole:
            word = _OPEN_WORD.search(self._text, max(self._at, end - _LONGEST_WORD))
            end = word.start() if word else end
            if end == self._at:
                raise _Undecided
        self._say(self._text[self._at : end])

    def _take_address(self) -> None:
        found = URL.match(self._text, self._at)
        last = found or _ADDRESS.match(self._text, self._at)
        self._wait_unless_whole(is_open=last is not None and last.end() == len(self._text))
        url = trim_url(found[0]) if found else ""
        if "://" in url or url.startswith("www."):
            self._address(url, length=len(url))
        else:
            self._say(self._text[self._at])

    def _emphasis(self) -> None:
        """Close what a run of marks closes, and open what it opens; the rest of it is text."""
        run = self._run()
        before, behind = self._text[max(self._at - 1, 0) : self._at], self._text[self._at + len(run) :][:1]
        is_within = run[0] == "_" and before.isalnum() and behind.isalnum()
        closes = bool(before.strip()) and not (run[0] == "_" and behind.isalnum()) and not is_within
        opens = bool(behind.strip()) and not (run[0] == "_" and before.isalnum()) and not is_within
        if len(run) > _LONGEST_RUN or (run[0] == "~" and len(run) != len("~~")):
            self._say(run)
            return
        left = run
        while left and closes and (place := self._opened(left)):
            left = left[len(self._frames[place].mark) :]
            self._close(place)
        self._at += len(run) - len(left)
        for mark in (left[:2], left[2:]) if opens else ():
            if mark:
                self._frames.append(_Frame(mark, self._at, []))
                self._at += len(mark)
        if not opens and left:
            self._say(left)

    def _run(self) -> str:
        found = _RUN.match(self._text, self._at)
        run = found[0] if found else ""
        self._wait_unless_whole(is_open=self._at + len(run) == len(self._text))
        return run

    def _opened(self, run: str) -> int:
        """Return the place of the innermost frame that a run can close; 0 if there is none."""
        places = range(len(self._frames) - 1, 0, -1)
        return next((at for at in places if run.startswith(self._frames[at].mark)), 0)

    def _close(self, place: int) -> None:
        while len(self._frames) > place + 1:
            self._dissolve(len(self._frames) - 1)
        frame = self._frames.pop()
        kind = _KINDS[frame.mark]
        nodes = trimmed(without(kind, frame.nodes), at_start=True)
        if nodes:
            numbers = set(self._numbers)
            self._add([kind(tuple(nodes))])
            self._numbers = numbers

    def _dissolve(self, place: int) -> None:
        """Let an open mark be text."""
        frame = self._frames.pop(place)
        outer = self._frames[place - 1].nodes
        for node in (Text(frame.mark), *frame.nodes):
            if isinstance(node, Text) and outer and isinstance(outer[-1], Text):
                outer[-1] = Text(outer[-1].text + node.text)
            else:
                outer.append(node)

    def _release(self) -> None:
        while len(self._frames) > 1 and self._at - self._frames[1].start > REACH:
            self._dissolve(1)


def _address_in(destination: str) -> str:
    """Return the address in a link's brackets, without angle brackets and title."""
    words = destination.split()
    return words[0].strip("<>") if words else ""
