"""What the tests of the index on a server put into it and get out of it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from adapters.qdrant import ServerIndex
from adapters.qdrant.connection import QdrantTimeouts
from adapters.retry import RetryPolicy, doubling
from core.documents.chunking import embedding_text
from core.model import EmbeddedPassage, IndexQuery, Passage, Scope
from tests.builders import passage
from tests.fakes.embedder import HashEmbedder

EMBEDDER = HashEmbedder()
TWICE = RetryPolicy(doubling(0.001, 8.0), attempts=3, longest=8.0, jitter=True)
HASTE = QdrantTimeouts(search=0.5, ingest=0.5)
CALM = QdrantTimeouts(search=30, ingest=30)
EASE = QdrantTimeouts(search=5.0, ingest=5.0)


@asynccontextmanager
async def opened(url: str, **options: Any) -> AsyncGenerator[ServerIndex]:
    """An index on a server, closed at the end."""
    standard: dict[str, Any] = {
        "embedder": EMBEDDER.name,
        "dimension": EMBEDDER.dimension,
        "retries": TWICE,
        "timeouts": EASE,
    }
    index = ServerIndex(url, **{**standard, **options})
    try:
        yield index
    finally:
        await index.aclose()


def page(name: str, *texts: str, source: str = "docs", version: str = "1") -> list[Passage]:
    """The passages of one page in one version."""
    url = f"https://{source}.example/{name}"
    return [
        passage(
            text,
            url=url,
            passage_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{url} {place}")),
            source=source,
            position=place,
            page_length=len(texts),
            content_hash=version,
        )
        for place, text in enumerate(texts)
    ]


async def put(index: ServerIndex, passages: list[Passage]) -> None:
    """Replace the page by these passages."""
    vectors = await EMBEDDER.embed_passages([embedding_text(one) for one in passages])
    await index.replace(passages[0].source, passages[0].page_url, [*map(EmbeddedPassage, passages, vectors)])


async def texts(index: ServerIndex, words: str = "robots", *, limit: int = 50) -> set[str]:
    """All texts that a search finds."""
    query = IndexQuery(words, await EMBEDDER.embed_query(words), Scope())
    return {one.passage.text for one in await index.candidates(query, limit=limit)}
