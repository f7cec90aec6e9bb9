"""The elements of HTML and JSX that appear in Markdown: their names, reading one tag, and rewriting whole elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
"""Returns the text for an element: group 1 holds its attributes, group 2 its content, or None if it closes itself."""


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
    """Return the blanks that begin the line in which position *at* stands."""
    start = text.rfind("\n", 0, at) + 1
    match = BLANKS.match(text, start, at)
    return match[0].expandtabs(4) if match else ""


NAME = re.compile(r"<(/?)([A-Za-z][\w.:-]*|(?=>))")
ATTRIBUTE = re.compile(r"""\s+([\w@:.-]+)(\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'{}<>=`]+)|(?=\{)))?""")
SPREAD = re.compile(r"\s*(?=\{)")
END = re.compile(r"\s*(/?)>")
STRING = re.compile(r"""\{\s*(["'])(.*)\1\s*\}""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that ends before position `end`; attributes without a value are empty, expressions are as written."""

    name: str
    end: int
    is_closing: bool
    is_self_closing: bool
    attributes: Mapping[str, str]


def brace_pairs(text: str) -> dict[int, int]:
    """Find for every opening brace the closing one that belongs to it."""
    pairs: dict[int, int] = {}
    waiting: list[int] = []
    for match in re.finditer(r"\\[{}]|[{}]", text):
        if match[0] == "{":
            waiting.append(match.start())
        elif match[0] == "}" and waiting:
            pairs[waiting.pop()] = match.start()
    return pairs


def tag_at(text: str, at: int, pairs: Mapping[int, int]) -> Tag | None:
    """Read the tag whose `<` stands at *at*, or nothing if it is no tag."""
    head = NAME.match(text, at)
    if head is None:
        return None
    attributes, here = _attributes(text, head.end(), pairs)
    end = END.match(text, here)
    if end is None:
        return None
    return Tag(head[2], end.end(), bool(head[1]), bool(end[1]), attributes)


def _attributes(text: str, here: int, pairs: Mapping[int, int]) -> tuple[dict[str, str], int]:
    found: dict[str, str] = {}
    while True:
        match = ATTRIBUTE.match(text, here)
        spread = None if match else SPREAD.match(text, here)
        if match is None and spread is None:
            return found, here
        here = (match or spread).end()  # pyright: ignore[reportOptionalMemberAccess] - one of the two matched
        value = match[3] or match[4] or match[5] or "" if match else ""
        if text[here : here + 1] == "{" and (spread or (match and match[2] and not value)):
            if here not in pairs:
                return found, here
            value = _literal(text[here : pairs[here] + 1])
            here = pairs[here] + 1
        if match:
            found[match[1]] = value


def _literal(expression: str) -> str:
    string = STRING.fullmatch(expression)
    return string[2] if string else expression
