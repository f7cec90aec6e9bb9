"""Finds where a text can be cut without tearing apart what a reader sees as one character. Nothing here waits."""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_REACH = 64  # a character made of more code points is no character that anybody wrote
_VIRAMA = 9  # the combining class of signs that join two Indic letters


def boundary(text: str, at: int) -> int:
    """Return the last place up to *at* that is between two characters; *at* itself if there is none in reach."""
    for place in range(at, max(at - _REACH, 0), -1):
        if place >= len(text) or not _joined(text, place):
            return place
    return at


def _joined(text: str, at: int) -> bool:
    """Return whether the code points before and behind *at* belong to one character."""
    before, behind = text[at - 1], text[at]
    if before == _JOINER or _extends(behind):
        return True
    if _is_flag_half(before) and _is_flag_half(behind):
        return _flag_halves(text, at) % 2 == 1
    if unicodedata.combining(before) == _VIRAMA and unicodedata.category(behind) == "Lo":
        return True
    return 0 < _jamo(before) <= _jamo(behind)


def _extends(char: str) -> bool:
    """Return whether a code point changes the one before it: accents, selectors, skin tones, tags, the joiner."""
    return (
        char == _JOINER
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or unicodedata.category(char) in ("Mn", "Me", "Mc")
    )


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _jamo(char: str) -> int:
    """Return the part of a Korean syllable that a letter is: 1, 2 or 3, and 0 for any other."""
    if not "\u1100" <= char <= "\u11ff":
        return 0
    return 1 + (char >= "\u1160") + (char >= "\u11a8")


def _flag_halves(text: str, at: int) -> int:
    """Count the flag halves in a row that end at *at*; two make a flag."""
    start = at
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return at - start
