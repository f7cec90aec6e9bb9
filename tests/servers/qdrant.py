"""A Qdrant server on the wire: requests are checked by the client's own models and done by its engine in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar, cast

from aiohttp import web
from pydantic import BaseModel, ValidationError
from qdrant_client import AsyncQdrantClient, models

from tests.servers.service import Received, Service

Model = TypeVar("Model", bound=BaseModel)
Answer: TypeAlias = Callable[["QdrantServer", str, Any], Awaitable[Any]]

VERSION = "1.20.0"
READS = {"GET /aliases", "GET /collections", "GET /collections/{}", "POST /collections/{}/points/query/batch"} | {
    f"POST /collections/{{}}/{asked}" for asked in ("points/scroll", "points/count", "facet")
}


class Refusal(Exception):
    """A request that the real server would refuse."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


class QdrantServer(Service):
    """The endpoints that an index needs, and no other; what it holds outlives `down` and `up`."""

    def __init__(self, *, api_key: str | None = None, version: str = VERSION) -> None:
        super().__init__()
        self.api_key = api_key
        self.read_only_key: str | None = None
        self.version = version
        self.writes: int | None = None  # how many more of these requests are allowed
        self.engine = AsyncQdrantClient(location=":memory:")
        self.created: dict[str, models.CreateCollection] = {}
        self.indexed: dict[str, dict[str, str]] = {}

    @property
    def asked(self) -> list[str]:
        """The endpoints that were asked, in order."""
        return [_endpoint(received)[0] for received in self.received]

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Check the key, the path and the body, and do what is asked."""
        endpoint, name = _endpoint(received)
        if endpoint == "GET /":
            return web.json_response({"title": "qdrant - vector search engine", "version": self.version})
        if (refused := self._refused(endpoint, received.headers)) is not None:
            return refused
        answer = ENDPOINTS.get(endpoint)
        if answer is None:
            return web.Response(status=404)
        try:
            result = await answer(self, name, received.body)
        except Refusal as refusal:
            return _error(refusal.status, str(refusal))
        return web.Response(text=_ok(result), content_type="application/json")

    async def replay(self, requests: Iterable[Received]) -> None:
        """Do again what another server was asked and did, to hold the same as that one."""
        for received in requests:
            endpoint, name = _endpoint(received)
            if endpoint in ENDPOINTS and endpoint not in READS:
                with suppress(Refusal):
                    await ENDPOINTS[endpoint](self, name, received.body)

    def _refused(self, endpoint: str, headers: Mapping[str, str]) -> web.Response | None:
        key = headers.get("api-key")
        if self.api_key is None or key == self.api_key:
            return None
        if key is not None and key == self.read_only_key:
            return None if endpoint in READS else _error(403, "Forbidden: Global write access is required")
        return web.Response(status=401, text="Invalid API key or JWT")

    # -- What can be asked --------------------------------------------------------------------------------------------

    async def aliases(self, _name: str, _body: Any) -> Any:
        """List all aliases."""
        return await self.engine.get_aliases()

    async def change_aliases(self, _name: str, body: Any) -> Any:
        """Change aliases, all of them or none."""
        change = _read(models.ChangeAliasesOperation, body)
        return await _done(self.engine.update_collection_aliases(change.actions))

    async def collections(self, _name: str, _body: Any) -> Any:
        """List all collections."""
        return await self.engine.get_collections()

    async def collection(self, name: str, _body: Any) -> Any:
        """Describe a collection, with the fields that have an index."""
        info = await _done(self.engine.get_collection(name))
        info.payload_schema = {
            field: models.PayloadIndexInfo(data_type=models.PayloadSchemaType(kind), points=0)
            for field, kind in self.indexed.get(name, {}).items()
        }
        return info

    async def create(self, name: str, body: Any) -> Any:
        """Make a collection."""
        wanted = _read(models.CreateCollection, body)
        if name in self.created:
            raise Refusal(409, f"Wrong input: Collection `{name}` already exists!")
        done = await _done(
            self.engine.create_collection(
                name,
                vectors_config=wanted.vectors,
                sparse_vectors_config=wanted.sparse_vectors,
                metadata=wanted.metadata,
            )
        )
        self.created[name] = wanted
        return done

    async def update(self, name: str, body: Any) -> Any:
        """Add to the metadata of a collection."""
        return await _done(self.engine.update_collection(name, metadata=_read(models.UpdateCollection, body).metadata))

    async def drop(self, name: str, _body: Any) -> Any:
        """Delete a collection."""
        self.created.pop(name, None)
        self.indexed.pop(name, None)
        return await self.engine.delete_collection(name)

    async def index(self, name: str, body: Any) -> Any:
        """Take note of an index over a payload field; the engine in memory reads everything anyway."""
        wanted = _read(models.CreateFieldIndex, body)
        await _done(self.engine.get_collection(name))
        self.indexed.setdefault(name, {})[wanted.field_name] = str(wanted.field_schema)
        return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)

    async def write(self, name: str, body: Any) -> Any:
        """Do operations one after another."""
        if self.writes is not None:
            self.writes -= 1
            if self.writes < 0:
                raise Refusal(403, "Forbidden: Global write access is required")
        operations = _read(models.UpdateOperations, body).operations
        return await _done(self.engine.batch_update_points(name, operations))

    async def delete(self, name: str, body: Any) -> Any:
        """Delete what a filter chooses."""
        return await _done(self.engine.delete(name, _read(models.FilterSelector, body)))

    async def query(self, name: str, body: Any) -> Any:
        """Answer several queries."""
        searches = _read(models.QueryRequestBatch, body).searches
        for one in searches:
            one.params = None  # the engine in memory reads everything, and warns of parameters without effect
        return await _done(self.engine.query_batch_points(name, searches))

    async def scroll(self, name: str, body: Any) -> Any:
        """Read points in the order of their ids."""
        asked = _read(models.ScrollRequest, body)
        points, offset = await _done(
            self.engine.scroll(
                name,
                scroll_filter=asked.filter,
                limit=asked.limit or 10,
                offset=asked.offset,
                with_payload=asked.with_payload if asked.with_payload is not None else True,
            )
        )
        return models.ScrollResult(points=points, next_page_offset=offset)

    async def count(self, name: str, body: Any) -> Any:
        """Count points."""
        return await _done(self.engine.count(name, _read(models.CountRequest, body).filter))

    async def facet(self, name: str, body: Any) -> Any:
        """Count the values of a field, which has to have an index."""
        asked = _read(models.FacetRequest, body)
        if name in self.created and asked.key not in self.indexed.get(name, {}):
            raise Refusal(400, f'Bad request: Index required but not found for "{asked.key}" of type: [keyword]')
        return await _done(self.engine.facet(name, asked.key, asked.filter, limit=asked.limit or 10))


ENDPOINTS: dict[str, Answer] = {
    "GET /aliases": QdrantServer.aliases,
    "POST /collections/aliases": QdrantServer.change_aliases,
    "GET /collections": QdrantServer.collections,
    "GET /collections/{}": QdrantServer.collection,
    "PUT /collections/{}": QdrantServer.create,
    "PATCH /collections/{}": QdrantServer.update,
    "DELETE /collections/{}": QdrantServer.drop,
    "PUT /collections/{}/index": QdrantServer.index,
    "POST /collections/{}/points/batch": QdrantServer.write,
    "POST /collections/{}/points/delete": QdrantServer.delete,
    "POST /collections/{}/points/query/batch": QdrantServer.query,
    "POST /collections/{}/points/scroll": QdrantServer.scroll,
    "POST /collections/{}/points/count": QdrantServer.count,
    "POST /collections/{}/facet": QdrantServer.facet,
}


def _endpoint(received: Received) -> tuple[str, str]:
    """Give the endpoint without the collection's name, and the name."""
    path = received.path.partition("?")[0]
    if path == "/collections/aliases":
        return f"{received.method} {path}", ""
    named = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
    if named is None:
        return f"{received.method} {path}", ""
    return f"{received.method} /collections/{{}}{named[2] or ''}", named[1]


def _read(model: type[Model], body: Any) -> Model:
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise Refusal(400, f"Format error in JSON body: {error.errors()[0]['msg']}") from error


async def _done(work: Awaitable[Any]) -> Any:
    """Refuse what the engine refuses, with the real server's status."""
    try:
        return await work
    except ValueError as error:
        missing = re.fullmatch(r"Collection (.+) not found", str(error))
        if missing:
            raise Refusal(404, f"Not found: Collection `{missing[1]}` doesn't exist!") from error
        raise Refusal(400, f"Wrong input: {error}") from error


def _ok(result: Any) -> str:
    return json.dumps({"result": _plain(result), "status": "ok", "time": 0.0})


def _plain(result: Any) -> Any:
    if isinstance(result, BaseModel):
        return result.model_dump(mode="json")
    return [_plain(one) for one in cast("list[Any]", result)] if isinstance(result, list) else result


def _error(status: int, error: str) -> web.Response:
    return web.json_response({"status": {"error": error}, "time": 0.0}, status=status)
