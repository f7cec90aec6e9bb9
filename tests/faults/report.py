"""What a run of faults came to, piece by piece, and together."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.rig import LEASE

PERCENT = 100
SLOWEST = LEASE + 5.0  # seconds for 99 of 100 to recover


@dataclass
class Piece:
    """Some hundred faults in one installation; `wrongs` are what people saw and should not, by kind.

    The `journal` of a piece in which something was wrong is kept beside it, as a file that ends with `.log`.
    """

    seed: int
    number: int
    faults: Counter[str] = field(default_factory=Counter[str])
    unmet: int = 0
    questions: int = 0
    excused: int = 0
    unheard: int = 0
    starts: int = 0
    seconds: float = 0.0
    recoveries: list[float] = field(default_factory=list[float])
    wrongs: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    journal: list[str] = field(default_factory=list[str])

    @staticmethod
    def path(folder: Path, seed: int, number: int) -> Path:
        """Say where a piece is kept."""
        return folder / f"seed-{seed}-piece-{number}.json"

    def write(self, folder: Path) -> None:
        """Keep it."""
        folder.mkdir(parents=True, exist_ok=True)
        path = self.path(folder, self.seed, self.number)
        path.write_text(json.dumps({**vars(self), "journal": []}, indent=1))
        if self.wrongs:
            path.with_suffix(".log").write_text("\n".join(self.journal))

    @classmethod
    def read(cls, folder: Path, seed: int, number: int) -> Piece | None:
        """Read it; None if it was never kept."""
        try:
            kept: dict[str, Any] = json.loads(cls.path(folder, seed, number).read_text())
        except FileNotFoundError:
            return None
        kept["faults"] = Counter[str](kept["faults"])
        return cls(**kept)


def lines(pieces: Sequence[Piece]) -> Iterator[str]:
    """Write the report of several pieces as Markdown."""
    faults = sum((piece.faults for piece in pieces), Counter[str]())
    yield "| fault | times |"
    yield "|---|---|"
    yield from (f"| {kind} | {count:,} |" for kind, count in sorted(faults.items()))
    yield f"| **together** | **{faults.total():,}** |"
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| questions | {sum(piece.questions for piece in pieces):,} |"
    yield f"| commands used while nobody heard them | {sum(piece.unheard for piece in pieces):,} |"
    yield f"| ended with an apology | {sum(piece.excused for piece in pieces):,} |"
    wrongs = _wrongs(pieces)
    yield from (f"| {kind} | {wrongs.get(kind, 0):,} |" for kind in ("lost", "doubled", "out of order"))
    others = sum(count for kind, count in wrongs.items() if kind not in ("lost", "doubled", "out of order"))
    yield f"| anything else that should not be | {others:,} |"
    if points := _recoveries(pieces):
        yield f"| time to recover, p50 | {points[49]:.1f} s |"
        yield f"| time to recover, p99 (at most {SLOWEST:g} s) | {points[98]:.1f} s |"
        yield f"| time to recover, longest | {max(max(piece.recoveries, default=0) for piece in pieces):.1f} s |"
    yield f"| processes started | {sum(piece.starts for piece in pieces):,} |"
    yield f"| minutes | {sum(piece.seconds for piece in pieces) / 60:.0f} |"


def _wrongs(pieces: Sequence[Piece]) -> Mapping[str, int]:
    counted = Counter[str]()
    for piece in pieces:
        counted.update({kind: len(found) for kind, found in piece.wrongs.items()})
    return counted


def _recoveries(pieces: Sequence[Piece]) -> Sequence[float]:
    """Give the percentiles of the seconds, from the first to the 99th; none where nothing had to recover."""
    found = [second for piece in pieces for second in piece.recoveries]
    return statistics.quantiles(found, n=PERCENT, method="inclusive") if len(found) > 1 else ()


def is_clean(pieces: Sequence[Piece]) -> bool:
    """Say whether nothing was wrong anywhere, and all was well again soon enough."""
    points = _recoveries(pieces)
    return not _wrongs(pieces) and (not points or points[98] <= SLOWEST)
