"""Files that people put beside what they write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Upload:
    """A file, and the media type that a platform guesses for it, if any."""

    name: str
    body: bytes
    kind: str | None = "text/plain"
