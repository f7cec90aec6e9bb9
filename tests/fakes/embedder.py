"""An embedder without a model: texts that share words are near."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence

from core.errors import EmbeddingUnavailable
from core.model import Calibration, Vector


class HashEmbedder:
    """Counts words into hashed buckets: deterministic, instant, and near exactly where words are shared.

    Queries and passages are embedded alike. A token is a word or a single other mark; tokens behind the window are
    not seen. Set `fails` to make every embedding raise `EmbeddingUnavailable`.
    """

    def __init__(self, dimension: int = 64, window: int = 240) -> None:
        """Make vectors of *dimension* numbers out of the first *window* tokens."""
        self._dimension = dimension
        self._window = window
        self.fails = False

    @property
    def name(self) -> str:
        """A name for each size, so that indexes of different sizes are told apart."""
        return f"hash-{self._dimension}-{self._window}"

    @property
    def dimension(self) -> int:
        """How many buckets there are."""
        return self._dimension

    @property
    def window(self) -> int:
        """How many tokens are read."""
        return self._window

    @property
    def calibration(self) -> Calibration:
        """Half of the words shared is the boundary."""
        return Calibration(midpoint=0.5, slope=10.0)

    def count_tokens(self, text: str) -> int:
        """Count words and other marks."""
        return len(_tokens(text))

    async def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        return self._embed(text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed passages, in the same order."""
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> Vector:
        if self.fails:
            raise EmbeddingUnavailable("The embedder was told to fail. Set `fails` to False.")
        buckets = [0.0] * self._dimension
        for token in _tokens(text)[: self._window] or [""]:
            buckets[zlib.crc32(token.encode("utf-8", "replace")) % self._dimension] += 1.0
        length = math.hypot(*buckets)
        return [count / length for count in buckets]


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


class LetterEmbedder(HashEmbedder):
    """The same, with no word among its tokens, so that any may be misspelled."""

    def count_tokens(self, text: str) -> int:
        """Count letters and other marks."""
        return len(text)
