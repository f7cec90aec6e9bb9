"""Cuts Markdown that arrives in pieces into tokens: text, code, `[n]` marks, links and addresses.

Nothing here waits, reads or writes. A token is only given when no later character can change it; what is still open is
held back. So the tokens do not depend on how the text was cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from core.sources import URL, trim_url

_NUMBER = r"\s{0,3}\^?\d{1,4}\s{0,3}"
_MARK = re.compile(rf"\[{_NUMBER}(?:[,;–—-]{_NUMBER}){{0,50}}\]|【{_NUMBER}(?:[†:][^】\n]{{0,40}})?】")
_OPEN_MARK = re.compile(r"\[[\s\d^,;–—-]{0,400}\Z|【[^】\n]{0,60}\Z")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\(([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500})*)\)")
_OPEN_LINK = re.compile(r"!?\[[^\[\]\n]{0,200}(?:\](?:\([^\n)]{0,2000}(?:\)[^\n]{0,500})?)?)?\Z")
_DEFINITION = re.compile(r"\[[^\[\]\n]{1,200}\]:[ \t]{0,9}<?(?:[a-zA-Z][a-zA-Z0-9+.-]{1,30}:|www\.|//)[^\n]*(?:\n|\Z)")
_OPEN_DEFINITION = re.compile(r"\[[^\[\]\n]{1,200}\](?::[ \t]{0,9}<?[^\n]*)?\Z")
_AUTOLINK = re.compile(r"<((?:[a-zA-Z][a-zA-Z0-9+.-]{1,30}:|www\.)[^\s<>]*)>")
_OPEN_AUTOLINK = re.compile(r"<[a-zA-Z][^\s<>]{0,2000}\Z")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})")
_OPEN_FENCE = re.compile(r" {0,3}(?:`{0,2}|~{0,2}|`{3,}[^`\n]*|~{3,}[^\n]*)\Z")
_PARAGRAPH_OR_RUN = re.compile(r"\n[ \t]*\n|\n {0,3}(?:`{3,}|~{3,})|(`+)")
_RUN = re.compile(r"`+")
_WORD = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}")  # as long as a scheme may be, so that cutting changes nothing
_OPEN_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}(?::/{0,2})?\Z")
# As much as can be no address: a word that something follows which neither goes on with it nor makes it a scheme.
_PLAIN = re.compile(r"(?:[^a-zA-Z\[!【`<\\\n]+|(?!www\.)[a-zA-Z][a-zA-Z0-9+.-]{0,30}(?=[^a-zA-Z0-9+.:-]))+")


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A part of a code span or fence, never to be changed."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A footnote mark as the model wrote it, such as `[1]`, `[1, 2]`, `[1-3]` or `【1†source】`."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A Markdown link or image with its label."""

    text: str
    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Address:
    """A bare address, `<address>`, or the whole line `[label]: address`, which shows nothing by itself."""

    text: str
    url: str


Token: TypeAlias = Text | Code | Mark | Link | Address


class Scanner:
    """Give it pieces with `feed` and end with `finish`; both give the tokens that are certain by then."""

    def __init__(self) -> None:
        self._text = ""
        self._line_start = True
        self._fence: str | None = None
        self._starts: dict[str, Callable[..., Token | None]] = {
            "`": self._code_span,
            "\\": self._escape,
            "[": self._bracket,
            "!": self._bracket,
            "【": self._bracket,
            "<": self._angle,
            "\n": self._newline,
        }

    def feed(self, piece: str) -> Iterator[Token]:
        """Take more text."""
        self._text += piece
        return self._tokens(final=False)

    def finish(self) -> Iterator[Token]:
        """Say that no more text comes."""
        return self._tokens(final=True)

    def _tokens(self, *, final: bool) -> Iterator[Token]:
        while self._text:
            token = self._next(final=final)
            if token is None:
                return
            self._text = self._text[len(token.text) :]
            self._line_start = token.text.endswith("\n")
            yield token

    def _next(self, *, final: bool) -> Token | None:
        """Give the token at the start of the text, or None if more text could change it."""
        if self._fence is not None:
            return self._fenced_line(final=final)
        if self._line_start and not final and _OPEN_FENCE.match(self._text):
            return None
        if self._line_start and (fence := _FENCE.match(self._text)):
            self._fence = fence[1]
            return Code(_first_line(self._text))
        return self._starts.get(self._text[0], self._plain)(final=final)

    def _newline(self, *, final: bool) -> Token | None:
        return Text("\n")

    def _escape(self, *, final: bool) -> Token | None:
        return Text(self._text[:2]) if final or len(self._text) > 1 else None

    def _fenced_line(self, *, final: bool) -> Token | None:
        line = _first_line(self._text)
        if not line.endswith("\n") and not final:
            return None
        bare = line.strip()
        fence = self._fence or ""
        if len(bare) >= len(fence) and set(bare) == {fence[0]} and len(line) - len(line.lstrip(" ")) <= 3:  # noqa: PLR2004 - CommonMark: four spaces are code
            self._fence = None
        return Code(line)

    def _code_span(self, *, final: bool) -> Token | None:
        opening = _RUN.match(self._text)
        run = opening[0] if opening else ""
        if len(run) == len(self._text):
            return Text(run) if final else None
        for found in _PARAGRAPH_OR_RUN.finditer(self._text, len(run)):
            if found[1] is None:
                return Text(run)  # the paragraph ends: the backticks were only backticks
            if found.end() == len(self._text) and not final:
                return None
            if found[1] == run:
                return Code(self._text[: found.end()])
        return Text(run) if final else None

    def _bracket(self, *, final: bool) -> Token | None:
        text = self._text
        if self._line_start and not final and _OPEN_DEFINITION.match(text):
            return None
        if self._line_start and (definition := _DEFINITION.match(text)):
            return Address(definition[0], _destination(definition[0].split("]:", 1)[1]))
        if not final and (text == "!" or _OPEN_LINK.match(text) or _OPEN_MARK.match(text)):
            return None
        if link := _LINK.match(text):
            return Link(link[0], link[1], _destination(link[2]))
        if mark := _MARK.match(text):
            return Mark(mark[0])
        return Text(text[0])

    def _angle(self, *, final: bool) -> Token | None:
        if link := _AUTOLINK.match(self._text):
            return Address(link[0], link[1])
        if not final and (len(self._text) == 1 or _OPEN_AUTOLINK.match(self._text)):
            return None
        return Text("<")

    def _plain(self, *, final: bool) -> Token | None:
        if plain := _PLAIN.match(self._text):
            return Text(plain[0])
        if not final and _OPEN_URL.match(self._text):
            return None
        if url := URL.match(self._text):
            if url.end() == len(self._text) and not final:
                return None
            address = trim_url(url[0])
            return Address(address, address) if "://" in address or address.startswith("www.") else Text(url[0])
        word = _WORD.match(self._text)
        return Text(word[0] if word else self._text[0])


def may_hold_code(text: str) -> bool:
    """Say whether a text has any mark that code begins with."""
    return "`" in text or "~~~" in text


def _first_line(text: str) -> str:
    return text[: text.find("\n") + 1] or text


def _destination(text: str) -> str:
    """Give the address in a link's brackets, without angle brackets and title."""
    words = text.split()
    return words[0].strip("<>") if words else ""
