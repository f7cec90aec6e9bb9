"""Reading one tag of HTML or JSX, with attributes that hold text or expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

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
