"""A source without files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from core.model import Document, Unreadable


class ListSource:
    """Gives the documents that it was made with, in their order; each run gives them again."""

    def __init__(self, name: str, documents: Sequence[Document | Unreadable]) -> None:
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

    async def documents(self) -> AsyncIterator[Document | Unreadable]:
        """Give one document after the other."""
        for document in self._documents:
            yield document
