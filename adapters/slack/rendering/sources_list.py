"""The small print below an answer: where its statements come from, or which sections come nearest."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.chat.links import host, usable
from adapters.slack.rendering.escaping import plain_text
from adapters.slack.rendering.links import small
from core.model import Citation

MOST = 5  # sources in a list; the footnotes in the text lead to all of them
ROOM = 1_800  # characters for a list; Slack takes 2,000 to 3,000 in one block


def sources(citations: Sequence[Citation]) -> str:
    """Give the sources, one a line; what does not fit is counted."""
    return _fitting([_source(citation) for citation in citations], "and {} more")


def nearest(citations: Sequence[Citation]) -> str:
    """Give the sections that come nearest to a question, for somebody to look into."""
    if not citations:
        return ""
    return "*Nearest sections*\n" + _fitting([_near(citation) for citation in citations], "• and {} more")


def _source(citation: Citation) -> str:
    number = f"[{citation.number}]"
    mark = small(citation.url, number) if usable(citation.url) else number
    home = f" ({plain_text(host(citation.url))})" if usable(citation.url) else ""
    return f"{mark} {plain_text(citation.heading)}{home} {citation.relevance_score:.2f}"


def _near(citation: Citation) -> str:
    """Name a section; the link is its host, since a title could name another place than it leads to."""
    home = f" ({small(citation.url, plain_text(host(citation.url)))})" if usable(citation.url) else ""
    return f"• {plain_text(citation.heading)}{home} {citation.relevance_score:.2f}"


def _fitting(lines: Sequence[str], rest: str) -> str:
    kept: list[str] = []
    for line in lines[:MOST]:
        if len("\n".join([*kept, line, rest])) > ROOM:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    return "\n".join([*kept, *([rest.format(left)] if left else [])])
