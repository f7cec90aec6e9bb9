"""The files of the embedded index: made, opened, and put right after a crash."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Generator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.qdrant.points import DENSE, KEYWORDS, OPENS_AT, SPARSE, Label, page_filter, point_id
from adapters.unix import free_space
from core.errors import Misconfigured, RetrievalUnavailable

if TYPE_CHECKING:
    from qdrant_edge import EdgeConfig, EdgeShard, Filter, PointId


LABEL, SHARD, TIDIED, OLD, SOURCES = "label.json", "shard", "tidied", "untidy", "sources.json"
LOCK = "lock"  # is locked by whoever uses the files
REPLACING = "replacing.json"  # a page is replaced in two steps; the next start finishes what a crash cut in two
LEAST = 100_000_000  # bytes: more than the engine's write-ahead log and the segments of one page take
DAMAGED = (
    "The index in {} cannot be opened, since files in it are damaged or not readable. Check the permissions of the "
    "folder. Otherwise remove {} and {} there and run `footnote ingest` for each source again; who may read a source "
    "is kept."
)

PAGE_OF_SCROLL = 5_000
LOCKED = "WouldBlock"  # in what the engine says when somebody else holds the lock on its write-ahead log
OWNED = (
    "The index in {} is in use by another process, and only one can use it at a time. Stop the other one, or set "
    "QDRANT_URL and REDIS_URL so that several share an index."
)


def check_room(folder: Path, *, least: int = LEAST) -> None:
    """Raise `RetrievalUnavailable` before anything is written to a disk that is nearly full."""
    free = free_space(folder)
    if free < least:
        raise RetrievalUnavailable(
            f"The disk that holds {folder} has {free // 1_000_000} MB left; the index needs {least // 1_000_000} MB "
            "so that nothing is damaged. Free some space and try again, or set FOOTNOTE_DATA_DIR to another disk."
        )


@contextlib.contextmanager
def owned(folder: Path) -> Generator[None]:
    """Own the index in *folder* until the end; the kernel lets go also where this process is killed.

    Nothing of it is changed before: what looks as if a crash had left it may be what another process is just making.
    Raises `RetrievalUnavailable` while another one owns it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RetrievalUnavailable(OWNED.format(folder)) from error
        yield
    finally:
        os.close(descriptor)


def open_shard(folder: Path, label: Label) -> EdgeShard:
    """Open the index in *folder*, which is `owned`, or make an empty one.

    Raises `Misconfigured` if it was made for another label, and `RetrievalUnavailable` while a process of an earlier
    version has it open: what is locked is not damaged.
    """
    from qdrant_edge import EdgeShard

    written = folder / LABEL
    if (folder / OLD).exists() and not (folder / SHARD).exists():  # a crash came between two names
        (folder / OLD).rename(folder / SHARD)
    for left in (OLD, TIDIED):
        shutil.rmtree(folder / left, ignore_errors=True)
    if not written.exists():
        shard = _create(folder / SHARD, label)
        written.write_text(json.dumps(asdict(label)))
        return shard
    try:
        found = Label(**json.loads(written.read_text()))
    except (ValueError, TypeError) as error:
        raise Misconfigured(DAMAGED.format(folder, SHARD, LABEL)) from error
    if found != label:
        raise Misconfigured(
            f"The index in {folder} {label.unlike(found)}: remove {SHARD} and {LABEL} there and run `footnote ingest` "
            "again, or go back."
        )
    try:
        shard = EdgeShard.load(str(folder / SHARD), config_of(label))
    except Exception as error:  # of many kinds, as all that the engine raises
        if LOCKED in str(error):
            raise RetrievalUnavailable(OWNED.format(folder)) from error
        raise Misconfigured(DAMAGED.format(folder, SHARD, LABEL)) from error
    _finish_replacement(shard, folder)
    return shard


def _create(folder: Path, label: Label) -> EdgeShard:
    """Make an empty index; what a crash left of an earlier try, before there was a label, is nothing to keep."""
    from qdrant_edge import EdgeShard, PayloadSchemaType, UpdateOperation

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shard = EdgeShard.create(str(folder), config_of(label))
    for field in KEYWORDS:
        shard.update(UpdateOperation.create_field_index(field, PayloadSchemaType.Keyword))
    shard.update(UpdateOperation.create_field_index(OPENS_AT, PayloadSchemaType.Float))
    return shard


def config_of(label: Label) -> EdgeConfig:
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


def points_of(shard: EdgeShard, *fields: str, chosen: Filter | None = None) -> Iterator[tuple[PointId, dict[str, Any]]]:
    """Yield all points, or those that are *chosen*, with some fields of their payloads."""
    from qdrant_edge import ScrollRequest

    offset = None
    while True:
        request = ScrollRequest(offset=offset, limit=PAGE_OF_SCROLL, filter=chosen, with_payload=[*fields])
        records, offset = shard.scroll(request)
        yield from ((record.id, record.payload or {}) for record in records)
        if offset is None:
            return


def _finish_replacement(shard: EdgeShard, folder: Path) -> None:
    """If the new passages of a page are there, remove what is left of the old ones."""
    from qdrant_edge import CountRequest, FieldCondition, Filter, HasIdCondition, MatchValue, UpdateOperation

    note = folder / REPLACING
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
            of = pending.get("source")  # which older versions did not note
            old = page_filter(pending["url"], of, but=pending["ids"])
            shard.update(UpdateOperation.delete_points_by_filter(old))
    note.unlink()
