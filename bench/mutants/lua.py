"""Changes of the scripts on the server: each comparison and each number once.

A script is a file of Lua, or Lua in the strings of a Python module, where `{...}` of an f-string is left alone. The
numbers of `KEYS[1]` and `ARGV[1]` are names of arguments, so that they are left alone too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.mutants.mutant import Mutant, Place, changed

COMPARISONS = {"<=": "<", ">=": ">", "==": "~=", "~=": "==", "<": "<=", ">": ">="}
OTHER = r"--[^\n]*|(?:KEYS|ARGV)\[\d+\]|'(?!-?\d+')[^'\n]*'|\"[^\"\n]*\"|[A-Za-z_]\w*|\.\."
OF_PYTHON = r"(?<!\{)\{(?!\{)[^{}\n]*\}"  # what is put in
CHANGED = r"(?P<comparison><=|>=|==|~=|<|>)|(?P<number>\d+(?:\.\d+)?)"
TOKEN = {
    ".lua": re.compile(f"(?P<other>{OTHER})|{CHANGED}"),
    ".py": re.compile(f"(?P<other>{OTHER}|{OF_PYTHON})|{CHANGED}"),
}
LARGE = 100
IS_LUA = re.compile(r"redis\.call|\blocal \w|\bthen\b|\breturn \w+$", re.MULTILINE)


def places(path: Path, text: str) -> list[Place]:
    """Return each comparison and number of the scripts in a file, with its one change."""
    scripts = [(0, len(text))] if path.suffix == ".lua" else list(_scripts(text))
    return [
        (partial(_mutant, path, text, start + found.start(), found),)
        for start, end in scripts
        for found in TOKEN[path.suffix].finditer(text[start:end])
        if not found["other"]
    ]


def _mutant(path: Path, text: str, start: int, found: re.Match[str]) -> Mutant | None:
    becomes = COMPARISONS[found[0]] if found["comparison"] else _other(found[0])
    return changed(path, text, text[:start] + becomes + text[start + len(found[0]) :], is_in_lua=True)


def _other(number: str) -> str:
    """Return the next number, or twice a large one, where the next might as well have been chosen."""
    whole, dot, rest = number.partition(".")
    return f"{int(whole) * 2 if int(whole) >= LARGE else int(whole) + 1}{dot}{rest}"


def _scripts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the strings with Lua in them begin and end."""
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    begins = [0]
    for line in text.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    for node in ast.walk(tree):
        is_part = id(node) in within and not isinstance(node, ast.JoinedStr)
        if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in docstrings and not is_part:
            start = begins[node.lineno - 1] + node.col_offset
            end = begins[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            if IS_LUA.search(text[start:end]):
                yield start, end
