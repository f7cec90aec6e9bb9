"""One small change of a source file, and the choice of those that are tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Mutant:
    """A file with one change; `line` is where, `was` and `becomes` are that line before and after it.

    `lines` are those of the statement that is changed, unless it is run as the file is imported.
    """

    path: Path
    line: int
    was: str
    becomes: str
    text: str = field(repr=False)
    is_in_lua: bool = False
    lines: Sequence[int] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What is the same for this change as long as the line is, wherever it stands in the file."""
        return str(self.path), self.was, self.becomes

    def __str__(self) -> str:
        return f"{self.path}:{self.line}\n    - {self.was}\n    + {self.becomes}"


Variant: TypeAlias = Callable[[], Mutant | None]
Place: TypeAlias = tuple[Variant, ...]
"""A place in a file, with the changes that can be made there; None for one that would change nothing."""


def changed(path: Path, before: str, after: str, *, is_in_lua: bool = False) -> Mutant | None:
    """Return the mutant whose text is *after*; None if that is the same as *before*."""
    pairs = enumerate(zip(before.splitlines(), after.splitlines(), strict=False), start=1)
    for line, (was, becomes) in pairs:
        if was != becomes:
            return Mutant(path, line, was.strip(), becomes.strip(), after, is_in_lua)
    return None


def sampled(files: Mapping[Path, Sequence[Place]], size: int, seed: int) -> list[Mutant]:
    """Return at most *size* mutants, each in another place.

    Each place of a file has a rank by the seed and the file's name, and the lowest are taken; so the sample of a file
    stays as it is, but for one or two at its end, when another file changes.
    """
    ranked: list[tuple[float, str, Variant]] = []
    for path, places in files.items():
        random = Random(f"{seed} {path}")
        ranked += [(random.random(), str(path), random.choice(place)) for place in places]
    made = (variant() for _, _, variant in sorted(ranked, key=itemgetter(0, 1)))
    chosen = islice((mutant for mutant in made if mutant is not None), size)
    return sorted(chosen, key=lambda mutant: (mutant.path, mutant.line))
