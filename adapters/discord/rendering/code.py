"""Brings code into the one form that Discord and CommonMark read alike.

Discord closes a block at the first three backticks wherever they stand, knows no tildes and reads no fence that is
empty. What one of the two takes for code and the other for text is where a mention would come alive.
"""

from __future__ import annotations

import re
from textwrap import dedent

from adapters.chat.fences import LANGUAGE, QUOTE, Fenced
from adapters.chat.kept import GAP

FENCE = "```"

_RUN = re.compile(r"`+")
_LINE_END = re.compile(r"[ \t]*\n[ \t>]*")


def fence(block: Fenced) -> str:
    """Write a block of code as Discord reads it; nothing if there is no code in it."""
    return _fence(block.language, "\n".join(block.lines))


def span(code: str) -> str:
    """Write a code span as Discord reads it: one or two backticks on one line, or a block if it was meant as one."""
    run = _RUN.match(code)
    width = len(run[0]) if run else 0
    inner = code[width : len(code) - width]
    block = _fence_in(inner) if "\n" in inner and width >= len(FENCE) else ""
    if block:
        return f"\n{block}\n"
    inner = _LINE_END.sub(" ", inner)
    if "`" not in inner:
        return f"`{inner}`"
    return f"``{_RUN.sub(_apart, inner)}``"


def _fence_in(inner: str) -> str:
    """Write what stands between three backticks and three others as a block, out of any quote around it."""
    first, _, body = inner.partition("\n")
    is_language = LANGUAGE.fullmatch(first.strip()) is not None
    lines = [QUOTE.sub("", line) for line in (body if is_language else inner).split("\n")]
    return _fence(first.strip() if is_language else "", dedent("\n".join(lines)))


def _fence(language: str, body: str) -> str:
    body = body.strip("\n").rstrip()
    if not body.strip():
        return ""
    body = _RUN.sub(lambda found: found[0] if len(found[0]) < len(FENCE) else _apart(found), body)
    return f"{FENCE}{language}\n{body}\n{FENCE}"


def _apart(run: re.Match[str]) -> str:
    return GAP.join(run[0])
