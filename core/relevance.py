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


LEXICAL = Calibration(midpoint=1.7, slope=3.3)
"""For searching by words alone; less sure than a cosine. Measured by the same command."""


def rarity(bm25: float, passages: int) -> float:
    """Make BM25 sums of indexes of different sizes comparable: a rare word weighs the logarithm of their number."""
    return bm25 / math.log(1 + max(passages, 1))
