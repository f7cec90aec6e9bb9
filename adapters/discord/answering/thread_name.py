"""The name of the thread that is opened for a question."""

from __future__ import annotations

import re

from core.model import without_controls

LONGEST = 80  # characters; Discord allows 100, and its lists show fewer
_FALLBACK = "Question"
_MARKS = re.compile(r"[`*_~|<>#\[\]\\]+")


def thread_name(question: str) -> str:
    """Return the beginning of a question on one line, without marks, cut between words."""
    line = " ".join(_MARKS.sub(" ", without_controls(question)).split())
    if len(line) > LONGEST:
        line = line[: LONGEST - 1].rsplit(" ", 1)[0][: LONGEST - 1].rstrip(" ,;:-") + "…"
    return line or _FALLBACK
