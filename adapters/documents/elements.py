"""The elements of HTML that appear in Markdown: their names, and rewriting whole ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from adapters.documents.page import names

BLOCKS = names(
    "address article aside audio blockquote body center dd details dialog div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header html li main nav ol p picture section summary table tbody td tfoot th thead tr ul "
    "video Admonition Card CardGrid Cards Step Steps Tab TabItem Tabs"
)
INLINE = names(
    "a abbr b bdi bdo big br button cite code data del dfn em font hr i img input ins kbd label mark nobr q s samp "
    "small source span strike strong sub sup time tt u var wbr"
)
WITHOUT_TEXT = ("script", "style", "svg", "iframe", "noscript", "template")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

BLANKS = re.compile(r"[ \t]*")

Change = Callable[[re.Match[str]], str]
"""Gives the text for an element: group 1 holds its attributes, group 2 its content, or None if it closes itself."""


def replaced(text: str, name: str, change: Change) -> str:
    """Rewrite every *name* element; what is never closed is left alone."""
    last = text.lower().rfind(f"</{name}")
    if last < 0 and f"<{name}" not in text:
        return text
    # Behind the last closing tag no element can end: looking for its end there would take quadratic time.
    return _whole(name).sub(change, text[: last + len(name) + 3]) + text[last + len(name) + 3 :]


@cache
def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"<{name}(?=[\s/>])([^<>]*?)(?:/>|>(.*?)</{name}>)", re.DOTALL | re.IGNORECASE)


def indentation(text: str, at: int) -> str:
    """Give the blanks that begin the line in which position *at* stands."""
    start = text.rfind("\n", 0, at) + 1
    match = BLANKS.match(text, start, at)
    return match[0].expandtabs(4) if match else ""
