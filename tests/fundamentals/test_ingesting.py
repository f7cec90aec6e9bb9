"""How documents become something to search."""

from __future__ import annotations

import pytest

from core.documents.ingest import Ingestion, Summary
from core.documents.retrieval import HybridRetriever
from core.model import Document, Scope
from tests.fakes.clock import Clock
from tests.fakes.documents import ListSource
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex

PAGE = "# Robots\n\nA robot acts.\n\n## Sensors\n\nA camera sees light.\n"


def document(text: str = PAGE, name: str = "robots") -> Document:
    """One page of a source."""
    return Document(source="book", url=f"https://docs.example/{name}", title="Robots", text=text)


async def ingest(index: MemoryIndex, *documents: Document) -> Summary:
    """Bring the documents into the index and give the summary."""
    *_, last = [step async for step in Ingestion(index, HashEmbedder()).run(ListSource("book", documents))]
    assert isinstance(last, Summary)
    return last


@pytest.mark.promise("deep-links")
async def test_a_page_is_found_by_its_sections() -> None:
    """A page is cut under its headings, and what is found links to the heading that it stands under."""
    index = MemoryIndex()
    await ingest(index, document())

    retriever = HybridRetriever(HashEmbedder(), index, clock=Clock())
    found = await retriever.search("What sees light? A camera?", limit=1, scope=Scope())

    assert [(hit.passage.source_url, hit.passage.text) for hit in found.hits] == [
        ("https://docs.example/robots#sensors", "A camera sees light.")
    ]


@pytest.mark.promise("incremental")
async def test_only_what_has_changed_is_read_again() -> None:
    """A second run leaves unchanged pages alone, replaces changed ones, and removes those that have gone."""
    index = MemoryIndex()
    await ingest(index, document(), document(name="old"), document(name="gone"))

    summary = await ingest(index, document(), document("# Robots\n\nNew.\n", name="old"))

    assert (summary.added, summary.changed, summary.unchanged, summary.removed) == (0, 1, 1, 1)
