"""Changes of the scripts on the server: each comparison and each number once.

The numbers of `KEYS[1]` and `ARGV[1]` are names of arguments, so that they are left alone.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from bench.mutants.mutant import Mutant, Place, changed

COMPARISONS = {"<=": "<", ">=": ">", "==": "~=", "~=": "==", "<": "<=", ">": ">="}
OTHER = r"--[^\n]*|(?:KEYS|ARGV)\[\d+\]|'(?!-?\d+')[^'\n]*'|\"[^\"\n]*\"|[A-Za-z_]\w*|\.\."
TOKEN = re.compile(rf"(?P<other>{OTHER})|(?P<comparison><=|>=|==|~=|<|>)|(?P<number>\d+(?:\.\d+)?)")
LARGE = 100


def places(path: Path, text: str) -> list[Place]:
    """Return each comparison and number of a file of Lua, with its one change."""
    return [
        (partial(_mutant, path, text, found.start(), found),) for found in TOKEN.finditer(text) if not found["other"]
    ]


def _mutant(path: Path, text: str, start: int, found: re.Match[str]) -> Mutant | None:
    becomes = COMPARISONS[found[0]] if found["comparison"] else _other(found[0])
    return changed(path, text, text[:start] + becomes + text[start + len(found[0]) :], is_in_lua=True)


def _other(number: str) -> str:
    """Return the next number, or twice a large one, where the next might as well have been chosen."""
    whole, dot, rest = number.partition(".")
    return f"{int(whole) * 2 if int(whole) >= LARGE else int(whole) + 1}{dot}{rest}"
