"""How an answer looks on Slack: messages of Markdown with footnotes that are links, and the sources in small print.

Slack reads `<...>` as mentions and links wherever it stands, in code and in Markdown too, and reads an entity once
only: with `<` and `>` written as entities nothing is live. Notifications and screen readers get the words alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from adapters.chat.dialect import TITLE_LENGTH, ChatDialect, MessageRenderer, SmallPrint, one_line
from adapters.chat.platform import Part
from core.answering.citations import host, without_scheme
from core.answering.dialect import GAP, MarkdownDialect
from core.model import Answer, without_controls
from core.model.markup import Emphasis, Inline, Strike, Strong

LONGEST_TEXT = 4_000  # characters: Slack refuses to change a message to a longer text
LEFT_OUT = "…"

_SPECIAL = re.compile(r"\\(?=[!-/:-@\[-`{-~]|\Z)|[`*~\[\]]|(?<!\w)_+|_+(?!\w)")
_ENTITY = re.compile(r"(&#?\w{1,31});")
_EVERYONE = re.compile(r"@(?=channel|here|everyone)", re.IGNORECASE)
_SCHEME = re.compile(r":(?=//)|(?<!\w)www\.|(?<=\w)@(?=\w)", re.IGNORECASE)  # what clients make a link of by themselves
_LABEL = re.compile(r"\](?=\(|\Z)")
_UNSAFE = re.compile(r"[<>|()\[\]\s\\`*\"'^{}]|@(?=channel|here|everyone)", re.IGNORECASE)


class SpokenDialect(MarkdownDialect):
    """Words alone, as notifications show them and screen readers read them; nothing in them is live."""

    marks = {Strong: "", Emphasis: "", Strike: ""}  # noqa: RUF012 - it is never changed

    fence = ""

    def text(self, text: str) -> str:
        """Return words, at the start of a line and in code too, as they are, but for what Slack would read."""
        return spoken(text)

    at_start = code = code_line = text

    def link(self, url: str, children: Sequence[Inline]) -> str:
        """Return the words of a link, and where it leads."""
        label = self.inline(children)
        return url if label == without_scheme(url).removesuffix("/") else f"{label} ({spoken(url)})"

    def heading(self, level: int, text: str) -> str:
        """Return a heading as a line."""
        return text


class SlackDialect(ChatDialect):
    """The Markdown of Slack's blocks and streams."""

    limit = 3_090  # units: the plain text of a message has room for 900 characters of sources
    small_print_limit = 1_800  # units; Slack takes 2,000 to 3,000 in one block
    bullet = "• "
    nearest_title = "*Nearest sections*"
    spoken = SpokenDialect()

    def text(self, text: str) -> str:
        """Escape what would be a mark; what would mention or link is written as entities, or kept apart."""
        text = _LABEL.sub(f"]{GAP}", _apart(text))
        return escaped(_SPECIAL.sub(lambda found: "".join(f"\\{character}" for character in found[0]), text))

    def at_start(self, text: str) -> str:
        """Return words with which a row begins so that they are no marker."""
        return self.text(text) if text[:1] == ">" else super().at_start(text)

    def code(self, text: str) -> str:
        """Return code within a line."""
        return escaped(super().code(text))

    def code_line(self, text: str) -> str:
        """Return a line of code."""
        return escaped(super().code_line(text))

    def footnote(self, number: int, url: str) -> str:
        """Return a footnote, as a link where it can be one."""
        return f"[[{number}]]({address(url)})" if self.can_link(url) else f"[{number}]"

    def link(self, url: str, children: Sequence[Inline]) -> str:
        """Return a link."""
        label = self.inline(children)
        return f"[{label}]({address(url)})" if self.can_link(url) else label

    def on_one_line(self, text: str, limit: int = TITLE_LENGTH) -> str:
        """Return text of a document or a person on one line of small print, which has another dialect."""
        return escaped(_LABEL.sub(f"]{GAP}", _apart(one_line(text, limit))))

    def small_link(self, url: str, label: str) -> str:
        """Return a link for small print."""
        return f"<{address(url)}|{label.replace('|', '¦')}>"


SLACK = SlackDialect()


class SlackRenderer(MessageRenderer):
    """Draws one answer; *remark* is what has to be said of how it came about.

    The messages of an answer on its way go on into those of the whole one, so that a stream only has to grow.
    """

    def __init__(self, *, remark: str = "", most: Callable[[Sequence[Part]], Sequence[Part]] = tuple) -> None:
        super().__init__(SLACK, stays_open=True)
        self._remark = remark
        self._most = most

    def whole(self, answer: Answer) -> Sequence[Part]:
        """Return the messages of a whole answer; its sources are below the last of them."""
        remark = [SmallPrint(SLACK.on_one_line(self._remark), self._remark)] if self._remark else []
        lines = [*SLACK.sources(answer.citations), *SLACK.nearest(answer.nearest), *remark]
        *parts, last = self.drawn(answer) or [Part(LEFT_OUT if lines else "")]
        told = _told(lines, LONGEST_TEXT - len(last.plain) - 2)
        last = replace(
            last, below="\n".join(line.text for line in lines), plain="\n\n".join(filter(None, [last.plain, told]))
        )
        return self._most([*parts, last] if last.text else [])


def _told(lines: Sequence[SmallPrint], room: int) -> str:
    """Return what stands below an answer as words: first the lines, then as many of the addresses as fit."""
    said = list[str]()
    for line in lines:
        words, citation = line.words, line.citation
        if citation:
            place = f" ({home})" if (home := host(citation.url)) else ""
            words += f"{one_line(citation.heading, TITLE_LENGTH)}{place} {citation.relevance_score:.2f}"
        said.append(spoken(words))
    left = room - sum(len(words) + 1 for words in said)
    for at, line in enumerate(lines):
        url = f" {spoken(without_controls(line.citation.url))}" if line.citation and line.citation.url else ""
        if len(url) <= left:
            left -= len(url)
            said[at] += url
    return "\n".join(said)[: max(room, 0)]


def escaped(text: str) -> str:
    """Return `<` and `>` as entities, and `&` where it would begin one."""
    return _ENTITY.sub(lambda found: f"&amp;{found[0][1:]}", text).replace("<", "&lt;").replace(">", "&gt;")


def spoken(text: str) -> str:
    """Return words that mention nobody, in case that they are read without their mark."""
    return _EVERYONE.sub(f"@{GAP}", text).replace("<", "&lt;").replace(">", "&gt;")


def address(url: str) -> str:
    """Return characters that would end a link or begin an entity as their codes, which lead to the same page."""
    url = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), url)
    return _ENTITY.sub(r"\1%3B", url)


def _apart(text: str) -> str:
    """Keep apart, by characters without width, what would call everybody or be an address."""
    return _SCHEME.sub(rf"\g<0>{GAP}", _EVERYONE.sub(f"@{GAP}", text))
