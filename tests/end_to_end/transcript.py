"""Writes a conversation on Discord down as its people see it: names, threads, buttons, and links by their labels."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from tests.servers.discord import Channel, DiscordServer, Message
from tests.servers.discord.shape import Json

WIDTH = 100
THREAD = "│ "
TEXT = "   "
PRIVATE = " (only you can see this)"
HANGING = {"-# ": "· ", "- ": "• "}
_CODE = re.compile(r"(`[^`\n]+`)")
_LINK = re.compile(r"(?<!\\)\[(?P<label>(?:\[\d+\]|[^\[\]\n])+)\]\(<(?P<url>[^<>\s]+)>\)")
_EMPHASIS = re.compile(r"(?<![\\\w])(\*\*|[*_])(?=\S)(.+?)(?<=[^\s\\])\1(?!\w)")
_ESCAPED = re.compile(r"\\([^a-zA-Z0-9\s])")
_MENTION = re.compile(r"<@!?(\d+)>")
_MOMENT = re.compile(r"<t:-?\d+(?::[a-zA-Z])?>")
_BARE = re.compile(r"<(https?://[^<>\s]+)>")


class Transcript:
    """Reads the state of a server; what nobody sees is left out, as are ids and times.

    A link is its label, and below the last one to a place stands its address. That a message of the bot's was edited
    is not said, since that depends on the pace at which it was shown.
    """

    def __init__(self, server: DiscordServer) -> None:
        self._platform = server.platform
        self._written: dict[int, list[str]] = {}

    def news(self, message: Message) -> list[str]:
        """Give the lines of a message and of the thread on it, but of nothing that was given before and is the same."""
        thread = self._platform.channels.get(message.thread_id or 0)
        return [*self._new(message), *(self._thread(thread) if thread else [])]

    def _thread(self, thread: Channel) -> list[str]:
        said = [self._new(one) for one in self._platform.messages_in(thread) if one.seen_by is None]
        lines = [f"Thread: {thread.name}", *(line for one in said if one for line in ["", *one])]
        return [f"{TEXT}{THREAD}{line}".rstrip() for line in lines]

    def _new(self, message: Message) -> list[str]:
        before = self._written.get(message.id)
        lines = [self._head(message), *(f"{TEXT}{line}".rstrip() for line in self._body(message))]
        self._written[message.id] = lines
        return lines if message.content and lines != before else []

    def _head(self, message: Message) -> str:
        author = self._platform.users[message.author_id]
        is_edited = not author.bot and message.edits
        return f"{author.name}{' (edited)' if is_edited else ''}{PRIVATE if message.seen_by else ''}"

    def _body(self, message: Message) -> Iterator[str]:
        last = {link["url"]: link.start() for link in _LINK.finditer(message.content)}
        start = 0
        for line in message.content.split("\n"):
            below = [url for url, at in last.items() if start <= at <= start + len(line)]
            yield from self._shown(line, below)
            start += len(line) + 1
        yield from (" ".join(buttons) for buttons in map(_buttons, message.components) if buttons)
        if message.reactions:
            yield " ".join(f"[{emoji} {len(who)}]" for emoji, who in message.reactions.items())

    def _shown(self, line: str, below: list[str]) -> list[str]:
        """Give a line as it is drawn, with the addresses of its links below it."""
        mark = next((mark for mark in HANGING if line.startswith(mark)), "")
        first, indent = HANGING.get(mark, ""), " " * len(HANGING.get(mark, ""))
        shown = wrapped(self._plain(line.removeprefix(mark)), first=first, rest=indent) or [""]
        return [*shown, *(f"{indent}{TEXT}{url}" for url in below)]

    def _plain(self, text: str) -> str:
        """Draw Markdown, outside of code."""
        pieces = _CODE.split(_LINK.sub(r"\g<label>", text))
        return "".join(piece if at % 2 else self._drawn(piece) for at, piece in enumerate(pieces))

    def _drawn(self, text: str) -> str:
        text = _EMPHASIS.sub(r"\2", text)
        text = _MENTION.sub(lambda found: f"@{self._platform.users[int(found[1])].name}", text)
        return _ESCAPED.sub(r"\1", _BARE.sub(r"\1", _MOMENT.sub("just now", text)))


def wrapped(text: str, *, first: str = "", rest: str = "") -> list[str]:
    """Cut a line between words; addresses stay whole."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _buttons(row: Json) -> list[str]:
    return [f"[{_label(button)}]" for button in row.get("components", ())]


def _label(button: Json) -> str:
    emoji: Json = button.get("emoji") or {}
    return " ".join(filter(None, [emoji.get("name"), button.get("label")]))


def joined(blocks: Iterable[Iterable[str]]) -> str:
    """Put blocks of lines below one another, with an empty line between them."""
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"
