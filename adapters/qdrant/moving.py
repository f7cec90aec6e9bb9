"""Reads the embedded index page by page, with the vectors, so that it can be written elsewhere as it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from adapters.qdrant.points import DENSE, Label, to_passage
from adapters.qdrant.records import FileRecords
from adapters.qdrant.shard import LABEL, SHARD, SOURCES, open_shard, owned, points_of
from core.model import EmbeddedPassage, SourceRecord

if TYPE_CHECKING:
    from qdrant_edge import EdgeShard, PointId

PARTS = ("source", "page_url")


class StoredIndex:
    """The embedded index in a *folder*, which nobody else uses meanwhile; it is read and left as it is."""

    def __init__(self, folder: Path, *, embedder: str, dimension: int) -> None:
        self._folder = folder
        self._label = Label(embedder, dimension)

    @property
    def exists(self) -> bool:
        """Whether anything was ever read into it."""
        return (self._folder / LABEL).exists() and (self._folder / SHARD).exists()

    def records(self) -> Sequence[SourceRecord]:
        """Return what is recorded of each source, as who may read it. Raises `Misconfigured`."""
        return [*FileRecords(self._folder / SOURCES).read().values()]

    def pages(self) -> Iterator[tuple[str, str, list[EmbeddedPassage]]]:
        """Yield the passages of each page with its source and address.

        Raises `Misconfigured`, or `RetrievalUnavailable` while another process uses it.
        """
        with owned(self._folder):
            shard = open_shard(self._folder, self._label)
            try:
                for (source, url), ids in sorted(_ids(shard).items()):
                    points = shard.retrieve(ids, with_payload=True, with_vector=True)
                    yield source, url, [_embedded(point) for point in points]
            finally:
                shard.close()


def _ids(shard: EdgeShard) -> dict[tuple[str, str], list[PointId]]:
    """Return which points a page has."""
    found: defaultdict[tuple[str, str], list[PointId]] = defaultdict(list)
    for point, payload in points_of(shard, *PARTS):
        found[str(payload["source"]), str(payload["page_url"])].append(point)
    return found


def _embedded(point: Any) -> EmbeddedPassage:
    return EmbeddedPassage(to_passage(point.payload), tuple(cast("list[float]", point.vector[DENSE])))
