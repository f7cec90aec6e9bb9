"""The stand-in for Cohere refuses what the real one refuses."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.servers.cohere import KEY, CohereServer

TEXT = {"model": "embed-v4.0", "input_type": "search_document", "texts": ["robot"]}
RANK = {"model": "rerank-v3.5", "query": "robot", "documents": ["a robot", "pancakes"]}


async def post(server: CohereServer, path: str, body: Any, *, key: str = KEY) -> tuple[int, Any]:
    """Ask without the client."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with aiohttp.ClientSession() as session, session.post(server.url + path, json=body, headers=headers) as reply:
        return reply.status, await reply.json()


@pytest.mark.parametrize(
    ("path", "change", "status"),
    [
        ("/v2/embed", {"texts": ["robot"] * 97}, 400),
        ("/v2/embed", {"texts": []}, 400),
        ("/v2/embed", {"texts": ["robot", " "]}, 400),
        ("/v2/embed", {"model": "embed-v9"}, 404),
        ("/v2/embed", {"input_type": "query"}, 422),
        ("/v2/embed", {"output_dimension": 77}, 400),
        ("/v2/embed", {"model": "embed-english-v3.0", "output_dimension": 256}, 400),
        ("/v2/embed", {"model": "embed-english-v3.0", "texts": ["robot " * 513], "truncate": "NONE"}, 400),
        ("/v2/rerank", {"model": "rerank-v9"}, 404),
        ("/v2/rerank", {"query": ""}, 400),
        ("/v2/rerank", {"documents": []}, 400),
        ("/v2/rerank", {"documents": ["robot"] * 1_001}, 400),
        ("/v9/embed", {}, 404),
    ],
)
async def test_a_wrong_request_is_refused(server: CohereServer, path: str, change: Any, status: int) -> None:
    """Each with its status and a message."""
    usual = RANK if path.endswith("rerank") else TEXT

    answered, body = await post(server, path, {**usual, **change})

    assert (answered, sorted(body)) == (status, ["id", "message"])


@pytest.mark.parametrize(
    ("body", "key", "status"), [(TEXT, "", 401), (TEXT, "wrong", 401), ([], KEY, 400)], ids=["none", "wrong", "a list"]
)
async def test_strangers_and_nonsense_are_refused(server: CohereServer, body: Any, key: str, status: int) -> None:
    """Without the key nothing is even looked at."""
    assert (await post(server, "/v2/embed", body, key=key))[0] == status


async def test_vectors_come_in_the_forms_asked_for(server: CohereServer) -> None:
    """Floats and base64 can come together; a text too long is cut unless that is forbidden."""
    status, body = await post(
        server,
        "/v2/embed",
        {**TEXT, "model": "embed-english-v3.0", "texts": ["robot " * 600], "embedding_types": ["float", "base64"]},
    )

    assert (status, sorted(body["embeddings"]), len(body["embeddings"]["float"][0])) == (200, ["base64", "float"], 1024)


async def test_documents_come_best_first(server: CohereServer) -> None:
    """And no more than were asked for."""
    status, body = await post(server, "/v2/rerank", {**RANK, "top_n": 1})

    assert (status, body["results"]) == (200, [{"index": 0, "relevance_score": 1.0}])
