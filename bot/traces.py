"""Where an error comes from, without its words, which may be somebody's."""

from __future__ import annotations

import traceback
from collections.abc import Iterator


def places(error: BaseException) -> list[str]:
    """Give the lines of code that an error passed, and those of the errors that it groups."""
    return [f"{place.filename}:{place.lineno} {place.name}" for place in _frames(error)]


def _frames(error: BaseException) -> Iterator[traceback.FrameSummary]:
    yield from traceback.extract_tb(error.__traceback__)
    inner: BaseException
    for inner in getattr(error, "exceptions", ()):
        yield from _frames(inner)
