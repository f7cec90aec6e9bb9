"""Cohere's API on a socket: embeddings and reranking by shared words, and the refusals of the real one."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import numpy as np
from aiohttp import web

from core.model import Vector
from tests.fakes.embedder import HashEmbedder
from tests.servers.service import Received, Service

KEY = "co-key-of-the-tests"
EMBED_MODELS = {
    "embed-v4.0": (1536, 131_072),
    "embed-english-v3.0": (1024, 512),
    "embed-english-light-v3.0": (384, 512),
}
RERANK_MODELS = ("rerank-v3.5", "rerank-v4.0-pro")
DIMENSIONS = (256, 512, 1024, 1536)
INPUT_TYPES = ("search_query", "search_document", "classification", "clustering", "image")
MOST_TEXTS = 96
MOST_DOCUMENTS = 1_000
NORM = 3.0  # the vectors that are sent are not of length 1


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class CohereServer(Service):
    """Answers `POST /v2/embed` and `POST /v2/rerank` for whoever has the key."""

    def __init__(self, key: str = KEY) -> None:
        super().__init__()
        self.key = key

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Answer as Cohere does."""
        try:
            self._admit(received)
            return web.json_response({"id": str(uuid.uuid4()), **await _route(request)(_body(received))})
        except Refused as refused:
            body = {"id": str(uuid.uuid4()), "message": refused.message}
            return web.json_response(body, status=refused.status)

    def _admit(self, received: Received) -> None:
        login = received.headers.get("Authorization", "")
        if not login:
            raise Refused(401, "no api key supplied")
        if login != f"Bearer {self.key}":
            raise Refused(401, "invalid api token")


async def embed(body: Mapping[str, Any]) -> dict[str, Any]:
    """Check a request, and embed its texts."""
    window, dimension = _embed_model(body)
    texts: list[str] = body.get("texts") or []
    if body.get("input_type") not in INPUT_TYPES:
        raise Refused(422, "invalid input_type: must be one of search_document, search_query")
    if not 1 <= len(texts) <= MOST_TEXTS:
        raise Refused(
            400, f"invalid request: total number of texts must be at most {MOST_TEXTS} - received {len(texts)}"
        )
    if not all(text.strip() for text in texts):
        raise Refused(400, "invalid request: all elements in texts must be non-empty strings")
    embedder = HashEmbedder(dimension, window)
    if body.get("truncate", "END") == "NONE" and any(embedder.count_tokens(text) > window for text in texts):
        raise Refused(400, f"too many tokens: maximum of {window} tokens per text")
    vectors = await embedder.embed_passages(texts)
    forms = {form: [FORMS[form](vector) for vector in vectors] for form in body.get("embedding_types") or ["float"]}
    return {
        "texts": texts,
        "embeddings": forms,
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 5 * len(texts)}},
        "response_type": "embeddings_by_type",
    }


async def rerank(body: Mapping[str, Any]) -> dict[str, Any]:
    """Check a request, and score each document by the words of the query that it holds; best first."""
    documents: list[str] = body.get("documents") or []
    query = body.get("query") or ""
    if body.get("model") not in RERANK_MODELS:
        raise Refused(404, _unknown(body.get("model")))
    if not query.strip():
        raise Refused(400, "invalid request: query must not be empty")
    if not 1 <= len(documents) <= MOST_DOCUMENTS or not all(document.strip() for document in documents):
        raise Refused(400, f"invalid request: documents must be 1 to {MOST_DOCUMENTS} non-empty strings")
    words = set(query.lower().split())
    scores = [len(words & set(document.lower().split())) / len(words) for document in documents]
    order = sorted(range(len(documents)), key=lambda index: -scores[index])
    return {
        "results": [{"index": index, "relevance_score": scores[index]} for index in order[: body.get("top_n")]],
        "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}},
    }


def encoded(vector: Vector) -> str:
    """Give a vector as Cohere's base64: little-endian floats of four bytes."""
    return base64.b64encode((np.array(vector, "<f4") * NORM).astype("<f4").tobytes()).decode()


FORMS: dict[str, Callable[[Vector], Any]] = {
    "base64": encoded,
    "float": lambda vector: [number * NORM for number in vector],
}

ROUTES: dict[tuple[str, str], Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]] = {
    ("POST", "/v2/embed"): embed,
    ("POST", "/v2/rerank"): rerank,
}


def _route(request: web.Request) -> Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]:
    route = ROUTES.get((request.method, request.path))
    if route is None:
        raise Refused(404, "404 page not found")
    return route


def _body(received: Received) -> Mapping[str, Any]:
    if not isinstance(received.body, dict):
        raise Refused(400, "invalid json syntax")
    return cast("dict[str, Any]", received.body)


def _embed_model(body: Mapping[str, Any]) -> tuple[int, int]:
    """Give the window of the model that was asked for, and the dimension."""
    model = body.get("model")
    if model not in EMBED_MODELS:
        raise Refused(404, _unknown(model))
    usual, window = EMBED_MODELS[model]
    asked = body.get("output_dimension")
    if asked is None:
        return window, usual
    if "v3" in model or asked not in DIMENSIONS:
        raise Refused(400, f"invalid request: output_dimension {asked} is not supported")
    return window, asked


def _unknown(model: object) -> str:
    return f"model '{model}' not found, make sure the correct model ID was used and that you have access to the model."
