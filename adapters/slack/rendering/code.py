"""Writes code in the one form that nobody reads differently: short spans on one line, and blocks of backticks."""

from __future__ import annotations

import re

from adapters.chat.fences import Fenced
from adapters.chat.kept import GAP
from adapters.slack.rendering.escaping import escaped, settled

FENCE = "```"

_RUN = re.compile(r"`+")
_LINE_END = re.compile(r"[ \t]*\n[ \t>]*")


def fence(block: Fenced, *, final: bool = True) -> str:
    """Write a block of code, nothing if there is no code in it; unless *final*, it stays open for more."""
    body = "\n".join(block.lines)
    if not final:
        body = settled(body).rstrip("`")
    body = body.strip("\n").rstrip()
    if not body.strip():
        return ""
    body = escaped(_RUN.sub(lambda run: run[0] if len(run[0]) < len(FENCE) else GAP.join(run[0]), body))
    return f"{FENCE}{block.language}\n{body}" + (f"\n{FENCE}" if final else "")


def span(code: str) -> str:
    """Write a code span with one or two backticks, on one line."""
    run = _RUN.match(code)
    width = len(run[0]) if run else 0
    inner = escaped(_LINE_END.sub(" ", code[width : len(code) - width]))
    if "`" not in inner:
        return f"`{inner}`"
    return f"``{_RUN.sub(lambda found: GAP.join(found[0]), inner)}``"
