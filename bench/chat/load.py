"""What is asked of the bot, and what came of it: the values that go from one process of the benchmark to another."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

DOCS = Path(__file__).resolve().parents[2] / "docs"
_HEADING = re.compile(r"^#+ (.+\?)$", re.MULTILINE)
QUESTIONS = [each for page in sorted(DOCS.glob("*.md")) for each in _HEADING.findall(page.read_text("utf-8"))]
"""What the documents answer: their own headings."""
NUMBER = re.compile(r"\(no\. (\d+)\)")
BEGINS, ENDS = "Answer {} begins.", "Answer {} ends."


@dataclass(frozen=True, slots=True)
class Asking:
    """So many questions, so many a second; all at once where the rate is None. They are counted on from *first*."""

    first: int
    count: int
    rate: float | None


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as the platform saw it; times are seconds since 1970, None where it did not come to that.

    *way* is how the answer was shown, on platforms that know several.
    """

    number: int
    message: str
    at: float
    acknowledged: tuple[float, ...] = ()
    first: float | None = None
    last: float | None = None
    begins: int = 0
    ends: int = 0
    not_found: int = 0
    way: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether the last word of an answer stands there."""
        return self.ends + self.not_found > 0

    @property
    def is_whole(self) -> bool:
        """Whether its answer stands there once, from its beginning to its end."""
        return (self.begins, self.ends, self.not_found) in ((1, 1, 0), (0, 0, 1))


@dataclass(frozen=True, slots=True)
class Outcome:
    """All questions of one load, how many requests there were by route, and how many came too early.

    *more* is what else the platform saw, and *acknowledging* what its acknowledgements are of, where it waits for any.
    """

    asked: tuple[Asked, ...]
    seconds: float
    requests: dict[str, int]
    refused: dict[str, int]
    acknowledging: str = ""
    unacknowledged: int = 0
    more: tuple[tuple[str, str], ...] = ()


@dataclass
class Notes:
    """What the product's process noted: times by message, waits, lags of the loop, and memory by live answers.

    `work` is how many ms the same piece of work took, again and again: how fast the core was at the time.
    """

    put: dict[str, float] = field(default_factory=dict[str, float])
    claimed: dict[str, float] = field(default_factory=dict[str, float])
    waited: dict[str, float] = field(default_factory=dict[str, float])
    late: list[float] = field(default_factory=list[float])
    resident: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    work: list[float] = field(default_factory=list[float])
    cpu: float = 0.0
    failures: dict[str, int] = field(default_factory=dict[str, int])


@contextmanager
def process(target: Callable[..., None], *arguments: Any) -> Generator[Connection]:
    """Run a function in a process of its own; its first argument and what is given here are two ends of a pipe."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = cast("tuple[Connection, Connection]", context.Pipe())
    running = context.Process(target=target, args=(theirs, *arguments))
    running.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        running.join(10)
        running.terminate()
        running.join()
