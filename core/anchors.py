"""The anchors that headings get on a published page, by the rules of Docusaurus and GitHub."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from markdown_it.token import Token

_EXPLICIT = re.compile(r"\{#([^{}\n]+)\}\Z")
_KEPT = frozenset({"Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "Pc"})  # letters, marks, digits, "_"


class Slugger:
    """Gives the headings of one page their anchors, in their order: the same heading twice gets a number behind it."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def read(self, heading: str) -> tuple[str, str]:
        """Give the heading as people see it, and its anchor; a `{#anchor}` at its end wins and is not shown."""
        if explicit := _EXPLICIT.search(heading):
            return heading[: explicit.start()].rstrip(), explicit[1]
        return heading, self._slug(heading)

    def _slug(self, heading: str) -> str:
        first = slug(heading)
        result = first
        while result in self._seen:
            self._seen[first] += 1
            result = f"{first}-{self._seen[first]}"
        self._seen[result] = 0
        return result


def slug(heading: str) -> str:
    """Lower the case, drop punctuation and symbols, and turn each space into a hyphen."""
    kept = (c for c in heading.lower() if c in " -" or unicodedata.category(c) in _KEPT)
    return "".join(kept).replace(" ", "-")


def plain_text(tokens: Sequence[Token]) -> str:
    """Give the text of inline Markdown without its marks: of a link its label, of an image its description."""
    return "".join(_text(token) for token in tokens)


def _text(token: Token) -> str:
    match token.type:
        case "softbreak" | "hardbreak":
            return "\n"
        case "html_inline":
            return ""
        case _:
            return plain_text(token.children) if token.children else token.content
