"""What is known of each source, beside the passages: in a file of the embedded index, or a collection of the server."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from adapters.qdrant.connection import FOREIGN, Missing, QdrantConnection, WrongSettings, payloads
from core.errors import Misconfigured, RetrievalUnavailable
from core.model import SourceRecord

if TYPE_CHECKING:
    from qdrant_client.http.models import UpdateOperation

RECORDS = TypeAdapter(list[SourceRecord])
DAMAGED = (
    "{} cannot be read, which says who may read which documents. If a newer Footnote wrote it, run that one. Otherwise "
    "remove the file; then every source belongs to the first community, until you type footnote sources share."
)


class FileRecords:
    """Keeps records in one file, which is written as a whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, SourceRecord]:
        """Return what is written, by name. Raises `Misconfigured` where it cannot be read."""
        try:
            written = self._path.read_bytes()
        except FileNotFoundError:
            return {}
        try:
            return {record.name: record for record in RECORDS.validate_json(written)}
        except ValidationError as error:
            raise Misconfigured(DAMAGED.format(self._path)) from error

    def among(self, names: Iterable[str]) -> dict[str, SourceRecord]:
        """Return the records, and those of the sources of which nothing is written. Raises `Misconfigured`."""
        return {**{name: SourceRecord(name=name) for name in names}, **self.read()}

    def put(self, record: SourceRecord) -> None:
        """Write what a record says, so that a crash leaves the file as it was or as it is to be."""
        records = self.read()
        records[record.name] = records.get(record.name, record).updated(record)
        self._write(records.values())

    def drop(self, name: str) -> None:
        """Write nothing of a source any more."""
        records = self.read()
        if records.pop(name, None) is not None:
            self._write(records.values())

    def _write(self, records: Iterable[SourceRecord]) -> None:
        new = self._path.with_suffix(".new")
        with new.open("wb") as file:
            file.write(RECORDS.dump_json([*records], indent=1))
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)


def _number(name: str, part: str) -> int:
    """Return the number that a part of a record lies under; that of the audience is the one that had no parts."""
    of = name if part == PARTS[0] else f"{name}\n{part}"
    return int.from_bytes(hashlib.sha256(of.encode()).digest()[:8]) >> 1


PARTS = ("audience", "origin", "last")


class ServerRecords:
    """Keeps records in a collection of their own, which stays where the passages move to another one.

    Each part of a record is a point, so that nobody overwrites what another process says of something else.
    """

    def __init__(self, connection: QdrantConnection, collection: str) -> None:
        self._connection = connection
        self._name = f"{collection}-sources"

    async def read(self) -> dict[str, SourceRecord]:
        """Return what is written, by name. Raises `RetrievalUnavailable`."""
        found: dict[str, dict[str, Any]] = {}
        try:
            async for payload in payloads(self._connection.ask, self._name):
                found.setdefault(str(payload.get("name")), {}).update(payload)
            return {name: SourceRecord.model_validate(said) for name, said in found.items()}
        except Missing:
            return {}
        except ValidationError as error:
            raise WrongSettings(FOREIGN) from error

    async def put(self, record: SourceRecord) -> None:
        """Write what a record says. Raises `RetrievalUnavailable`."""
        from qdrant_client.models import PointsList, PointStruct, UpsertOperation

        said = record.model_dump(mode="json", exclude_none=True)
        points = [
            PointStruct(id=_number(record.name, part), vector={}, payload={"name": record.name, part: said[part]})
            for part in PARTS
            if part in said
        ]
        if not points:
            return
        operations: Sequence[UpdateOperation] = [UpsertOperation(upsert=PointsList(points=points))]

        async def write() -> None:
            await self._connection.ingest(lambda client: client.batch_update_points(self._name, operations, wait=True))

        try:
            await write()
        except Missing:
            await self._create()
            await write()

    async def drop(self, name: str) -> None:
        """Write nothing of a source any more. Raises `RetrievalUnavailable`."""
        from qdrant_client.models import DeleteOperation, PointIdsList

        points = PointIdsList(points=[_number(name, part) for part in PARTS])
        operations: Sequence[UpdateOperation] = [DeleteOperation(delete=points)]
        with suppress(Missing):
            await self._connection.ingest(lambda client: client.batch_update_points(self._name, operations, wait=True))

    async def _create(self) -> None:
        """Make the collection, without any vectors; it is there all the same if another process was quicker."""
        try:
            await self._connection.ingest(lambda client: client.create_collection(self._name, vectors_config={}))
        except RetrievalUnavailable:
            await self._connection.ingest(lambda client: client.get_collection(self._name))
