"""What a run of faults came to, piece by piece, and together."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.audit import MOST_GIVEN
from tests.faults.rig import LEASE

PERCENT = 100
MEAN_GIVEN = 1.3  # times that the model may be given a question
MOST_APOLOGIES = 0.01  # of the questions for which nothing broke but our own processes
NAMED = (
    "lost",
    "doubled",
    "out of order",
    "given to the model too often",
    "posted and removed again",
    "not remembered once",
    "counted or set aside wrongly",
    "readable in a file",
)
SLOWEST = LEASE + 5.0  # seconds for 99 of 100 to recover


@dataclass
class Piece:
    """Some hundred faults in one installation; `wrongs` are what people saw and should not, by kind.

    What happened in a piece in which something was wrong is kept beside it, in a folder of the same name.
    """

    seed: int
    number: int
    fsync: str = ""
    faults: Counter[str] = field(default_factory=Counter[str])
    deeds: Counter[str] = field(default_factory=Counter[str])
    unmet: int = 0
    questions: int = 0
    excused: int = 0
    unheard: int = 0
    gone: int = 0
    slow: int = 0
    given: dict[str, int] = field(default_factory=dict[str, int])
    given_kept: dict[str, int] = field(default_factory=dict[str, int])
    given_lost: dict[str, int] = field(default_factory=dict[str, int])
    untouched: int = 0
    apologies: int = 0
    starts: int = 0
    seconds: float = 0.0
    recoveries: list[float] = field(default_factory=list[float])
    after_loss: list[float] = field(default_factory=list[float])
    wrongs: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @staticmethod
    def path(folder: Path, seed: int, number: int) -> Path:
        """Say where a piece is kept."""
        return folder / f"seed-{seed}-piece-{number}.json"

    def write(self, folder: Path) -> None:
        """Keep it."""
        folder.mkdir(parents=True, exist_ok=True)
        path = self.path(folder, self.seed, self.number)
        path.write_text(json.dumps(vars(self), indent=1))

    @classmethod
    def read(cls, folder: Path, seed: int, number: int) -> Piece | None:
        """Read it; None if it was never kept."""
        try:
            kept: dict[str, Any] = json.loads(cls.path(folder, seed, number).read_text())
        except FileNotFoundError:
            return None
        kept |= {name: Counter[str](kept[name]) for name in ("faults", "deeds")}
        return cls(**kept)


def lines(pieces: Sequence[Piece]) -> Iterator[str]:
    """Write the report of several pieces as Markdown."""
    faults = sum((piece.faults for piece in pieces), Counter[str]())
    yield "| fault | times |"
    yield "|---|---|"
    yield from (f"| {kind} | {count:,} |" for kind, count in sorted(faults.items()))
    yield f"| **together** | **{faults.total():,}** |"
    yield ""
    yield "| what people did beside asking | times |"
    yield "|---|---|"
    deeds = sum((piece.deeds for piece in pieces), Counter[str]())
    yield from (f"| {kind} | {count:,} |" for kind, count in sorted(deeds.items()))
    yield from _figures(pieces)


def _figures(pieces: Sequence[Piece]) -> Iterator[str]:
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| pieces, by how Redis writes to its disk | {_stores(pieces)} |"
    yield f"| questions | {sum(piece.questions for piece in pieces):,} |"
    yield f"| of those, with an answer that took seconds | {sum(piece.slow for piece in pieces):,} |"
    yield f"| commands used while nobody heard them | {sum(piece.unheard for piece in pieces):,} |"
    gone = sum(piece.gone for piece in pieces)
    yield f"| commands and direct messages gone with what Redis lost and the process that had heard them | {gone:,} |"
    yield f"| ended with an apology | {sum(piece.excused for piece in pieces):,} |"
    yield f"| a question is given to the model, in the mean (at most {MEAN_GIVEN:g}) | {_given(pieces):.2f} times |"
    kept, lost = _most(piece.given_kept for piece in pieces), _most(piece.given_lost for piece in pieces)
    yield f"| and at most, where the store lost nothing of it (at most {MOST_GIVEN}) | {kept} times |"
    yield f"| and at most, where the store lost how often that was | {lost} times |"
    untouched, apologies = sum(piece.untouched for piece in pieces), sum(piece.apologies for piece in pieces)
    yield f"| questions for which nothing broke but our own processes | {untouched:,} |"
    yield f"| of those, ended with an apology (under 1 %) | {apologies:,} |"
    wrongs = _wrongs(pieces)
    yield from (f"| {kind} | {wrongs.get(kind, 0):,} |" for kind in NAMED)
    others = sum(count for kind, count in wrongs.items() if kind not in NAMED)
    yield f"| anything else that should not be | {others:,} |"
    recoveries, after_loss = (piece.recoveries for piece in pieces), (piece.after_loss for piece in pieces)
    yield from _seconds("time to recover", f" (at most {SLOWEST:g} s)", [each for one in recoveries for each in one])
    yield from _seconds("the same where the store lost the question", "", [each for one in after_loss for each in one])
    yield f"| processes started | {sum(piece.starts for piece in pieces):,} |"
    yield f"| minutes | {sum(piece.seconds for piece in pieces) / 60:.0f} |"


def _stores(pieces: Sequence[Piece]) -> str:
    kinds = Counter(piece.fsync or "with a replica and a Sentinel" for piece in pieces)
    return ", ".join(f"{kind}: {count}" for kind, count in kinds.items())


def _wrongs(pieces: Sequence[Piece]) -> Mapping[str, int]:
    counted = Counter[str]()
    for piece in pieces:
        counted.update({kind: len(found) for kind, found in piece.wrongs.items()})
    return counted


def _given(pieces: Sequence[Piece]) -> float:
    """Give how often the model was given a question, in the mean."""
    counts = [(int(times), count) for piece in pieces for times, count in piece.given.items()]
    return sum(times * count for times, count in counts) / max(1, sum(count for _, count in counts))


def _most(counts: Iterable[Mapping[str, int]]) -> int:
    """Give how often the model was given a question at most."""
    return max((int(times) for each in counts for times in each), default=0)


def _seconds(what: str, bound: str, found: Sequence[float]) -> Iterator[str]:
    if points := _percentiles(found):
        yield f"| {what}, p50 | {points[49]:.1f} s |"
        yield f"| {what}, p99{bound} | {points[98]:.1f} s |"
        yield f"| {what}, longest | {max(found):.1f} s |"


def _percentiles(found: Sequence[float]) -> Sequence[float]:
    """Give the percentiles of seconds, from the first to the 99th; none where there is nothing to compare."""
    return statistics.quantiles(found, n=PERCENT, method="inclusive") if len(found) > 1 else ()


def is_clean(pieces: Sequence[Piece], *, is_short: bool = False) -> bool:
    """Say whether nothing was wrong anywhere, and all was well again soon enough where the store lost nothing.

    A *short* run says little about what holds in the mean, or for 99 of 100: it has many faults for few questions.
    """
    points = _percentiles([second for piece in pieces for second in piece.recoveries])
    untouched, apologies = sum(piece.untouched for piece in pieces), sum(piece.apologies for piece in pieces)
    is_quick, is_thrifty = not points or points[98] <= SLOWEST, _given(pieces) <= MEAN_GIVEN
    is_bounded = _most(piece.given_kept for piece in pieces) <= MOST_GIVEN and (is_short or (is_quick and is_thrifty))
    return not _wrongs(pieces) and is_bounded and apologies <= MOST_APOLOGIES * untouched
