"""Rewrites what stands within a line in the dialect of a platform: code, links, footnote marks and addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from adapters.chat.kept import Kept
from adapters.chat.links import names_another_place, without_scheme
from adapters.chat.tags import plain
from core.scanner import Address, Code, Link, Mark, Scanner, Text, Token


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a platform writes a code span, an address alone, and what follows a link's label; and what can be a link."""

    span: Callable[[str], str]
    bare: Callable[[str], str]
    target: Callable[[str], str]
    usable: Callable[[str], bool]


class Inline:
    """Rewrites prose; what is live in the end is kept aside, so that nothing else needs to be trusted.

    *targets* are the addresses of the footnotes by their mark.
    """

    def __init__(self, dialect: Dialect, kept: Kept, targets: Mapping[str, str]) -> None:
        self._dialect = dialect
        self._kept = kept
        self._targets = targets

    def write(self, prose: str, *, final: bool) -> str:
        """Rewrite *prose*; unless *final*, what more text could change is left off."""
        scanner = Scanner()
        tokens = [*scanner.feed(prose), *(scanner.finish() if final else ())]
        return "".join(map(self._rewritten, tokens))

    def _rewritten(self, token: Token) -> str:
        match token:
            case Code(text):
                return self._kept.keep(self._dialect.span(text))
            case Text(text):
                return "".join(f"\\{mark}" for mark in text) if text[0] in "`[" else text
            case Mark(text):
                return self._mark(text)
            case Link(text, label, url):
                label = self._label(label)
                return label if text.startswith("!") else self._link(label, url)
            case Address(text, url):
                name = f"{text[1 : text.index(']')]}: " if text.startswith("[") else ""
                end = "\n" if text.endswith("\n") else ""
                return f"{name}{self._kept.keep(self._dialect.bare(url)) if self._dialect.usable(url) else url}{end}"

    def _link(self, label: str, url: str) -> str:
        """Write a link; where its label would deceive, the label stands as text with the address behind it."""
        label = " ".join(label.split())
        shown = plain(self._kept.restore(label))
        if not self._dialect.usable(url):
            return label
        if not shown.strip("\u200b ") or shown == url:
            return self._kept.keep(self._dialect.bare(url))
        if names_another_place(shown, url):
            return f"{label} ({self._kept.keep(self._dialect.bare(url))})"
        return f"[{without_scheme(label)}{self._kept.keep(self._dialect.target(url))}"

    def _label(self, label: str) -> str:
        """Rewrite the label of a link, in which an address is text."""
        scanner = Scanner()
        tokens = [*scanner.feed(label), *scanner.finish()]
        return "".join(token.text if isinstance(token, Address) else self._rewritten(token) for token in tokens)

    def _mark(self, text: str) -> str:
        url = self._targets.get(text, "")
        return self._kept.keep(f"[{text}{self._dialect.target(url)}") if self._dialect.usable(url) else text
