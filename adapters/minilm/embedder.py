"""The `Embedder` of this process: no account, no server, no network."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from adapters.minilm.cache import kept
from adapters.minilm.encoder import Encoder
from adapters.minilm.files import WEIGHTS
from adapters.minilm.once import Once
from adapters.minilm.wordpieces import WINDOW, WordPieces
from core.errors import EmbeddingUnavailable, FootnoteError
from core.model import Vector
from core.relevance import Calibration

GRAPH_VERSION = 1  # raise it whenever the same text may get another vector
NAME = f"all-MiniLM-L6-v2-int8-{WEIGHTS.sha256[:8]}-{GRAPH_VERSION}"
DIMENSION = 384
CALIBRATION = Calibration(midpoint=0.36, slope=28.0)  # measured by `python -m bench.calibration`


class MiniLM:
    """all-MiniLM-L6-v2 with int8 weights; the model is loaded at first use, in a worker thread.

    Texts are embedded one at a time, so that a vector depends on its text alone.
    """

    def __init__(self, cache: Path, threads: int | None = None) -> None:
        """Keep the fused graph in the folder *cache*, and embed passages on *threads* threads (None: one a core)."""
        self._cache = cache
        self._pool = ThreadPoolExecutor(threads or _cores(), thread_name_prefix="minilm")
        self._wordpieces = WordPieces()
        self._encoder = Once(self._load)

    @property
    def name(self) -> str:
        """The model, its weights and the version of the graph."""
        return NAME

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return DIMENSION

    @property
    def window(self) -> int:
        """How many tokens of a passage are read, without the marks around them."""
        return WINDOW

    @property
    def calibration(self) -> Calibration:
        """The curve measured for these vectors."""
        return CALIBRATION

    def count_tokens(self, text: str) -> int:
        """Count as the window counts, without the marks around the text."""
        return self._wordpieces.count(text)

    async def embed_query(self, text: str) -> Vector:
        """Embed what somebody looks for, beside the pool, so that it does not wait for passages."""
        return await asyncio.to_thread(self._embed, text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Embed what can be found, in the same order; when cancelled, texts not begun are left."""
        loop = asyncio.get_running_loop()
        vectors = [loop.run_in_executor(self._pool, self._embed, text) for text in texts]
        try:
            return await asyncio.gather(*vectors)
        finally:
            for vector in vectors:
                vector.cancel()

    def _embed(self, text: str) -> Vector:
        try:
            return self._encoder.get().encode(self._wordpieces.window(text))
        except FootnoteError:
            raise
        except Exception as error:
            raise EmbeddingUnavailable(
                "The embedding model of this process does not run. Check that there is free memory, and try again."
            ) from error

    def _load(self) -> Encoder:
        return Encoder(kept(self._cache, f"{NAME}.onnx", _build))


def _build() -> bytes:
    from adapters.minilm.graph import fused

    return fused(WEIGHTS.read())


def _cores() -> int:
    """Count the cores that this process may use, where the system says so."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
