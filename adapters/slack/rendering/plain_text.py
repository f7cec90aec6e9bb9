"""The whole of a message as plain text, which is what notifications show and screen readers read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adapters.chat.posting import Part
from adapters.slack.rendering.escaping import calling_nobody
from core.scanner import Address, Code, Link, Mark, Scanner, Text, Token

LIMIT = 4_000  # characters: Slack refuses to change a message to a longer text

_FOOTNOTE = re.compile(r"\[(\[\d{1,4}\])\]\([^()\s]{1,2000}\)")
_SMALL = re.compile(r"<([^<>|\s]{1,2000})\|([^<>|]{0,300})>")
_FENCE = re.compile(r"[ \t]{0,3}`{3,}")
_EMPHASIS = re.compile(r"\*{2,3}|(?<!\w)_{2}(?=\w)|(?<=\w)_{2}(?!\w)|~~")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+", re.MULTILINE)


def plain(part: Part) -> str:
    """Give a message's words and its sources with their addresses; nothing in it is live."""
    body = _words(part.text)[: LIMIT - 1]
    return "\n\n".join(filter(None, [body, _fitting(part.below, LIMIT - len(body) - 2)]))


def below_plain(below: str) -> str:
    """Give small print with every address behind its line."""
    return "\n".join(line + addresses for line, addresses in _lines(below))


def _words(text: str) -> str:
    """Give the words of Markdown as `dialect` writes it."""
    scanner = Scanner()
    marked = _FOOTNOTE.sub(r"\1", text)
    words = "".join(map(_word, [*scanner.feed(marked), *scanner.finish()]))
    return calling_nobody(words).replace("<", "&lt;").replace(">", "&gt;").strip("\n").rstrip()


def _word(token: Token) -> str:
    match token:
        case Code(text) if _FENCE.match(text):
            return ""
        case Code(text):
            return text if text.endswith("\n") else text.strip("`")
        case Link(_, label, url):
            address = url.partition("://")[2].removesuffix("/")
            label = _without_marks(label)
            return url if label == address else f"{label} ({url})"
        case Text(text) if text.startswith("\\"):
            return text[1:]
        case Text(text):
            return _without_marks(text)
        case Mark(text) | Address(text):
            return text


def _without_marks(text: str) -> str:
    return _HEADING.sub("", _EMPHASIS.sub("", text.replace("\\", "")))


def _fitting(below: str, room: int) -> str:
    """Give small print in a room: first its lines, then as many of the addresses as fit."""
    lines = list(_lines(below))
    left = room - sum(len(line) + 1 for line, _ in lines)
    shown: list[str] = []
    for line, addresses in lines:
        fits = len(addresses) <= left
        left -= len(addresses) if fits else 0
        shown.append(line + (addresses if fits else ""))
    return "\n".join(shown)[: max(room, 0)]


def _lines(below: str) -> Iterator[tuple[str, str]]:
    """Give each line of small print as words, and the addresses that it leads to."""
    for line in below.split("\n") if below else ():
        yield _SMALL.sub(r"\2", line).replace("*", ""), "".join(f" {found[1]}" for found in _SMALL.finditer(line))
