"""Holds what is finished, while the text around it is still changed: code, links and addresses."""

from __future__ import annotations

import re

GAP = "\u200b"  # has no width: it keeps characters apart that would mean something together

_PLACE = re.compile("\ue000(\\d{1,9})\ue001")


class Kept:
    """Gives a placeholder for each piece, and puts the pieces back at the end.

    Placeholders are made of two private characters; `cleaned` text holds none, so nobody can write one.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def keep(self, piece: str) -> str:
        """Give what stands for *piece* from now on."""
        self._pieces.append(piece)
        return f"\ue000{len(self._pieces) - 1}\ue001"

    def restore(self, text: str) -> str:
        """Put every piece in its place; code that touches code is kept apart, since their marks would become one."""
        shown: list[str] = []
        at = 0
        for found in _PLACE.finditer(text):
            piece = self._pieces[int(found[1])]
            if found.start() > at or not (shown and shown[-1].endswith("`") and piece.startswith("`")):
                shown += [text[at : found.start()], piece]
            else:
                shown += [GAP, piece]
            at = found.end()
        return "".join([*shown, text[at:]])


def cleaned(text: str) -> str:
    """Drop the characters that placeholders are made of."""
    return text.replace("\ue000", "").replace("\ue001", "")


def is_kept(line: str) -> bool:
    """Say whether a line is one placeholder and nothing else."""
    return _PLACE.fullmatch(line.strip()) is not None
