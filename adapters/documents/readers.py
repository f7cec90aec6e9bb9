"""Which files can be read, and by what: one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from adapters.documents.page import Page

TEXT_LIMIT = 20_000_000  # bytes: far above any page that people wrote; larger files are data
PACKED_LIMIT = 100_000_000  # bytes: PDF and Word files also hold pictures


@dataclass(frozen=True, slots=True)
class Reader:
    """One kind of file; its module is imported when the first such file is read."""

    module: str
    limit: int = TEXT_LIMIT
    function: str = "read"

    def __call__(self, content: bytes) -> Page:
        """Turn the bytes of a file into a page."""
        function: Callable[[bytes], Page] = getattr(import_module(f"adapters.documents.{self.module}"), self.function)
        return function(content)


MARKDOWN = Reader("markdown")
HTML = Reader("html")
READERS: Mapping[str, Reader] = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".mdx": Reader("markdown", function="read_mdx"),
    ".html": HTML,
    ".htm": HTML,
    ".rst": Reader("rst"),
    ".txt": Reader("text"),
    ".pdf": Reader("pdf", limit=PACKED_LIMIT),
    ".ipynb": Reader("notebook"),
    ".docx": Reader("word", limit=PACKED_LIMIT),
}
