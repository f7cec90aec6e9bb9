"""Knows the tables of Markdown, which Slack draws: what of one can be shown already, and its head after a cut."""

from __future__ import annotations

import re
from collections.abc import Sequence

HEAD_ROOM = 200  # units for the head of a table that goes on in another message

_ROW = re.compile(r"[ \t]{0,3}\|")
_DASHES = re.compile(r"[ \t]{0,3}\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-*:?[ \t]*")
_MAYBE_DASHES = re.compile(r"[ \t:|-]*")


def without_open_table(text: str) -> str:
    """Leave off a row that is not whole, and the head of a table whose line of dashes has not come."""
    *whole, last = text.split("\n")
    start = len(whole)
    while start and _ROW.match(whole[start - 1]):
        start -= 1
    rows = len(whole) - start
    if not _MAYBE_DASHES.fullmatch(last) and not _ROW.match(last):
        return text
    if rows == 1 or (rows == 0 and _ROW.match(last)):
        return "\n".join([*whole[:start], ""])
    return "\n".join([*whole, ""]) if _ROW.match(last) else text


def with_heads(pieces: Sequence[str]) -> list[str]:
    """Repeat the head of a table that goes on in the next message, where it is short."""
    whole: list[str] = []
    for piece in pieces:
        head = _open_head(whole[-1]) if whole and _ROW.match(piece) else ""
        whole.append(f"{head}{piece}")
    return whole


def tears_a_row(pieces: Sequence[str]) -> bool:
    """Say whether a row of a table was cut."""
    lasts = [piece.rpartition("\n")[2] for piece in pieces[:-1]]
    return any(_ROW.match(last) and not last.endswith("|") for last in lasts)


def _open_head(piece: str) -> str:
    lines = piece.split("\n")
    start = len(lines)
    while start and _ROW.match(lines[start - 1]):
        start -= 1
    head = "".join(f"{line}\n" for line in lines[start : start + 2])
    is_table = len(lines) - start > 1 and "-" in lines[start + 1] and bool(_DASHES.fullmatch(lines[start + 1]))
    return head if is_table and len(head) <= HEAD_ROOM else ""
