"""Cuts what is written for Slack into messages, in a way that a text which grows never moves the first cut."""

from __future__ import annotations

import re

from adapters.chat.kept import GAP
from adapters.slack.rendering.tables import HEAD_ROOM, tears_a_row, with_heads
from core.markdown import split, units
from core.scanner import Code, Scanner, Text, Token, may_hold_code

PART_LIMIT = 3_500  # units: the plain text of a message, 4,000 characters at most, has room for sources too

_FILLED = 0.8  # of a message, before which no cut is looked for
_SURE = 0.7  # of a message: as much as stands in it wherever the cut will be
_AHEAD = 400  # units behind a message that may still move its end
_SMALLEST = 1_500  # units
_MARKS = re.compile(r"[\s`*~|:-]+")
_OPEN_ENTITY = re.compile(r"&#?\w{0,31}\Z")
_FOOTNOTE = re.compile(r"\[\[\d{1,4}\]\]\([^()\s]{1,2000}\)")


def parts(text: str, limit: int = PART_LIMIT) -> list[str]:
    """Cut a text into messages.

    Code whose marks could not be repeated behind a cut would become text: then nothing counts as a link.
    """
    if units(text) <= limit:
        return [text] if text else []
    room = max(limit - HEAD_ROOM, _SMALLEST)
    pieces = split(text, room, filled=_FILLED)
    if tears_a_row(pieces):
        pieces = split(text, room)
    if may_hold_code(text) and "".join(map(_prose, pieces)) != _prose(text):
        pieces = split(text.replace("](", f"]{GAP}("), room)
    return with_heads(pieces)


def drafts(text: str, limit: int = PART_LIMIT) -> list[str]:
    """Cut a text that will grow: the first message shows what will stand in it wherever it will be cut."""
    if units(text) <= limit * _SURE:
        return [text] if text else []
    if units(text) <= limit + _AHEAD:
        beginning = _beginning(text, int(limit * _SURE))
        return [beginning] if beginning else []
    return parts(text, limit)


def _beginning(text: str, room: int) -> str:
    """Give as much of a text as fits, without the piece of a mark or of an entity.

    That is all which any draft has shown that was no longer than *room*.
    """
    at = 0
    for token in _tokens(text):
        size = units(token.text)
        if size > room:
            can_be_cut = isinstance(token, Text) or (isinstance(token, Code) and token.text[0] != "`")
            at += _fitting(token.text, room) if can_be_cut else 0
            break
        at += len(token.text)
        room -= size
    at = next((found.start() for found in _FOOTNOTE.finditer(text) if found.start() < at < found.end()), at)
    return _OPEN_ENTITY.sub("", text[:at]).rstrip()


def _fitting(text: str, room: int) -> int:
    """Count the code points at the start of a text that have at most *room* units."""
    size = min(len(text), room)
    while (excess := units(text[:size]) - room) > 0:
        size -= (excess + 1) // 2
    return size


def _prose(text: str) -> str:
    """Give the characters of a text that are neither code nor marks nor white space."""
    return _MARKS.sub("", "".join(token.text for token in _tokens(text) if not isinstance(token, Code)))


def _tokens(text: str) -> list[Token]:
    scanner = Scanner()
    return [*scanner.feed(text), *scanner.finish()]
