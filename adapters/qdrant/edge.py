"""The embedded index: Qdrant's own engine in this process, on files in the data folder."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.qdrant.points import (
    BREADTH,
    DENSE,
    SPARSE,
    Label,
    Worded,
    complete_pages,
    lexical_encoder,
    page_filter,
    point_id,
    scope_filter,
    to_candidate,
    to_payload,
    to_worded,
    unseen,
    with_parts,
)
from adapters.qdrant.records import FileRecords
from adapters.qdrant.shard import (
    LABEL,
    LEAST,
    OLD,
    REPLACING,
    SHARD,
    SOURCES,
    TIDIED,
    check_room,
    config_of,
    open_shard,
    owned,
    points_of,
)
from adapters.unix import copy_sparse, free_space, give_way
from core.documents.chunking import embedding_text
from core.errors import Misconfigured, RetrievalUnavailable
from core.model import EVERYTHING, Candidate, EmbeddedPassage, IndexQuery, Outline, Scope, SourceRecord

if TYPE_CHECKING:
    from qdrant_edge import Bm25, EdgeShard, Filter, NamedVector, PointId


Result = TypeVar("Result")

MOST = 5_000  # passages that are remembered: some ten megabytes
WORDS = 10_000  # of which it is remembered what they weigh
ALL = 1_000_000  # more values than a facet will ever have
APART = 5_000  # passages, from which on tidying up takes the engine longer than somebody wants to wait
PACKAGES = Path(__file__).parents[2]


class EdgeIndex:
    """A `PassageIndex` that one process owns. Work runs on one thread: a query holds the interpreter anyway."""

    def __init__(self, folder: Path, *, embedder: str, dimension: int, most: int = MOST, apart: int = APART) -> None:
        self._folder = folder.absolute()
        self._label = Label(embedder, dimension)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")
        self._owned = ExitStack()
        self._opened: tuple[EdgeShard, Bm25] | None = None
        self._most = most
        self._apart = apart
        self._is_untidy = False
        self._writing = asyncio.Lock()
        self._records = FileRecords(self._folder / SOURCES)
        self._sources: dict[str, SourceRecord] | None = None  # as they were read, until pages are removed
        self.remembered: dict[PointId, Worded] = {}  # what was read, until somebody changes the shard
        self._weights: dict[int, float] = {}  # of words, for as long

    async def candidates(self, query: IndexQuery, *, limit: int) -> Sequence[Candidate]:
        """Return the union of both lists; a passage that only one of them found gets its other score too."""
        return await self._run(lambda shard, lexical: self._hybrid(shard, lexical, query, limit))

    async def replace(self, source: str, url: str, passages: Sequence[EmbeddedPassage]) -> None:
        """Replace a page's passages; nobody can search between the two steps."""
        async with self._writing:
            await self._run(lambda shard, lexical: self._replace(shard, lexical, source, url, passages))
            if passages and self._sources is not None:
                self._sources.setdefault(source, SourceRecord(name=source))

    async def prune(self, source: str, *, keep: Collection[str]) -> int:
        """Remove the pages of *source* that are not kept, and tidy the files up."""
        async with self._writing:
            removed, is_large = await self._run(lambda shard, _: self._prune(shard, source, set(keep)))
            self._sources = None
            if is_large:
                await self._tidy()
        return removed

    async def pages(self, source: str) -> Mapping[str, str]:
        """Return the content hash of each complete page of *source*."""
        return await self._run(lambda shard, _: complete_pages(_payloads(shard, source)))

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Count what there is in a scope."""
        return await self._run(lambda shard, _: _outline(shard, scope))

    async def sources(self) -> Sequence[SourceRecord]:
        """Return the sources as they are remembered, since nobody else can change them."""
        if self._sources is None:
            self._sources = await self._run(lambda shard, _: self._records.among(_values(shard, "source")))
        return [self._sources[name] for name in sorted(self._sources)]

    async def stamp(self, source: str, url: str, content_hash: str) -> None:
        """Write another hash into the payloads of a page."""
        async with self._writing:
            await self._run(lambda shard, _: self._stamp(shard, source, url, content_hash))

    async def record(self, record: SourceRecord) -> None:
        """Write a record beside the passages."""
        await self._run(lambda _shard, _: self._records.put(record))
        self._sources = None

    async def remove(self, source: str) -> int:
        """Remove a source; nobody may read its passages for a moment by what is known of it without a record."""
        removed = await self.prune(source, keep=())
        await self._run(lambda _shard, _: self._records.drop(source))
        self._sources = None
        return removed

    async def aclose(self) -> None:
        """Write everything down and let go of the files."""
        with self._owned:
            if self._opened is not None:
                await self._run(lambda shard, _: shard.close())
                self._opened = None
            self._thread.shutdown()

    async def _run(self, work: Callable[[EdgeShard, Bm25], Result]) -> Result:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, lambda: work(*self._open()))
        except (Misconfigured, RetrievalUnavailable):
            raise
        except Exception as error:  # the engine raises plain exceptions of many kinds
            raise RetrievalUnavailable(
                f"The index in {self._folder} cannot be used: the disk is full, or the folder is not writable, or "
                f"files are damaged. If they are, remove {SHARD} and {LABEL} there, and run `footnote ingest` again."
            ) from error

    def _open(self) -> tuple[EdgeShard, Bm25]:
        if self._opened is None:
            check_room(self._folder)
            with ExitStack() as owning:
                self._owned.close()  # of files that could not be opened again
                owning.enter_context(owned(self._folder))
                self._opened = (open_shard(self._folder, self._label), lexical_encoder())
                self._owned = owning.pop_all()
        return self._opened

    def _hybrid(self, shard: EdgeShard, lexical: Bm25, query: IndexQuery, limit: int) -> list[Candidate]:
        """Return the union of the *limit* best of both lists, and then the scores that are missing in either.

        The dense scores are None where there is no vector; a point without a shared word has no score by words.
        """
        import qdrant_edge
        from qdrant_edge import Filter, HasIdCondition, QuantizationSearchParams, Query, QueryRequest, SearchParams

        words = lexical.embed_query(with_parts(query.text))
        asked = {SPARSE: Query.Nearest(words, using=SPARSE)}
        if query.vector is not None:
            asked[DENSE] = Query.Nearest(list(query.vector), using=DENSE)
        walk = SearchParams(hnsw_ef=BREADTH, quantization=QuantizationSearchParams(rescore=True))
        scope = scope_filter(query.scope, qdrant_edge, qdrant_edge.RangeFloat)
        scores: dict[str, dict[PointId, float]] = {SPARSE: {}, DENSE: {}}
        for name, nearest in asked.items():
            found = shard.query(QueryRequest(limit=limit, query=nearest, filter=scope, params=walk))
            scores[name] = {point.id: point.score for point in found}
        points = dict.fromkeys([*scores[SPARSE], *scores[DENSE]])
        for name, nearest in asked.items():
            if missing := {point for point in points if point not in scores[name]}:
                only, exact = Filter(must=[HasIdCondition(missing)]), SearchParams(exact=True)
                found = shard.query(QueryRequest(limit=len(missing), query=nearest, filter=only, params=exact))
                scores[name].update((point.id, point.score) for point in found)
        unread = [point for point in points if point not in self.remembered]
        if len(self.remembered) + len(unread) > self._most:
            self.remembered.clear()
            unread = [*points]
        if unread:
            records = shard.retrieve(unread, with_payload=True, with_vector=[SPARSE])
            read = ((record.id, record.payload, record.vector) for record in records)  # each look makes another copy
            self.remembered.update((point, to_worded(payload, vectors)) for point, payload, vectors in read if payload)
        weights = {word: self._weight(shard, word) for word in words.indices} if points else {}
        dense, by_words, known = scores[DENSE], scores[SPARSE], self.remembered
        return [
            to_candidate(known[point], dense.get(point), by_words.get(point, 0.0), weights, lexical)
            for point in points
            if point in known
        ]

    def _weight(self, shard: EdgeShard, word: int) -> float:
        """Return what a word adds to the passage that it fits best, which depends on how rare it is."""
        from qdrant_edge import CountRequest, Query, QueryRequest, SparseVector

        if word not in self._weights:
            if len(self._weights) >= WORDS:
                self._weights.clear()
            alone = Query.Nearest(SparseVector([word], [1.0]), using=SPARSE)
            best = shard.query(QueryRequest(limit=1, query=alone))
            self._weights[word] = best[0].score if best else unseen(shard.count(CountRequest(exact=False)))
        return self._weights[word]

    def _forget(self) -> None:
        self.remembered.clear()
        self._weights.clear()

    def _replace(
        self, shard: EdgeShard, lexical: Bm25, source: str, url: str, passages: Sequence[EmbeddedPassage]
    ) -> None:
        from qdrant_edge import Point, UpdateOperation

        self._forget()
        self._is_untidy = True
        if not passages:
            shard.update(UpdateOperation.delete_points_by_filter(page_filter(url, source)))
            return
        check_room(self._folder)
        points: list[Point] = []
        for passage, vector in ((each.passage, each.vector) for each in passages):
            words = lexical.embed_document(with_parts(embedding_text(passage)))
            vectors: dict[str, NamedVector] = {DENSE: list(vector), SPARSE: words}
            points.append(Point(point_id(passage.passage_id), vectors, to_payload(passage)))
        note, ids = self._folder / REPLACING, [each.passage.passage_id for each in passages]
        says = {"source": source, "url": url, "content_hash": passages[0].passage.content_hash, "ids": ids}
        note.write_text(json.dumps(says))
        shard.update(UpdateOperation.upsert_points(points))
        shard.update(UpdateOperation.delete_points_by_filter(page_filter(url, source, but=ids)))
        note.unlink()

    def _stamp(self, shard: EdgeShard, source: str, url: str, content_hash: str) -> None:
        from qdrant_edge import UpdateOperation

        self._forget()
        of_page = page_filter(url, source)
        shard.update(UpdateOperation.set_payload_by_filter(of_page, {"content_hash": content_hash}))

    def _prune(self, shard: EdgeShard, source: str, keep: set[str]) -> tuple[int, bool]:
        """Return how many pages are gone, and whether the files are to be tidied up apart."""
        from qdrant_edge import CountRequest, UpdateOperation

        self._forget()
        gone = {payload["page_url"] for payload in _payloads(shard, source)} - keep
        for url in gone:
            shard.update(UpdateOperation.delete_points_by_filter(page_filter(url, source)))
        size = sum(file.stat().st_size for file in self._folder.rglob("*") if file.is_file())
        has_room = free_space(self._folder) > size + LEAST  # tidying up writes the files a second time
        is_large = shard.count(CountRequest()) >= self._apart
        if has_room and not is_large:
            shard.optimize()
        shard.flush()
        is_untidy, self._is_untidy = self._is_untidy or bool(gone), False
        return len(gone), has_room and is_large and is_untidy

    async def _tidy(self) -> None:
        """Have another process tidy up a copy, and use that: the engine lets nothing else of this process go on.

        Where no copy can be made, the index works as well, only not as fast.
        """
        process = None
        try:
            shutil.rmtree(self._folder / TIDIED, ignore_errors=True)
            await asyncio.to_thread(
                shutil.copytree, self._folder / SHARD, self._folder / TIDIED, copy_function=copy_sparse
            )
            words = (sys.executable, "-m", "adapters.qdrant.edge", os.fspath(self._folder))
            process = await asyncio.create_subprocess_exec(
                *words, cwd=PACKAGES, stdin=DEVNULL, stderr=DEVNULL, start_new_session=True
            )
            if await process.wait() == 0:
                await self._run(lambda shard, _: self._take_over(shard))
        except OSError:  # no room
            self._is_untidy = True
        finally:
            if process is not None and process.returncode is None:
                process.kill()
                await process.wait()
            shutil.rmtree(self._folder / TIDIED, ignore_errors=True)

    def _take_over(self, shard: EdgeShard) -> None:
        shard.close()
        self._opened = None
        (self._folder / SHARD).rename(self._folder / OLD)
        (self._folder / TIDIED).rename(self._folder / SHARD)
        self._opened = (open_shard(self._folder, self._label), lexical_encoder())


def _payloads(shard: EdgeShard, source: str) -> Iterator[Mapping[str, Any]]:
    """Read what says which version of which page a passage belongs to."""
    import qdrant_edge

    of_source = scope_filter(Scope(sources=(source,)), qdrant_edge, qdrant_edge.RangeFloat)
    return (payload for _, payload in points_of(shard, "page_url", "content_hash", "page_length", chosen=of_source))


def _values(shard: EdgeShard, key: str, open_to: Filter | None = None) -> tuple[str, ...]:
    """Return the values of a field in the passages that are chosen, sorted."""
    from qdrant_edge import FacetRequest

    hits = shard.facet(FacetRequest(key, limit=ALL, exact=True, filter=open_to)).hits
    return tuple(sorted(str(hit.value) for hit in hits if hit.value and hit.count))


def _outline(shard: EdgeShard, scope: Scope) -> Outline:
    import qdrant_edge
    from qdrant_edge import CountRequest

    open_to = scope_filter(scope, qdrant_edge, qdrant_edge.RangeFloat)
    return Outline(
        passages=shard.count(CountRequest(filter=open_to)),
        pages=len(_values(shard, "page_url", open_to)),
        sources=_values(shard, "source", open_to),
        chapters=_values(shard, "chapter", open_to),
    )


def tidy(folder: Path) -> None:
    """Tidy up the copy in *folder*, in a process of its own that gives way to all others."""
    from qdrant_edge import EdgeShard

    give_way()
    shard = EdgeShard.load(str(folder / TIDIED), config_of(Label(**json.loads((folder / LABEL).read_text()))))
    shard.optimize()
    shard.flush()
    shard.close()


if __name__ == "__main__":
    tidy(Path(sys.argv[1]))
