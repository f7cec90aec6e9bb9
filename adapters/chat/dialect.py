"""What the dialects of chat platforms share: messages of limited length, small print, and what can be a link."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache

from adapters.chat.pager import MOST_PARTS, Pager, units
from adapters.chat.platform import Part
from core.answering.citations import host
from core.answering.dialect import MarkdownDialect, one_line
from core.answering.markup import shown_blocks
from core.answering.nodes import inert
from core.messages import CUT
from core.model import Answer, Citation, PartialAnswer, without_controls
from core.model.markup import Emphasis, Text

MOST_SOURCES = 5  # in a list; the footnotes in the text lead to all of them
TITLE_LENGTH = 120  # characters
QUESTION_LENGTH = 300  # characters of a question that is quoted

_MARKS = re.compile(r"[`*_~|<>#\[\]\\]+")


@dataclass(frozen=True, slots=True)
class SmallPrint:
    """A line below an answer: as the platform shows it, and its words alone, which end with a section."""

    text: str
    words: str
    citation: Citation | None = None


class ChatDialect(MarkdownDialect):
    """A platform's own Markdown, and how it writes what stands below an answer."""

    keeps_code_in_place = False
    links_footnotes = True
    linkable = re.compile(r"https?://[^\s<>]+", re.IGNORECASE)
    limit = 2_000  # units of a message
    small_print_limit = 900  # units of a list of sources, so that words of the answer stand above it
    small = ""  # with which a line of small print begins
    bullet = "- "
    nearest_title = "**Nearest sections**"

    def can_link(self, url: str) -> bool:
        """Return whether the platform can show an address as a link."""
        return _is_linkable(self.linkable, url)

    def small_link(self, url: str, label: str) -> str:
        """Return a link for small print; the label is written already."""
        return self.link(url, label)

    def near(self, citation: Citation) -> str:
        """Return a section that comes near a question; its host is the link, since a title could name another place."""
        return self.section(citation, is_linked=True)

    def on_one_line(self, text: str, limit: int = TITLE_LENGTH) -> str:
        """Return text of a document or a person on one line, of *limit* characters at most."""
        return self.inline(inert(one_line(text, limit)))

    def section(self, citation: Citation, *, is_linked: bool = False) -> str:
        """Return the title of a section and its host; how relevant it is in figures says nothing to readers."""
        home = self.on_one_line(host(citation.url)) if self.can_link(citation.url) else ""
        place = f" ({self.small_link(citation.url, home) if is_linked else home})" if home else ""
        return f"{self.on_one_line(citation.heading)}{place}"

    def sources(self, citations: Sequence[Citation], *, are_near: bool = False) -> Sequence[SmallPrint]:
        """Return a line for each source, or for each section that comes near a question; what does not fit is counted.

        There is always one, though it may not be a link. Those that *are_near* are for somebody to look into, and have
        a title above them.
        """
        sign = self.bullet if are_near else self.small
        room = self.small_print_limit - units(f"{sign}and {len(citations)} more")
        lines: list[SmallPrint] = []
        for each in citations[:MOST_SOURCES]:
            number, alone = f"[{each.number}]", self.section(each)
            mark = self.small_link(each.url, number) if not are_near and self.can_link(each.url) else number
            text = sign + (self.near(each) if are_near else f"{mark} {alone}{each.age}")
            if not lines and units(text) >= room:  # its address is too long to be a link
                text = sign + (alone if are_near else f"{number} {alone}{each.age}")
            room -= units(text) + 1
            if room < 0:
                break
            lines.append(SmallPrint(text, sign if are_near else f"{number} ", each))
        if left := len(citations) - len(lines):
            rest = f"{sign}and {left} more"
            lines.append(SmallPrint(rest, rest.removeprefix(self.small)))
        title = [SmallPrint(self.nearest_title, self.nearest_title.strip("*"))] if are_near and citations else []
        return [*title, *lines]


@lru_cache(maxsize=512)  # an answer has few addresses, and writes each of them often
def _is_linkable(linkable: re.Pattern[str], url: str) -> bool:
    return bool(linkable.fullmatch(url) and host(url))


@dataclass
class MessageRenderer:
    """Draws one answer as messages; what is finished is drawn once.

    *head* stands above the first message, in the platform's dialect. Where a platform lets a message only grow, code at
    the end of one *stays_open* until the answer is whole. It has *most_parts* messages at most.
    """

    dialect: ChatDialect
    head: str = ""
    stays_open: bool = False
    most_parts: int = MOST_PARTS
    _draft: PartialAnswer | None = None
    _drawn: int = 0
    _pager: Pager = field(init=False)

    def sketch(self, draft: PartialAnswer) -> Sequence[Part]:
        """Return the messages of an answer that is being written.

        What more text could change, or move to another message, is not shown yet. If there are many messages, the last
        one may have to say that the answer is cut.
        """
        if draft is not self._draft:
            self._draft, self._drawn = draft, 0
            self._pager = Pager(self.dialect, self.dialect.limit - units(self.head), self.head)
        finished, tail = draft.read()
        for at in range(self._drawn, len(finished)):
            self._pager.add(finished[at])
        self._drawn = len(finished)
        ahead = copy(self._pager)
        for block in tail[:-1]:
            ahead.add(block)
        for block in tail[-1:]:
            ahead.add_open(block)
        return ahead.parts(is_open=self.stays_open)[: self.most_parts - 1]

    def drawn(self, answer: Answer, below: str = "") -> Sequence[Part]:
        """Return the messages of a whole answer, with what stands *below* it in the last of them."""
        pager = Pager(self.dialect, self.dialect.limit - units(self.head), self.head)
        for block in shown_blocks(answer):
            pager.add(block)
        pager.finish(units(f"\n\n{below}") if below else 0)
        *parts, last = pager.parts() or [Part("")]
        if pager.is_cut or len(parts) >= self.most_parts:
            parts, last = parts[: self.most_parts - 1], Part(self.dialect.inline((Emphasis((Text(CUT),)),)), plain=CUT)
        text = "\n\n".join(filter(None, [last.text, below]))
        return [*parts, replace(last, text=text)] if text else []


def heading(question: str, most: int, *, otherwise: str = "") -> str:
    """Return the beginning of a question on one line, without marks, cut between words at *most* characters."""
    line = " ".join(_MARKS.sub(" ", without_controls(question)).split())
    if len(line) > most:
        line = line[: most - 1].rsplit(" ", 1)[0][: most - 1].rstrip(" ,;:-") + "…"
    return line or otherwise
