"""The passages that were found lately, since reading them takes longer than finding them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from adapters.qdrant.points import to_passage
from core.model import Passage

if TYPE_CHECKING:
    from qdrant_edge import EdgeShard, PointId

MOST = 2_000  # some four megabytes


class Passages:
    """Reads passages, and remembers them until somebody changes the shard and says so."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._read: dict[PointId, Passage] = {}

    def __len__(self) -> int:
        """Count what is remembered: at most as much as there is room for, or what was read last if that is more."""
        return len(self._read)

    def read(self, shard: EdgeShard, points: Collection[PointId]) -> dict[PointId, Passage]:
        """Give the passages that are there."""
        missing = [point for point in points if point not in self._read]
        if len(self._read) + len(missing) > self._most:
            self._read.clear()
            missing = list(points)
        if missing:
            records = shard.retrieve(missing, with_payload=True, with_vector=False)
            self._read.update((record.id, to_passage(record.payload)) for record in records if record.payload)
        return {point: self._read[point] for point in points if point in self._read}

    def forget(self) -> None:
        """Read everything anew."""
        self._read.clear()
