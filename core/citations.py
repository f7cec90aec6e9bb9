"""Turns the model's `[n]` marks into footnotes while the text streams.

Nothing here waits, reads or writes. The rule it keeps: for every text and every way of cutting it into pieces, the
pieces shown while streaming join to exactly what writing the text at once would show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.model import Citation
from core.scanner import Address, Code, Link, Mark, Scanner, Text, Token
from core.sources import URL, Sources

_RANGE = re.compile(r"(\d+)\s*[-–—]\s*\^?(\d+)|(\d+)")
_NUMBER = re.compile(r"\s*\^?\d{1,4}\s*")


class CitationStream:
    """Rewrites one answer: marks get the numbers 1, 2, 3 in order of first use; what the index does not know goes."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._scanner = Scanner()
        self._shown: dict[int, int] = {}
        self._space = ""
        self._marks_before: set[int] = set()
        self._line_is_marks = True
        self.removed_urls = 0

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The footnotes of the marks so far, in the order of their numbers."""
        return tuple(self._sources.citation(number, shown_as=shown) for number, shown in self._shown.items())

    @property
    def count(self) -> int:
        """How many footnotes there are so far."""
        return len(self._shown)

    def feed(self, piece: str) -> str:
        """Take more of the model's text; give what can be shown."""
        return self._write(self._scanner.feed(piece))

    def finish(self) -> str:
        """Give the rest."""
        rest = self._write(self._scanner.finish()) + self._space
        self._space = ""
        return rest

    def _write(self, tokens: Iterable[Token]) -> str:
        return "".join(self._rewrite(token) for token in tokens)

    def _rewrite(self, token: Token) -> str:
        match token:
            case Text(text) | Code(text):
                return self._emit(text)
            case Mark(text):
                return self._mark(text)
            case Link(text, label, url):
                return self._link(text, label, url)
            case Address(text, url):
                return self._emit(text) if self._sources.knows_url(url) else self._remove_url()

    def _emit(self, text: str) -> str:
        """Show text, but for spaces at its end: they go with a mark that disappears behind them."""
        if text.startswith(":") and not self._space and self._line_is_marks and self._marks_before:
            text = f" {text}"  # Markdown would take `[1]: text` for the definition of a link and show nothing
        out = self._space + text
        shown = out.rstrip(" \t")
        self._space = out[len(shown) :]
        if shown:
            self._marks_before = set()
            self._line_is_marks = shown.endswith("\n")
        return shown

    def _mark(self, text: str) -> str:
        numbers = dict.fromkeys(self._show(number) for number in _numbers(text, self._sources.numbers))
        new = [number for number in numbers if number not in self._marks_before]
        space = "" if self._marks_before else self._space
        self._space = ""
        if not new:
            return ""
        self._marks_before.update(new)
        return space + "".join(f"[{number}]" for number in new)

    def _show(self, number: int) -> int:
        return self._shown.setdefault(number, len(self._shown) + 1)

    def _link(self, text: str, label: str, url: str) -> str:
        if _is_number(text, label):
            return self._mark(f"[{label}]")
        if self._sources.knows_url(url) and not text.startswith("!"):
            return self._emit(text)
        self.removed_urls += 1
        return self._emit(URL.sub("", label))

    def _remove_url(self) -> str:
        self.removed_urls += 1
        self._space = ""
        return ""


def without_marks(text: str) -> str:
    """Give an answer as the model may read it again: the marks of an old answer mean nothing in a new one."""
    stream = CitationStream(_NO_MARKS)
    return stream.feed(text) + stream.finish()


def with_literal_marks(text: str) -> str:
    """Give text for quoting: a number in brackets that it brings along stays text and becomes no footnote."""
    scanner = Scanner()
    return "".join(map(_literal, [*scanner.feed(text), *scanner.finish()]))


def _literal(token: Token) -> str:
    match token:
        case Mark(text):
            return f"\\[{text[1:-1]}]"
        case Link(text, label, _) if _is_number(text, label):
            return f"\\{text}"
        case other:
            return other.text


class _NoMarks(Sources):
    """Knows no number and every address, so that only the marks go."""

    def knows_url(self, url: str) -> bool:
        return True


_NO_MARKS = _NoMarks()


def _is_number(text: str, label: str) -> bool:
    """Say whether a link is a mark that somebody gave an address."""
    return not text.startswith("!") and bool(_NUMBER.fullmatch(label))


def _numbers(mark: str, known: Iterable[int]) -> list[int]:
    """Give the known numbers that a mark names, in its order; a range names what it spans."""
    known = sorted(known)
    found: list[int] = []
    for first, last, single in _RANGE.findall(mark.partition("†")[0]):
        low, high = (int(single), int(single)) if single else (int(first), int(last))
        found += [number for number in known if low <= number <= high]
    return found
