"""Which collection on the server is ours: one for each label, and an alias for the one that is searched."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from adapters.qdrant.connection import Missing, QdrantConnection
from adapters.qdrant.points import DENSE, KEYWORDS, OPENS_AT, SPARSE, Label
from core.errors import Misconfigured, RetrievalUnavailable

if TYPE_CHECKING:
    from qdrant_client.models import AliasOperations, CollectionInfo, Filter, VectorParams

COMPLETE = "complete/"  # before the name of a source, in the metadata of a collection that is being filled
REPLACES = "replaces"  # there: the collection that is still to be deleted
ALL = 100_000  # more pages than a community has; a server sets the room for as many aside


class Collections:
    """The name that people know is an alias; a collection is filled under its own name and then takes its place.

    Reads and writes both name the collection itself, whose name says what its vectors are: should another process
    switch the alias over meanwhile, this one meets a collection that is gone, and never vectors of another embedder.
    """

    def __init__(self, connection: QdrantConnection, alias: str, label: Label) -> None:
        self._connection = connection
        self._alias = alias
        self._label = label
        self.own = self._named(label)  # the collection that our vectors belong to
        self._searched: str | None = None
        self._is_ready = False

    def forget(self) -> None:
        """Look again at what the server holds."""
        self._searched, self._is_ready = None, False

    async def searched(self, *, is_any_fine: bool = False) -> str | None:
        """Name the collection to search, if any; a foreign one raises `Misconfigured`, unless *is_any_fine*."""
        if self._searched is None:
            live = await self._live()
            if live is None:
                return None
            name, label = live
            if label != self._label and is_any_fine:
                return name
            if label != self._label:
                raise Misconfigured(
                    f"The collection {self._alias} {self._label.unlike(label)}: run `footnote ingest` again for "
                    f"all sources (still to do: {', '.join(await self._to_do(name)) or 'any one'}), and the new "
                    "vectors replace the old ones in one step, or go back to the old one."
                )
            self._searched = name
        return self._searched

    async def filled(self) -> str:
        """Name the collection to fill, made if need be; the first one is searched from its first page on."""
        if not self._is_ready:
            live = await self._live()
            try:
                info = await self._connection.ingest(lambda client: client.get_collection(self.own))
            except Missing:
                info = await self._create()
            await self._index(info)  # also what a crash left of an earlier try
            if live is None:
                await self._point_alias()
            self._is_ready = True
        return self.own

    async def finish(self, source: str) -> None:
        """Note that a source is complete; once all are that the old collection holds, take its place in one step."""
        name, label = await self._live() or (self.own, self._label)
        if name != self.own:
            await self._note({f"{COMPLETE}{source}": True})
            if await self._to_do(name):
                return
            if name == self._named(label):  # ours by name and by label: nobody else's is ever deleted
                await self._note({REPLACES: name})
            await self._point_alias()
            self.forget()
        replaced = (await self._metadata(self.own)).get(REPLACES)
        if replaced:  # the note says so until it is deleted
            await self._connection.ingest(lambda client: client.delete_collection(replaced))
            await self._note({REPLACES: None})

    async def values(self, name: str, key: str, chosen: Filter | None = None) -> tuple[str, ...]:
        """Return the values of a payload field in the passages that are *chosen*, sorted."""
        found = await self._connection.ask(lambda client: client.facet(name, key, chosen, limit=ALL, exact=True))
        return tuple(sorted(str(hit.value) for hit in found.hits if hit.value))

    def _named(self, label: Label) -> str:
        return f"{self._alias}-{label.digest}"

    async def _live(self) -> tuple[str, Label] | None:
        """Return the collection that the alias points to, and whose vectors it holds; None if there is none yet."""
        aliases = await self._connection.ask(lambda client: client.get_aliases())
        name = next((one.collection_name for one in aliases.aliases if one.alias_name == self._alias), None)
        if name is None:
            listed = await self._connection.ask(lambda client: client.get_collections())
            if self._alias in [one.name for one in listed.collections]:
                raise Misconfigured(self._stranger())
            return None
        if name == self.own:
            return name, self._label
        label = Label.read((await self._metadata(name)).get("label", {}))
        if label is None:
            raise Misconfigured(self._stranger())
        return name, label

    def _stranger(self) -> str:
        return (
            f"The Qdrant server has a collection called {self._alias} that Footnote did not create. "
            "Set QDRANT_COLLECTION to an unused name."
        )

    async def _note(self, metadata: dict[str, Any]) -> None:
        """Add to the metadata of our collection; None takes a key out."""
        await self._connection.ingest(lambda client: client.update_collection(self.own, metadata=metadata))

    async def _to_do(self, old: str) -> list[str]:
        """Name the sources of the old collection that are not complete in the new one."""
        try:
            done = await self._metadata(self.own)
        except Missing:
            done = {}
        return [source for source in await self.values(old, "source") if f"{COMPLETE}{source}" not in done]

    async def _metadata(self, name: str) -> Mapping[str, Any]:
        info = await self._connection.ask(lambda client: client.get_collection(name))
        return info.config.metadata or {}

    async def _create(self) -> CollectionInfo:
        from qdrant_client.models import HnswConfigDiff, Modifier, SparseVectorParams

        try:
            await self._connection.ingest(
                lambda client: client.create_collection(
                    self.own,
                    vectors_config=dense_params(self._label),
                    sparse_vectors_config={SPARSE: SparseVectorParams(modifier=Modifier.IDF)},
                    hnsw_config=HnswConfigDiff(on_disk=False),
                    on_disk_payload=True,
                    metadata={"label": asdict(self._label)},
                )
            )
        except RetrievalUnavailable:  # it is there all the same if the answer was lost, or another was quicker
            with suppress(Missing):
                return await self._connection.ingest(lambda client: client.get_collection(self.own))
            raise
        return await self._connection.ingest(lambda client: client.get_collection(self.own))

    async def _index(self, info: CollectionInfo) -> None:
        from qdrant_client.models import PayloadSchemaType

        wanted = {**dict.fromkeys(KEYWORDS, PayloadSchemaType.KEYWORD), OPENS_AT: PayloadSchemaType.FLOAT}
        for field, kind in wanted.items():
            if field not in info.payload_schema:
                await self._connection.ingest(
                    lambda client, field=field, kind=kind: client.create_payload_index(self.own, field, kind)
                )

    async def _point_alias(self) -> None:
        from qdrant_client.models import CreateAlias, CreateAliasOperation, DeleteAlias, DeleteAliasOperation

        steps: list[AliasOperations] = [
            DeleteAliasOperation(delete_alias=DeleteAlias(alias_name=self._alias)),
            CreateAliasOperation(create_alias=CreateAlias(collection_name=self.own, alias_name=self._alias)),
        ]
        await self._connection.ingest(lambda client: client.update_collection_aliases(steps))


def dense_params(label: Label) -> dict[str, VectorParams]:
    """Return how vectors are stored: whole on disk, with int8 copies in memory, so that a large collection fits."""
    from qdrant_client.models import Distance, ScalarQuantization, ScalarQuantizationConfig, ScalarType, VectorParams

    copies = ScalarQuantizationConfig(type=ScalarType.INT8, quantile=0.99, always_ram=True)
    params = VectorParams(
        size=label.dimension,
        distance=Distance.COSINE,
        on_disk=True,
        quantization_config=ScalarQuantization(scalar=copies),
    )
    return {DENSE: params}
