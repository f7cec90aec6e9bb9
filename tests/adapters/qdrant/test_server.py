"""What is peculiar to the index on a server: how it is stored, how it is asked, and what a crash leaves of it."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from aiohttp import web

from adapters.qdrant.connection import REFUSED
from adapters.qdrant.server import POINTS_OF_A_REQUEST, STORED_AT, newest
from core.errors import RetrievalUnavailable
from core.model import IndexQuery, Outline
from tests.adapters.qdrant.shelf import EMBEDDER, opened, page, put, texts
from tests.servers.qdrant import QdrantServer
from tests.servers.service import Received

SEARCH = "POST /collections/{}/points/query/batch"
WRITE = "POST /collections/{}/points/batch"


async def test_a_large_collection_fits_into_memory() -> None:
    """Vectors and payloads lie on disk, int8 copies in memory, and every field that filters is indexed."""
    async with QdrantServer() as server, opened(server.url) as index:
        await put(index, page("a", "Robots act."))
        ((name, made),) = server.created.items()

    assert made.model_dump(mode="json", exclude_none=True) == {
        "vectors": {
            "dense": {
                "size": EMBEDDER.dimension,
                "distance": "Cosine",
                "on_disk": True,
                "quantization_config": {"scalar": {"type": "int8", "quantile": 0.99, "always_ram": True}},
            }
        },
        "sparse_vectors": {"sparse": {"modifier": "idf"}},
        "hnsw_config": {"on_disk": False},
        "on_disk_payload": True,
        "metadata": {"label": {"embedder": EMBEDDER.name, "dimension": EMBEDDER.dimension, "format": 2}},
    }
    assert server.indexed[name] == {
        "source": "keyword",
        "chapter": "keyword",
        "page_url": "keyword",
        "opens_at": "float",
    }


async def test_a_search_takes_two_requests() -> None:
    """Both lists come in one, the missing scores and the best of the only word in another; payloads are sent once."""
    async with QdrantServer() as server, opened(server.url) as index:
        await put(index, page("a", "Robots act.", "Grippers hold fruit.", "Wheels turn."))
        await texts(index)
        server.received.clear()

        query = IndexQuery("robots", await EMBEDDER.embed_query("grippers hold fruit"))
        found = await index.candidates(query, limit=1)

    assert server.asked == [SEARCH, SEARCH]
    assert [[one["with_payload"] for one in got.body["searches"]] for got in server.received] == [
        [True, True],
        [False, False, False],
    ]
    assert {one.passage.text for one in found} == {"Robots act.", "Grippers hold fruit."}
    assert [one for one in found if one.dense is None] == []


async def test_words_without_weight_find_nothing() -> None:
    """A question of stop words alone has no words to look for, and without a vector nothing is asked."""
    async with QdrantServer() as server, opened(server.url) as index:
        await put(index, page("a", "Robots act."))

        assert await index.candidates(IndexQuery("what is the", None), limit=5) == []
        assert SEARCH not in server.asked


async def test_a_small_page_is_replaced_in_one_request() -> None:
    """The new passages and the end of the old ones travel together."""
    async with QdrantServer() as server, opened(server.url) as index:
        await put(index, page("a", "Old a.", "Old b."))
        server.received.clear()

        await put(index, page("a", "New a.", version="2"))

        assert server.asked == [WRITE]
        assert await texts(index) == {"New a."}


class Cut(QdrantServer):
    """A server that cannot be reached any more from a certain request that writes on."""

    def __init__(self) -> None:
        super().__init__()
        self.writes_left: int | None = None

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Do as many writes as are left."""
        if self.writes_left is not None and "/points/batch" in received.path:
            if not self.writes_left:
                return web.Response(status=400)
            self.writes_left -= 1
        return await super().answer(request, received)


async def test_a_replacement_cut_in_two_shows_no_mixed_page() -> None:
    """Old and new passages of a page are never found together, and the next ingestion does the page again."""
    many = POINTS_OF_A_REQUEST + 1
    old, new = (page("a", *(f"{age} robots {n}." for n in range(many)), version=age) for age in ("Old", "New"))
    async with Cut() as server, opened(server.url) as index:
        await put(index, page("other", "Robots rest."))
        await put(index, old)
        server.writes_left = 1
        with pytest.raises(RetrievalUnavailable):
            await put(index, new)

        found = await texts(index, limit=2 * many)
        assert found == {"Robots rest."} | {one.text for one in new[:POINTS_OF_A_REQUEST]}
        assert await index.pages("docs") == {"https://docs.example/other": "1"}

        server.writes_left = None
        await put(index, new)
        assert await index.pages("docs") == {"https://docs.example/other": "1", "https://docs.example/a": "New"}


def test_of_each_page_the_latest_is_kept() -> None:
    """Pages are judged one by one, whatever the order of their passages."""
    payloads = {
        1: {"source": "docs", "page_url": "a", STORED_AT: 1},
        2: {"source": "docs", "page_url": "b", STORED_AT: 1},
        3: {"source": "docs", "page_url": "a", STORED_AT: 2},
        4: {"source": "docs", "page_url": "a", STORED_AT: 2},
    }

    assert [*newest(payloads)] == [2, 3, 4]


class Mute(QdrantServer):
    """A server that makes a collection, and whose answer to that is lost."""

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Do what is asked, and say that it failed."""
        done = await super().answer(request, received)
        is_creation = received.method == "PUT" and not received.path.partition("?")[0].endswith("/index")
        return web.Response(status=500) if is_creation and done.status == 200 else done


async def test_a_collection_whose_making_was_not_confirmed_is_used() -> None:
    """The second try is refused, since the first had done it."""
    async with Mute() as server, opened(server.url) as index:
        await put(index, page("a", "Robots act."))

        assert server.asked.count("PUT /collections/{}") == 2
        assert await texts(index) == {"Robots act."}


class Full(QdrantServer):
    """A server that makes no more collections."""

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Refuse what makes something."""
        return web.Response(status=400) if received.method == "PUT" else await super().answer(request, received)


async def test_a_collection_that_cannot_be_made_is_told() -> None:
    """That it is not there afterwards is no reason to hide why."""
    async with Full() as server, opened(server.url) as index:
        with pytest.raises(RetrievalUnavailable) as caught:
            await put(index, page("a", "Robots act."))

    assert str(caught.value) == REFUSED


async def test_two_that_begin_at_once_make_one_collection() -> None:
    """Whoever comes second goes on with what the first has made."""
    async with QdrantServer() as server, opened(server.url) as one, opened(server.url) as other:
        await asyncio.gather(put(one, page("a", "Robots act.")), put(other, page("b", "Robots rest.")))

        assert len(server.created) == 1
        assert await texts(one) == {"Robots act.", "Robots rest."}


async def test_a_crash_while_the_collection_is_made_is_mended() -> None:
    """A collection without all of its indexes, and without its alias, is finished by the next one to write."""
    async with QdrantServer() as server:
        async with opened(server.url) as index:
            await put(index, page("a", "Robots act."))
        (name,) = server.created
        server.indexed[name] = {"source": "keyword"}

        async with opened(server.url) as index:
            await put(index, page("b", "Robots rest."))

            assert await index.outline() == Outline(passages=2, pages=2, sources=("docs",), chapters=("one",))


async def test_a_collection_that_was_deleted_is_made_again() -> None:
    """An operator may clear the server while a process runs: searches find nothing, and writing begins anew."""
    async with QdrantServer() as server, opened(server.url) as index:
        await put(index, page("a", "Robots act."))
        assert await texts(index) == {"Robots act."}
        (name,) = server.created
        await server.drop(name, None)

        assert await texts(index) == set()
        await put(index, page("b", "Robots rest."))
        assert await texts(index) == {"Robots rest."}

        (name,) = server.created
        await server.drop(name, None)
        await put(index, page("c", "Robots return."))
        assert await texts(index) == {"Robots return."}


async def test_many_pages_are_pruned() -> None:
    """More pages than one request names all go."""
    async with QdrantServer() as server, opened(server.url) as index:
        for number in range(120):
            await put(index, page(str(number), "Robots act."))

        assert await index.prune("docs", keep=["https://docs.example/7"]) == 119
        assert await index.pages("docs") == {"https://docs.example/7": "1"}


def test_making_an_index_imports_no_vendor() -> None:
    """Whoever asks for help, or has no server, does not pay for the client."""
    made = "ServerIndex('https://qdrant.example', embedder='e', dimension=4)"
    script = f"import sys; from adapters.qdrant import ServerIndex; {made}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert {"qdrant_client", "qdrant_edge", "httpx", "numpy"} & set(ran.stdout.split()) == set()
