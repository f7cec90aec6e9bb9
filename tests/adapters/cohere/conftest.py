"""A server that answers as Cohere does, and the two adapters that ask it."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from adapters.cohere import CohereEmbedder, CohereReranker, CohereTimeouts
from adapters.retry import RetryPolicy, doubling
from core.events import Event
from tests.servers.cohere import KEY, CohereServer

DIMENSION = 256
QUICK = RetryPolicy(doubling(0.001, 8.0), attempts=3, longest=8.0, jitter=True)
SHORT = CohereTimeouts(query=1.0, passages=1.0)


@pytest.fixture(name="server")
async def _server() -> AsyncGenerator[CohereServer]:
    """Give a server of this test alone."""
    async with CohereServer() as server:
        yield server


@pytest.fixture(name="events")
def _events() -> list[Event]:
    """Give the list in which the adapters' events end up."""
    return []


@pytest.fixture(name="embedder")
async def _embedder(server: CohereServer, events: list[Event]) -> AsyncGenerator[CohereEmbedder]:
    """Give an embedder of the server."""
    embedder = CohereEmbedder(
        "embed-v4.0", dimension=DIMENSION, api_key=KEY, base_url=server.url, retries=QUICK, observer=events.append
    )
    yield embedder
    await embedder.aclose()


@pytest.fixture(name="hasty")
async def _hasty(server: CohereServer, events: list[Event]) -> AsyncGenerator[CohereEmbedder]:
    """Give an embedder that waits a fifth of a second, on a connection that is already open."""
    embedder = CohereEmbedder(
        "embed-v4.0",
        dimension=DIMENSION,
        api_key=KEY,
        base_url=server.url,
        retries=QUICK,
        observer=events.append,
        timeouts=SHORT,
    )
    await embedder.embed_query("warm")
    server.received.clear()
    yield embedder
    await embedder.aclose()


@pytest.fixture(name="reranker")
async def _reranker(server: CohereServer, events: list[Event]) -> AsyncGenerator[CohereReranker]:
    """Give a reranker of the server."""
    reranker = CohereReranker("rerank-v3.5", api_key=KEY, base_url=server.url, retries=QUICK, observer=events.append)
    yield reranker
    await reranker.aclose()
