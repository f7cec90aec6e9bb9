"""How an answer looks on Slack: Markdown with footnotes that are links, sources in small print, and buttons.

Slack reads `<...>` as mentions and links wherever it stands, in code and in Markdown too, and reads an entity once
only: with `<` and `>` written as entities nothing is live. Notifications and screen readers get the words alone.
All that a press needs to know is in the value of the button, so that none is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from adapters.chat.dialect import TITLE_LENGTH, ChatDialect, MessageRenderer, SmallPrint
from adapters.chat.platform import Controls, Part
from core.answering.agent import answer_id
from core.answering.citations import host, without_scheme
from core.answering.dialect import GAP, MarkdownDialect, joined, one_line, row_marker
from core.answering.nodes import inert, without_marks
from core.answering.source_lists import is_headed
from core.model import Answer, Question
from core.model.markup import CodeSpan, Emphasis, Strike, Strong

LONGEST_TEXT = 4_000  # characters: Slack refuses to change a message to a longer text
LEFT_OUT = "…"
VOTE = "footnote:vote"
RETRY = "footnote:retry"
STOP = "footnote:stop"
UP = "up"
DOWN = "down"

_SPECIAL = re.compile(r"\\(?=[!-/:-@\[-`{-~]|\Z)|[`*~\[\]]|(?<!\w)_+|(?<!_)_++(?!\w)")
_ENTITY = re.compile(r"(&#?\w{1,31});")
_EVERYONE = re.compile(r"@(?=channel|here|everyone)", re.IGNORECASE)
_SCHEME = re.compile(r":(?=//)|(?<!\w)[wｗ]{3}(?=\.)|(?<=\w)@(?=\w)", re.IGNORECASE)  # what clients make a link of
_ADDRESS = re.compile(  # the same in words that have no marks, where no code keeps them from it
    r":(?=/)|(?<!\w)[wｗ]{3}(?=\.)|(?<=\S)[.。．｡](?=[^\s/:.]{1,64}[/:])", re.IGNORECASE
)
_LABEL = re.compile(r"\](?=\(|\Z)")
_UNSAFE = re.compile(r"[<>|()\[\]\s\\`*\"'^{}]|@(?=channel|here|everyone)", re.IGNORECASE)


class SpokenDialect(MarkdownDialect):
    """Words alone, as notifications show them and screen readers read them; nothing but our own links is live in them.

    Where Slack takes no blocks, they are the message. So what marks would keep apart is kept apart by a gap.
    """

    marks = {Strong: GAP, Emphasis: GAP, Strike: GAP}  # noqa: RUF012 - it is never changed

    fence = ""
    marker = None

    def text(self, text: str) -> str:
        """Return words, also those in code, as they are, but for what Slack would read, in case it has no mark.

        What stands behind an `@` is kept apart from it, whatever it is: a mention could be made of several pieces.
        """
        return _ADDRESS.sub(rf"\g<0>{GAP}", self.address(text))

    def code(self, text: str) -> str:
        """Return code within a line."""
        return f"{GAP}{self.code_line(text)}{GAP}"

    def code_line(self, text: str) -> str:
        """Return a line of code: nothing says that it is some, so it has no footnotes and begins no list of sources."""
        return ("Code: " if is_headed(text) else "") + self.text(without_marks(text))

    def address(self, url: str) -> str:
        """Return an address that may be followed."""
        return escaped(url.replace("@", f"@{GAP}"))

    def link(self, url: str, label: str) -> str:
        """Return the words of a link, and where it leads."""
        is_label = label == without_scheme(url).removesuffix("/")
        return self.address(url) if is_label else f"{label} ({self.address(url)})"

    def heading(self, level: int, text: str) -> str:
        """Return a heading as a line."""
        return text


SPOKEN = SpokenDialect()


class SlackDialect(ChatDialect):
    """The Markdown of Slack's blocks and streams."""

    limit = 3_090  # units: the plain text of a message has room for 900 characters of sources
    small_print_limit = 1_800  # units; Slack takes 2,000 to 3,000 in one block
    bullet = "• "
    nearest_title = "*Nearest sections*"
    spoken = SPOKEN
    marker = row_marker()

    def text(self, text: str, *, is_small: bool = False) -> str:
        """Return text in which nothing is live: kept apart, or as entities; but for small print, marks are escaped."""
        text = _SCHEME.sub(rf"\g<0>{GAP}", _EVERYONE.sub(f"@{GAP}", text))
        text = _LABEL.sub(f"]{GAP}", text)
        if is_small:
            text = text.replace("`", "'")  # as nothing escapes it there, and it would end the code of another
        else:
            text = _SPECIAL.sub(lambda found: "".join(f"\\{character}" for character in found[0]), text)
        return escaped(text)

    def code(self, text: str) -> str:
        """Return code within a line."""
        return escaped(super().code(text))

    def code_line(self, text: str) -> str:
        """Return a line of code."""
        return escaped(super().code_line(text))

    def link(self, url: str, label: str) -> str:
        """Return a link."""
        return f"[{label}]({address(url)})"

    def on_one_line(self, text: str, limit: int = TITLE_LENGTH) -> str:
        """Return text of a document or a person on one line of small print, which has another dialect."""
        line = ""
        for one in inert(one_line(text, limit)):
            is_code = isinstance(one, CodeSpan)
            line = joined(line, self.code(one.text) if is_code else self.text(one.text, is_small=True))
        return line

    def small_link(self, url: str, label: str) -> str:
        """Return a link for small print."""
        return f"<{address(url)}|{label.replace('|', '¦')}>"


SLACK = SlackDialect()


@dataclass
class SlackRenderer(MessageRenderer):
    """Draws one answer; *remark* is what has to be said of how it came about.

    The messages of an answer on its way go on into those of the whole one, so that a stream only has to grow.
    """

    dialect: ChatDialect = SLACK
    stays_open: bool = True
    remark: str = ""
    most: Callable[[Sequence[Part]], Sequence[Part]] = tuple

    def whole(self, answer: Answer) -> Sequence[Part]:
        """Return the messages of a whole answer; its sources are below the last of them."""
        remark = [SmallPrint(SLACK.on_one_line(self.remark), self.remark)] if self.remark else []
        lines = [*SLACK.sources(answer.citations), *SLACK.sources(answer.nearest, are_near=True), *remark]
        *parts, last = self.drawn(answer) or [Part(LEFT_OUT if lines else "")]
        told = _told(lines, LONGEST_TEXT - len(last.plain) - 2)
        below = "\n".join(line.text for line in lines)
        last = replace(last, below=below, plain="\n\n".join(filter(None, [last.plain, told])))
        return self.most([*parts, last] if last.text else [])


def _told(lines: Sequence[SmallPrint], room: int) -> str:
    """Return what stands below an answer as words: first the lines, then as many of the addresses as fit."""
    said = list[str]()
    for line in lines:
        words, citation = line.words, line.citation
        if citation:
            place = f" ({home})" if (home := host(citation.url)) else ""
            heading = "".join(one.text for one in inert(one_line(citation.heading, TITLE_LENGTH)))
            words += f"{heading}{place}"
        said.append(SPOKEN.text(words))
    left = room - sum(len(words) + 1 for words in said)
    for at, line in enumerate(lines):
        leads = line.citation and SLACK.can_link(line.citation.url)  # of others a reader may make a link elsewhere
        url = f" {SPOKEN.address(address(line.citation.url))}" if line.citation and leads else ""
        if len(url) <= left:
            left -= len(url)
            said[at] += url
    return "\n".join(said)[: max(room, 0)]


def escaped(text: str) -> str:
    """Return `<` and `>` as entities, and `&` where it would begin one."""
    return _ENTITY.sub(lambda found: f"&amp;{found[0][1:]}", text).replace("<", "&lt;").replace(">", "&gt;")


@lru_cache(maxsize=512)
def address(url: str) -> str:
    """Return characters that would end a link or begin an entity as their codes, which lead to the same page."""
    url = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), url)
    return _ENTITY.sub(r"\1%3B", url)


def blocks_of(part: Part, question: Question) -> list[dict[str, Any]]:
    """Return the blocks for a message of the answer to *question*."""
    text = [{"type": "markdown", "text": part.text}] if part.text else []
    return [*text, *blocks_below(part, question)]


def blocks_below(part: Part, question: Question) -> list[dict[str, Any]]:
    """Return the blocks that stand below a message's Markdown: what ends a stream, whose text is there already."""
    below: list[dict[str, Any]] = []
    if part.below:
        below.append({"type": "context", "elements": [marked(part.below)]})
    match part.controls:
        case Controls.NONE:
            pass
        case Controls.STOP:
            below.append(_button("Stop", STOP, f"{question.author.id} {question.message}"))
        case Controls.RETRY:
            below.append(_button("Retry", RETRY, f"{question.author.id} {question.message}"))
        case Controls.VOTE:
            name = answer_id(question)
            feedback = {
                "type": "feedback_buttons",
                "action_id": VOTE,
                "positive_button": {
                    "text": plain("Helpful"),
                    "value": f"{UP} {name}",
                    "accessibility_label": "This answer was helpful",
                },
                "negative_button": {
                    "text": plain("Not helpful"),
                    "value": f"{DOWN} {name}",
                    "accessibility_label": "This answer was not helpful",
                },
            }
            below.append({"type": "context_actions", "elements": [feedback]})
    return below


def _button(label: str, action_id: str, value: str) -> dict[str, Any]:
    button = {"type": "button", "text": plain(label), "action_id": action_id, "value": value}
    return {"type": "actions", "elements": [button]}


def marked(text: str) -> dict[str, Any]:
    """Return words in Slack's own markup, in which nothing but what is marked as a link or a mention is one."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def plain(label: str) -> dict[str, Any]:
    """Return words without any markup."""
    return {"type": "plain_text", "text": label}
