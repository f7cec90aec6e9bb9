"""What the vectors of an index depend on; the files of an index and a collection on a server both bear it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

FORMAT = 2  # of ids, payloads and vectors; another one needs a new ingestion


@dataclass(frozen=True, slots=True)
class Label:
    """The embedder, how many numbers its vectors have, and how we write them down."""

    embedder: str
    dimension: int
    format: int = FORMAT

    def __str__(self) -> str:
        """Say it as the person who runs the bot knows it."""
        return f"{self.embedder} ({self.dimension} numbers, format {self.format})"

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that differ from label to label."""
        return hashlib.sha256(f"{self.embedder}\n{self.dimension}\n{self.format}".encode()).hexdigest()[:8]

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self | None:
        """Read it back; None if something else is written there."""
        match written:
            case {"embedder": str(embedder), "dimension": int(dimension), "format": int(form)}:
                return cls(embedder, dimension, form)
            case _:
                return None
