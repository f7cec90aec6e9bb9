"""A source without files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence

from core.model import Document, Unchanged
from core.ports import NOTHING_SEEN, Found


class ListSource:
    """Gives the documents that it was made with, in their order; each run gives them again."""

    def __init__(self, name: str, documents: Sequence[Found]) -> None:
        """Call the source *name*; documents keep the source that they name themselves."""
        self._name = name
        self._documents = documents

    @property
    def name(self) -> str:
        """What the source is called."""
        return self._name

    async def size(self) -> int | None:
        """Count the documents."""
        return len(self._documents)

    async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
        """Give one document after the other, unless its stamp was seen."""
        for found in self._documents:
            match found:
                case Document(url=url, stamp=stamp) if stamp and seen.get(url) == stamp:
                    yield Unchanged(url=url)
                case _:
                    yield found
