"""Finds names in the environment and in `.env` that look like settings and are none, as after a slip of the pen."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

PREFIXES = ("FOOTNOTE_", "OPENAI_", "COHERE_", "QDRANT_", "REDIS_")
BESIDES = {"FOOTNOTE_SHARED_DATA", "FOOTNOTE_BENCH_DIR"}
"""Names that the tests and benchmarks read, and nothing else does."""
ALIKE = 0.85
"""How alike two names have to be, from 0 to 1, for one to be taken for a slip of the other."""


def misspelt(names: Iterable[str], known: Collection[str]) -> list[str]:
    """Give a sentence for each of *names* that carries one of our prefixes, or nearly a setting's name, and is none."""
    return [
        sentence
        for name in sorted(set(names) - set(known) - BESIDES)
        if (sentence := _sentence(name, difflib.get_close_matches(name, known, n=1, cutoff=ALIKE)))
    ]


def _sentence(name: str, alike: list[str]) -> str:
    if alike:
        return f"{name} is no setting. Did you mean {alike[0]}?"
    return f"{name} is no setting, and nothing reads it." if name.startswith(PREFIXES) else ""
