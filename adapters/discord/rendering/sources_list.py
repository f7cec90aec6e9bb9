"""The lines below an answer: where its statements come from, or which sections come nearest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adapters.chat.links import host
from adapters.discord.rendering import links
from adapters.discord.rendering.defuse import defused
from core.markdown import units
from core.model import Citation, without_controls

MOST = 5  # sources in a list; the footnotes in the text lead to all of them
ROOM = 900  # units for all of the list, so that words of the answer stand above it
_TITLE = 120  # characters
_MARKS = re.compile(r"[\\`*_~|\[\]#>]")


def sources(citations: Sequence[Citation]) -> str:
    """Give the sources in small print, one a line; what does not fit is counted."""
    return _fitting([_source(citation) for citation in citations], "-# and {} more")


def nearest(citations: Sequence[Citation]) -> str:
    """Give the sections that come nearest to a question, for somebody to look into."""
    if not citations:
        return ""
    return "**Nearest sections**\n" + _fitting([_near(citation) for citation in citations], "- and {} more")


def plain_text(text: str, limit: int = _TITLE) -> str:
    """Give text of a document or a person on one line, so that Discord shows it as it is."""
    line = " ".join(without_controls(text).split())
    line = line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return defused(_MARKS.sub(lambda found: f"\\{found[0]}", line))


def _source(citation: Citation) -> str:
    number = f"[{citation.number}]"
    mark = f"[{number}{links.target(citation.url)}" if links.usable(citation.url) else number
    return f"-# {mark} {_described(citation)}"


def _near(citation: Citation) -> str:
    address = f" {links.bare(citation.url)}" if links.usable(citation.url) else ""
    return f"- {_described(citation)}{address}"


def _described(citation: Citation) -> str:
    home = host(citation.url) if links.usable(citation.url) else ""
    place = f" ({plain_text(home)})" if home else ""
    return f"{plain_text(citation.heading)}{place} {citation.relevance_score:.2f}"


def _fitting(lines: Sequence[str], rest: str) -> str:
    kept: list[str] = []
    for line in lines[:MOST]:
        if units("\n".join([*kept, line, rest])) > ROOM:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    return "\n".join([*kept, *([rest.format(left)] if left else [])])
