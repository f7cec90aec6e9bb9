"""Another embedder: its collection is filled beside the old one, and takes its place in one step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from aiohttp import web
from qdrant_client import models

from adapters.qdrant.points import Label
from adapters.qdrant.shard import open_shard
from core.errors import Misconfigured, RetrievalUnavailable
from tests.adapters.qdrant.shelf import EMBEDDER, opened, page, put, texts
from tests.servers.qdrant import QdrantServer
from tests.servers.service import Received, Reply

ALIASES = "POST /collections/aliases"


async def aliases(server: QdrantServer) -> dict[str, str]:
    """Where the server's aliases point to."""
    listed = await server.engine.get_aliases()
    return {one.alias_name: one.collection_name for one in listed.aliases}


async def test_the_first_collection_is_searched_from_its_first_page_on() -> None:
    """The name that people set is an alias of a collection whose name tells its vectors."""
    async with QdrantServer() as server, opened(server.url, collection="wiki") as index:
        await put(index, page("a", "Robots act."))

        (name,) = server.created
        assert name.startswith("wiki-")
        assert await aliases(server) == {"wiki": name}


@pytest.mark.parametrize("other", [{"embedder": "another-model"}, {"embedder": "hash-32-240", "dimension": 32}])
async def test_a_collection_of_another_embedder_is_refused(other: dict[str, object]) -> None:
    """The sentence names both embedders, what to do, and what is still to do; the sources to do it with are known."""
    async with QdrantServer() as server, opened(server.url) as index, opened(server.url, **other) as stranger:
        await put(index, page("a", "Robots act."))
        await put(index, page("b", "Robots rest.", source="wiki"))

        for ask in (lambda: texts(stranger), stranger.outline, stranger.check):
            with pytest.raises(
                Misconfigured,
                match=rf"documents was made with {EMBEDDER.name} .*{other['embedder']}.*`footnote ingest`.*docs, wiki",
            ):
                await ask()
        assert [record.name for record in await stranger.sources()] == ["docs", "wiki"]


async def test_an_index_of_another_version_is_refused(tmp_path: Path) -> None:
    """On a server and in a folder, with the command that makes a new one."""
    before = {"embedder": EMBEDDER.name, "dimension": EMBEDDER.dimension, "format": 1}
    refusal = r"another version of Footnote \(format 1; this one needs 2\).*`footnote ingest`"
    async with QdrantServer() as server, opened(server.url) as index, opened(server.url, embedder="older") as older:
        await put(older, page("a", "Robots act."))
        (name,) = server.created
        await server.engine.update_collection(name, metadata={"label": before})
        with pytest.raises(Misconfigured, match=refusal):
            await texts(index)

    (tmp_path / "label.json").write_text(json.dumps(before))
    with pytest.raises(Misconfigured, match=refusal):
        open_shard(tmp_path, Label(EMBEDDER.name, EMBEDDER.dimension))


async def test_a_new_collection_takes_over_once_every_source_is_complete() -> None:
    """Until then the old one answers as before; then the alias is switched in one request, and the old one goes."""
    async with QdrantServer() as server, opened(server.url) as old, opened(server.url, embedder="new") as new:
        await put(old, page("a", "Robots of old."))
        await put(old, page("b", "Robots of the wiki.", source="wiki"))

        assert await new.pages("docs") == {}
        await put(new, page("a", "Robots of today."))
        assert await new.prune("docs", keep=["https://docs.example/a"]) == 0
        with pytest.raises(Misconfigured, match=r"still to do: wiki\)"):
            await texts(new)
        assert await texts(old) == {"Robots of old.", "Robots of the wiki."}

        await put(new, page("b", "Robots of tomorrow.", source="wiki"))
        server.received.clear()
        await new.prune("wiki", keep=["https://wiki.example/b"])

        switches = [got.body["actions"] for got in server.received if got.path == "/collections/aliases"]
        (name,) = server.created
        assert switches == [
            [
                {"delete_alias": {"alias_name": "documents"}},
                {"create_alias": {"collection_name": name, "alias_name": "documents"}},
            ]
        ]
        assert await texts(new) == {"Robots of today.", "Robots of tomorrow."}
        with pytest.raises(Misconfigured, match=rf"made with new .*{EMBEDDER.name}"):
            await texts(old)


async def test_half_a_source_does_not_take_over() -> None:
    """A source whose ingestion was broken off is not complete, though some of its pages are there."""
    async with QdrantServer() as server, opened(server.url) as old, opened(server.url, embedder="new") as new:
        await put(old, page("a", "Robots of old."))
        await put(old, page("b", "Robots of the wiki.", source="wiki"))

        await put(new, page("a", "Robots of today."))
        await put(new, page("b", "Robots of tomorrow.", source="wiki"))
        await new.prune("wiki", keep=["https://wiki.example/b"])

        assert server.asked.count(ALIASES) == 1
        with pytest.raises(Misconfigured, match=r"still to do: docs\)"):
            await texts(new)


async def test_pruning_before_anything_was_filled_changes_nothing() -> None:
    """A source without a page leaves the old collection where it is."""
    async with QdrantServer() as server, opened(server.url) as old, opened(server.url, embedder="new") as new:
        await put(old, page("a", "Robots of old."))

        assert await new.prune("docs", keep=()) == 0
        assert await texts(old) == {"Robots of old."}


async def test_a_switch_that_failed_is_made_by_the_next_ingestion() -> None:
    """The server went away in the last moment: nothing is lost but the time."""
    async with QdrantServer() as server, opened(server.url) as old, opened(server.url, embedder="new") as new:
        await put(old, page("a", "Robots of old."))
        await put(new, page("a", "Robots of today."))
        server.faults.append(Reply(400, {}))
        with pytest.raises(RetrievalUnavailable):
            await new.prune("docs", keep=["https://docs.example/a"])

        assert await texts(old) == {"Robots of old."}
        await new.prune("docs", keep=["https://docs.example/a"])
        assert await texts(new) == {"Robots of today."}


class Keeping(QdrantServer):
    """A server that deletes no collection for now."""

    keeps = True

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Refuse to delete."""
        if self.keeps and received.method == "DELETE":
            return web.Response(status=400)
        return await super().answer(request, received)


async def test_an_old_collection_that_could_not_be_deleted_is_deleted_later() -> None:
    """The new one is searched already; the end of the next source tidies up."""
    async with Keeping() as server, opened(server.url) as old, opened(server.url, embedder="new") as new:
        await put(old, page("a", "Robots of old."))
        await put(new, page("a", "Robots of today."))
        with pytest.raises(RetrievalUnavailable):
            await new.prune("docs", keep=["https://docs.example/a"])
        assert await texts(new) == {"Robots of today."}
        assert len(server.created) == 2

        server.keeps = False
        await new.prune("docs", keep=["https://docs.example/a"])
        assert [*server.created] == [(await aliases(server))["documents"]]
        server.received.clear()
        await new.prune("docs", keep=["https://docs.example/a"])
        assert "DELETE /collections/{}" not in server.asked


@pytest.mark.parametrize("as_alias", [False, True])
async def test_what_footnote_did_not_make_is_left_alone(as_alias: bool) -> None:
    """Neither a collection of that name nor an alias to somebody's collection is searched, filled or deleted."""
    async with QdrantServer() as server, opened(server.url) as index:
        name = "somebodys" if as_alias else "documents"
        vectors = models.VectorParams(size=4, distance=models.Distance.DOT)
        await server.engine.create_collection(name, vectors_config=vectors)
        if as_alias:
            alias = models.CreateAlias(collection_name=name, alias_name="documents")
            await server.engine.update_collection_aliases([models.CreateAliasOperation(create_alias=alias)])

        for ask in (lambda: texts(index), lambda: put(index, page("a", "Robots act.")), index.check):
            with pytest.raises(
                Misconfigured, match=r"a collection called documents that Footnote did not create.*QDRANT_COLLECTION"
            ):
                await ask()
        listed = await server.engine.get_collections()
        assert [one.name for one in listed.collections] == [name]


async def test_a_collection_restored_under_another_name_is_searched() -> None:
    """What counts is the label, and an operator may point the alias to a copy; only our own names are ever deleted."""
    async with QdrantServer() as server, opened(server.url) as index, opened(server.url, embedder="new") as new:
        await put(index, page("a", "Robots act."))
        (name,) = server.created
        await _move(server, name, "restored")

        async with opened(server.url) as again:
            assert await texts(again) == {"Robots act."}

        await put(new, page("a", "Robots of today."))
        await new.prune("docs", keep=["https://docs.example/a"])
        assert await texts(new) == {"Robots of today."}
        assert await server.engine.collection_exists("restored")


async def _move(server: QdrantServer, name: str, to: str) -> None:
    """Give a collection another name, as restoring a snapshot does."""
    info = await server.engine.get_collection(name)
    params = info.config.params
    await server.engine.create_collection(
        to,
        vectors_config=params.vectors,
        sparse_vectors_config=params.sparse_vectors,
        metadata=info.config.metadata,
    )
    records, _ = await server.engine.scroll(name, with_vectors=True, limit=100)
    points = [models.PointStruct(id=one.id, vector=one.vector, payload=one.payload) for one in records]  # pyright: ignore[reportArgumentType] - what was read can be written
    await server.engine.upsert(to, points)
    alias = models.CreateAlias(collection_name=to, alias_name="documents")
    await server.engine.update_collection_aliases([models.CreateAliasOperation(create_alias=alias)])
    await server.drop(name, None)
