"""Writes a conversation on Discord down: names, threads, buttons, and links by their labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.end_to_end.transcript import EDITED, PRIVATE, Line, News, drawn, message, thread
from tests.servers.discord import DiscordServer, Message
from tests.servers.discord.shape import Json

HANGING = {"-# ": "· ", "- ": "• "}
_CODE = re.compile(r"(`[^`\n]+`)")
_LINK = re.compile(r"(?<!\\)\[(?P<label>(?:\[\d+\]|[^\[\]\n])+)\]\(<(?P<url>[^<>\s]+)>\)")
_EMPHASIS = re.compile(r"(?<![\\\w])(\*\*|[*_])(?=\S)(.+?)(?<=[^\s\\])\1(?!\w)")
_ESCAPED = re.compile(r"\\([^a-zA-Z0-9\s])")
_MENTION = re.compile(r"<@!?(\d+)>")
_MOMENT = re.compile(r"<t:-?\d+(?::[a-zA-Z])?>")
_BARE = re.compile(r"<(https?://[^<>\s]+)>")


class DiscordTranscript:
    """A `Transcript` of a server.

    A link is its label, and below the last one to a place stands its address. That a message of the bot's was edited
    is not said, since that depends on the pace at which it was shown.
    """

    def __init__(self, server: DiscordServer) -> None:
        self._platform = server.platform
        self._news = News()

    def news(self, asked: str) -> list[str]:
        """Read a message, and the thread that bears its id."""
        opened = self._platform.channels.get(int(asked))
        lines = self._new(self._platform.messages[int(asked)])
        if opened is None:
            return lines
        said = [self._new(one) for one in self._platform.messages_in(opened) if one.seen_by is None]
        return [*lines, *thread(opened.name, said)]

    def told(self, who: str) -> list[str]:
        """Read the last message that only this person sees."""
        seen = (one for one in self._platform.messages.values() if one.seen_by and not one.deleted)
        return self._new([one for one in seen if self._name(one.seen_by or 0) == who][-1])

    def _new(self, one: Message) -> list[str]:
        return self._news.of(one.id, message(self._head(one), self._body(one))) if one.content else []

    def _head(self, one: Message) -> str:
        is_edited = one.edits and not self._platform.users[one.author_id].bot
        return f"{self._name(one.author_id)}{EDITED if is_edited else ''}{PRIVATE if one.seen_by else ''}"

    def _body(self, one: Message) -> Iterator[str]:
        yield from drawn([self._line(line) for line in one.content.split("\n")])
        yield from (" ".join(buttons) for buttons in map(_buttons, one.components) if buttons)
        if one.reactions:
            yield " ".join(f"[{emoji} {len(who)}]" for emoji, who in one.reactions.items())

    def _line(self, line: str) -> Line:
        """Draw a line of Markdown."""
        mark = next((mark for mark in HANGING if line.startswith(mark)), "")
        pieces = _CODE.split(_LINK.sub(r"\g<label>", line.removeprefix(mark)))
        text = "".join(piece if at % 2 else self._prose(piece) for at, piece in enumerate(pieces))
        return Line(text, [link["url"] for link in _LINK.finditer(line)], HANGING.get(mark, ""))

    def _prose(self, text: str) -> str:
        text = _EMPHASIS.sub(r"\2", text)
        text = _MENTION.sub(lambda found: f"@{self._name(int(found[1]))}", text)
        return _ESCAPED.sub(r"\1", _BARE.sub(r"\1", _MOMENT.sub("just now", text)))

    def _name(self, user_id: int) -> str:
        return self._platform.users[user_id].name


def _buttons(row: Json) -> list[str]:
    return [f"[{_label(button)}]" for button in row.get("components", ())]


def _label(button: Json) -> str:
    emoji: Json = button.get("emoji") or {}
    return " ".join(filter(None, [emoji.get("name"), button.get("label")]))
