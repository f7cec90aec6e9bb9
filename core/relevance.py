"""How sure we are that a passage has to do with a question, on a scale that people can read."""

from __future__ import annotations

import math
from dataclasses import dataclass


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


LEXICAL = Calibration(midpoint=3.0, slope=1.5)
"""For searching by words alone: BM25 per meaningful word of the query, measured by `python -m bench.calibration`."""


def lexical_relevance(bm25: float, words: int) -> float:
    """Give the relevance of a BM25 sum for a query of so many meaningful *words*; less sure than a cosine."""
    return LEXICAL.relevance(bm25 / max(words, 1))
