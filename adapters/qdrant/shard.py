"""Opens the files of the embedded index: makes them, checks whose they are, and repairs what a crash left."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.qdrant.points import DENSE, KEYWORDS, OPENS_AT, SPARSE, Label, page_filter, point_id
from core.errors import Misconfigured, RetrievalUnavailable
from core.model import Passage

if TYPE_CHECKING:
    from qdrant_edge import EdgeConfig, EdgeShard


LEAST = 100_000_000  # bytes: more than the engine's write-ahead log and the segments of one page take


def check_room(folder: Path, *, least: int = LEAST) -> None:
    """Raise `RetrievalUnavailable` before anything is written to a disk that is nearly full."""
    free = _free(folder)
    if free < least:
        raise RetrievalUnavailable(
            f"The disk that holds {folder} has {free // 1_000_000} MB left; the index needs {least // 1_000_000} MB "
            "so that nothing is damaged. Make room and try again, or set FOOTNOTE_DATA_DIR to another disk."
        )


def has_room_to_tidy(folder: Path) -> bool:
    """Return whether the files could be written a second time, as tidying up does."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return _free(folder) > size + LEAST


def _free(folder: Path) -> int:
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def open_shard(folder: Path, label: Label) -> EdgeShard:
    """Open the index in *folder*, or make an empty one. Raises `Misconfigured` if it was made for another label."""
    from qdrant_edge import EdgeShard

    written = folder / "label.json"
    if not written.exists():
        shard = _create(folder / "shard", label)
        written.write_text(json.dumps(asdict(label)))
        return shard
    found = _read(written)
    if found != label:
        raise Misconfigured(
            f"The index in {folder} {label.unlike(found)}: remove that folder and run `footnote ingest` again, or go "
            "back to the old one."
        )
    shard = EdgeShard.load(str(folder / "shard"), _config(label))
    _finish_replacement(shard, folder)
    return shard


def _read(written: Path) -> Label:
    try:
        return Label(**json.loads(written.read_text()))
    except (ValueError, TypeError) as error:
        raise Misconfigured(
            f"The index in {written.parent} is damaged: {written.name} cannot be read. "
            "Remove that folder and run `footnote ingest` again."
        ) from error


def _create(folder: Path, label: Label) -> EdgeShard:
    """Make an empty index; what a crash left of an earlier try, before there was a label, is nothing to keep."""
    import shutil

    from qdrant_edge import EdgeShard, PayloadSchemaType, UpdateOperation

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shard = EdgeShard.create(str(folder), _config(label))
    for field in KEYWORDS:
        shard.update(UpdateOperation.create_field_index(field, PayloadSchemaType.Keyword))
    shard.update(UpdateOperation.create_field_index(OPENS_AT, PayloadSchemaType.Float))
    return shard


def _config(label: Label) -> EdgeConfig:
    """Return what is stored: whole vectors, and int8 copies in memory that are quicker to walk.

    One thread searches: handing a query of a millisecond to several costs more than it saves.
    """
    from qdrant_edge import (
        Distance,
        EdgeConfig,
        EdgeSparseVectorParams,
        EdgeVectorParams,
        Modifier,
        ScalarQuantizationConfig,
        ScalarType,
    )

    copies = ScalarQuantizationConfig(ScalarType.Int8, quantile=0.99, always_ram=True)
    return EdgeConfig(
        vectors={DENSE: EdgeVectorParams(size=label.dimension, distance=Distance.Cosine, quantization_config=copies)},
        sparse_vectors={SPARSE: EdgeSparseVectorParams(modifier=Modifier.Idf)},
        max_search_threads=1,
    )


# -- A page is replaced in two steps; a note on disk lets the next start finish what a crash cut in two ---------------


@contextmanager
def replacing(folder: Path, url: str, passages: Sequence[Passage]) -> Generator[None]:
    """Leave a note while the passages of a page are replaced."""
    note = folder / "replacing.json"
    ids = [passage.passage_id for passage in passages]
    note.write_text(json.dumps({"url": url, "content_hash": passages[0].content_hash, "ids": ids}))
    yield
    note.unlink()


def _finish_replacement(shard: EdgeShard, folder: Path) -> None:
    """If the new passages of a page are there, remove what is left of the old ones."""
    from qdrant_edge import CountRequest, FieldCondition, Filter, HasIdCondition, MatchValue, UpdateOperation

    note = folder / "replacing.json"
    if not note.exists():
        return
    with contextlib.suppress(ValueError):  # half a note: the crash came before the passages
        pending = json.loads(note.read_text())
        new = FieldCondition(key="content_hash", match=MatchValue(value=pending["content_hash"]))
        if shard.count(
            CountRequest(
                filter=Filter(must=[new, HasIdCondition({point_id(passage_id) for passage_id in pending["ids"]})])
            )
        ):
            shard.update(UpdateOperation.delete_points_by_filter(page_filter(pending["url"], but=pending["ids"])))
    note.unlink()
