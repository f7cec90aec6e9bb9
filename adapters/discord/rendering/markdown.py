"""Turns Markdown into messages in Discord's dialect, whatever a model wrote. Nothing here waits, reads or writes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from adapters.chat.fences import Fenced, segments
from adapters.chat.inline import Dialect, Inline
from adapters.chat.kept import Kept, cleaned
from adapters.chat.tags import complete, plain
from adapters.discord.rendering.code import fence, span
from adapters.discord.rendering.defuse import defused
from adapters.discord.rendering.lines import redrawn
from adapters.discord.rendering.links import bare, target, usable
from core.markdown import split, units
from core.model import without_controls
from core.scanner import Code, Scanner, may_hold_code

PART_LIMIT = 1_900  # units: Discord allows 2,000 characters and does not say how it counts emoji

_MARKS = re.compile(r"[\s`*~]+")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")

DIALECT = Dialect(span, bare, target, usable)


def dialect(text: str, targets: Mapping[str, str], *, final: bool = True) -> str:
    """Rewrite Markdown for Discord; unless *final*, what more text could change is left off.

    *targets* are the addresses of footnotes, by the mark as it stands in the text.
    """
    kept = Kept()
    inline = Inline(DIALECT, kept, targets)
    pieces = list(segments(cleaned(without_controls(text)), final=final))
    drawn: list[str] = []
    for number, piece in enumerate(pieces, 1):
        if isinstance(piece, Fenced):
            drawn.append(kept.keep(fence(piece)))
        else:
            drawn.append(inline.write(piece, final=final or number < len(pieces)))
    prose = "\n".join(part.removesuffix("\n") for part in drawn) if len(drawn) > 1 else drawn[0]
    prose = plain(prose if final else complete(prose))
    return _BLANK_LINES.sub("\n\n", kept.restore(defused(redrawn(prose, final=final)))).strip("\n").rstrip()


def parts(text: str, limit: int = PART_LIMIT) -> list[str]:
    """Cut what `dialect` wrote into messages.

    Code whose marks could not be repeated behind a cut would become text: then nothing counts as code.
    """
    if units(text) <= limit:
        return [text] if text else []
    pieces = split(text, limit)
    if may_hold_code(text) and "".join(map(_prose, pieces)) != _prose(text):
        pieces = split(defused(text), limit)
    return pieces


def _prose(text: str) -> str:
    """Give the characters of a text that are neither code nor marks nor white space."""
    scanner = Scanner()
    tokens = [*scanner.feed(text), *scanner.finish()]
    return _MARKS.sub("", "".join(token.text for token in tokens if not isinstance(token, Code)))
