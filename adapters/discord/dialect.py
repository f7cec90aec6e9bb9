"""How an answer looks on Discord: its own Markdown, footnotes that are links, sources in small print, and buttons.

Discord closes a block of code at the first three backticks wherever they stand, and knows no tables, no deep headings
and no rules. Its servers find mentions and invitations where its clients show none, so that no backslash helps there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from adapters.chat.dialect import QUESTION_LENGTH, ChatDialect, MessageRenderer
from adapters.chat.platform import Controls, Part
from core.answering.agent import answer_id
from core.answering.dialect import GAP, row_marker
from core.model import Answer, Citation, MessageRef, Question
from core.model.markup import TableRow

if TYPE_CHECKING:
    from discord import Message
    from discord.ui import View

MARK = "footnote"
PATTERN = rf"{MARK}:(?P<what>stop|retry|up|down):(?P<about>[0-9a-f:]{{1,90}})"  # the id of a button

_DEEPEST = 3
_SPECIAL = re.compile(r"[\\`*\[\]]|_(?!(?<=[^\W_]_)[^\W_])|~~+|\|\|+")
_EVERYONE = re.compile(r"@(?=everyone|here)", re.IGNORECASE)
_ANGLE = re.compile(r"<(?=[a-zA-Z/@#:&!+]|\Z)")  # mentions, commands, times, emoji, addresses, telephones
_SCHEME = re.compile(r":(?=//)")
_INVITE = re.compile(r"(discord(?:app)?)\.(?=gg/|com/invite)", re.IGNORECASE)
_LABEL = re.compile(r"\](?=\(|\Z)")
_UNSAFE = re.compile(r"[()\[\]`\\|*]|~(?=~)|@(?=everyone|here)", re.IGNORECASE)


class DiscordDialect(ChatDialect):
    """Discord's Markdown."""

    limit = 1_900  # units: Discord allows 2,000 characters and does not say how it counts emoji
    small = "-# "
    rule = ""
    marker = row_marker("|>|-#")
    linkable = re.compile(  # no invitation, which always has a preview
        r"(?!.*discord(?:app)?\.(?:gg/|com/invite))https?://[^\s<>]+", re.IGNORECASE
    )

    def text(self, text: str) -> str:
        """Return text in which nothing pings, links, jumps or shows an emoji: kept apart without width, or escaped."""
        text = _ANGLE.sub(f"<{GAP}", _apart(text))
        text = _SCHEME.sub(f":{GAP}", text)
        text = _LABEL.sub(f"]{GAP}", text)
        return _SPECIAL.sub(lambda found: "".join(f"\\{character}" for character in found[0]), text)

    def code(self, text: str) -> str:
        """Return code within a line; servers do not know what is code, and find mentions and invitations in it."""
        return super().code(_apart(text))

    def code_line(self, text: str) -> str:
        """Return a line of code, in which the same is kept apart."""
        return super().code_line(_apart(text))

    def link(self, url: str, label: str) -> str:
        """Return a link without a preview; what Discord would read as marks is written as codes."""
        return f"[{label}](<{_address(url)}>)"

    small_link = link

    def near(self, citation: Citation) -> str:
        """Return a section with its whole address."""
        address = f" <{_address(citation.url)}>" if self.can_link(citation.url) else ""
        return f"{self.section(citation)}{address}"

    def heading(self, level: int, text: str) -> str:
        """Return a heading, in bold where Discord has none that deep."""
        return super().heading(level, text) if level <= _DEEPEST else f"**{text.replace('**', '')}**"

    def rows(self, row: TableRow, *, is_first: bool) -> Sequence[str]:
        """Return a row as the item of a list, in which every value says what it is."""
        head, cells = [self.inline(cell) for cell in row.head], [self.inline(cell) for cell in row.cells]
        if not cells:
            return ["- " + " · ".join(filter(None, head))]
        names = [*head, *([""] * max(len(cells) - len(head), 0))]
        named = [f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell]
        return ["- " + " · ".join(named)] if named else []


def _apart(text: str) -> str:
    """Return a text in which nobody is called and no place is opened."""
    return _INVITE.sub(rf"\1{GAP}.", _EVERYONE.sub(f"@{GAP}", text))


DISCORD = DiscordDialect()


@dataclass
class DiscordRenderer(MessageRenderer):
    """Draws one answer.

    *hint* says how to go on where people cannot see that by themselves, and *remark* what is to be said of how the
    answer came about.
    """

    dialect: ChatDialect = DISCORD
    hint: str = ""
    remark: str = ""

    def whole(self, answer: Answer) -> Sequence[Part]:
        """Return the messages of a whole answer."""
        lines = [*DISCORD.sources(answer.citations), *DISCORD.sources(answer.nearest, are_near=True)]
        small = [f"-# {each}" for each in (self.remark, self.hint) if each]
        return self.drawn(answer, "\n".join([*(line.text for line in lines), *small]))


@lru_cache(maxsize=512)
def _address(url: str) -> str:
    """Return characters that Discord would read as marks as their codes, which lead to the same page."""
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", url)


def quoted(question: str) -> str:
    """Return the beginning of a question as a quote, for those who did not see it asked."""
    return f"> {DISCORD.on_one_line(question, QUESTION_LENGTH)}\n"


def controls_view(controls: Controls, question: Question | None) -> View | None:
    """Return the buttons for a message of the answer to *question*; None if it has none. Needs a running loop.

    All that a press needs to know is in the button's id, so that none is remembered; the server is named by the press.
    """
    from discord import ButtonStyle
    from discord.ui import Button, View

    if question is None or controls is Controls.NONE:
        return None
    view, grey = View(timeout=None), ButtonStyle.secondary
    match controls:
        case Controls.STOP | Controls.RETRY:
            about = f"{_place(question.message)}:{question.author.id}"
            label = controls.value.capitalize()
            view.add_item(Button(style=grey, label=label, custom_id=f"{MARK}:{controls}:{about}"))
        case Controls.VOTE:
            name = f"{_place(question.message)}:{answer_id(question)}"
            view.add_item(Button(style=grey, emoji="👍", label="Helpful", custom_id=f"{MARK}:up:{name}"))
            view.add_item(Button(style=grey, emoji="👎", label="Not helpful", custom_id=f"{MARK}:down:{name}"))
    view.stop()  # otherwise the client that posts it remembers it as long as it lives
    return view


def _place(message: MessageRef) -> str:
    """Name a message within its server, which a press names by itself; an id of Discord's has 20 digits at most."""
    return f"{message.thread.channel}:{message.thread.thread}:{message.id}"


def buttons_of(shown: Message | View | None) -> list[str]:
    """Return the ids of the buttons below a message, in order."""
    from discord import ActionRow, Button
    from discord.ui import View

    if shown is None:
        return []
    if isinstance(shown, View):
        return [str(getattr(item, "custom_id", "")) for item in shown.children]
    rows = [row for row in shown.components if isinstance(row, ActionRow)]
    return [str(item.custom_id) for row in rows for item in row.children if isinstance(item, Button)]


def names_question(message: Message, asked: MessageRef) -> bool:
    """Return whether the buttons of a message are those of an answer to a question, to whichever words of it."""
    return any(f":{_place(asked)}:" in f"{name}:" for name in buttons_of(message))


def voted_on(message: Message) -> set[str]:
    """Return which answers the buttons of a message ask a vote on: one to certain words of its question."""
    kinds = f"{MARK}:up:", f"{MARK}:down:"
    return {name.rpartition(":")[2] for name in buttons_of(message) if name.startswith(kinds)}


def is_draft(message: Message) -> bool:
    """Return whether a message of an answer says that more comes."""
    return any(name.startswith(f"{MARK}:stop:") for name in buttons_of(message))


def is_failure(message: Message) -> bool:
    """Return whether a message says that there is no answer, and offers to try again."""
    return any(name.startswith(f"{MARK}:retry:") for name in buttons_of(message))
