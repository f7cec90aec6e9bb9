"""What is asked of an index, and what it finds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.model.documents import Passage, Vector
from core.model.question import Scope


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What an index is asked: the words, their vector (None: search by words alone), and what may be searched."""

    text: str
    vector: Vector | None
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What an index found: cosine in `dense`, the BM25 sum in `lexical`; None where that list did not score it."""

    passage: Passage
    dense: float | None = None
    lexical: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its calibrated relevance: 0.5 is the boundary between relevant and not."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best passages for a query, best first; `lexical_only` when the embedder was down.

    `nearest` are those of the highest relevance among all that was found, which need not be the best.
    """

    query: str
    hits: tuple[Hit, ...]
    total_count: int
    query_time_ms: float
    search_time_ms: float
    total_time_ms: float
    lexical_only: bool = False
    nearest: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve from an embedder's cosine to a relevance between 0 and 1.

    `midpoint` is the cosine where relevant and not are equally likely, so that 0.5 is the boundary; `slope` is how
    fast doubt turns into certainty. Both are measured per embedder, by `python -m bench.calibration`.
    """

    midpoint: float
    slope: float

    def relevance(self, cosine: float) -> float:
        """Give the relevance of a cosine."""
        return 1.0 / (1.0 + math.exp(-self.slope * (cosine - self.midpoint)))
