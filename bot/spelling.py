"""Finds names in the environment and in `.env` that look like settings and are none, as after a slip of the pen."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

PREFIXES = ("FOOTNOTE_", "OPENAI_", "COHERE_", "QDRANT_", "REDIS_", "DISCORD_", "SLACK_")
BESIDES = {"FOOTNOTE_SHARED_DATA", "FOOTNOTE_BENCH_DIR", "FOOTNOTE_RECORD", "FOOTNOTE_WHOLE"}
"""Names that the tests and benchmarks read, and nothing else does."""
ALIKE = 0.85
"""How alike two names have to be, from 0 to 1, for one to be taken for a slip of the other."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A name that looks like a setting and is none, and the setting that was *meant*, if one is much like it."""

    name: str
    meant: str | None

    def __str__(self) -> str:
        """Say it to the person who wrote it."""
        if self.meant is None:
            return f"{self.name} is no setting, and nothing reads it."
        return f"{self.name} is no setting. Did you mean {self.meant}?"


def slips(names: Iterable[str], known: Collection[str]) -> list[Slip]:
    """Find those of *names* that are much like a setting's name, or carry one of our prefixes, and are none."""
    found: list[Slip] = []
    for name in sorted(set(names) - set(known) - BESIDES):
        alike = difflib.get_close_matches(name, known, n=1, cutoff=ALIKE)
        if alike or name.startswith(PREFIXES):
            found.append(Slip(name, alike[0] if alike else None))
    return found
