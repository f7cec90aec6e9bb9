"""Keeps the sources: reads each from where it comes from, and writes down beside its passages what came of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from core.documents.ingest import Ingestion, PageDone, Step, Summary
from core.errors import EmbeddingUnavailable, InvalidInput, Misconfigured, SourceUnavailable
from core.messages.wording import listed
from core.model import Origin, SourceRecord, SyncReport, Unreadable
from core.ports import DocumentSource, PassageIndex

Opener: TypeAlias = Callable[[str, Origin], DocumentSource]
"""Makes a source of a name and where it comes from."""

SHOWN_FAILURES = 20
LONGEST_REASON = 300  # characters
NO_SOURCES = "There are no documents yet. Read some first: footnote ingest FOLDER"
UNKNOWN = "There is no source {!r}. The sources are: {}."
REMOVED = "{!r} was removed while it was being read, so nothing of it was kept."
NO_ORIGIN = (
    "It is not known where {!r} comes from, because an earlier version read it. Read it again: footnote ingest FOLDER"
)


@dataclass(frozen=True, slots=True)
class Library:
    """All sources of an index."""

    index: PassageIndex
    ingestion: Ingestion
    opened: Opener
    now: Callable[[], datetime]

    async def records(self) -> Sequence[SourceRecord]:
        """Return what is known of each source. Raises `RetrievalUnavailable`."""
        return await self.index.sources()

    async def find(self, name: str) -> SourceRecord:
        """Return what is known of a source. Raises `InvalidInput` where there is none of that name."""
        records = {record.name: record for record in await self.records()}
        if name not in records:
            raise InvalidInput(UNKNOWN.format(name, listed([*records])) if records else NO_SOURCES, field="name")
        return records[name]

    async def add(self, name: str, origin: Origin) -> SourceRecord:
        """Write down where a source comes from; one that came from elsewhere comes from there from now on."""
        await self.index.record(SourceRecord(name=name, origin=origin))
        return await self.find(name)

    async def remove(self, name: str) -> int:
        """Take a source out at once, with its passages; return how many pages it had. Raises `InvalidInput`."""
        await self.find(name)
        return await self.index.remove(name)

    async def overlapping(self, name: str) -> Sequence[str]:
        """Return the other sources that have pages of this one. Raises `RetrievalUnavailable`."""
        origins = {record.name: record.origin for record in await self.records() if record.origin}
        own = origins.pop(name, None)
        return [other for other, origin in origins.items() if own is not None and own.overlaps(origin)]

    async def read(self, name: str, origin: Origin, source: DocumentSource | None = None) -> AsyncGenerator[Step]:
        """Read what is there, which becomes a source of that name once there is anything; yield as `sync` does."""
        known = next((record for record in await self.records() if record.name == name), SourceRecord(name=name))
        if (before := known.origin) and (before.kind, before.address) == (origin.kind, origin.address):
            origin = origin.model_copy(update={"every": before.every})
        async with aclosing(self._read(known, origin, source)) as steps:
            async for step in steps:
                yield step

    async def sync(self, name: str, source: DocumentSource | None = None) -> AsyncGenerator[Step]:
        """Bring a source up to date, which may be open already; yield each page as it is done, then the summary.

        Raises `InvalidInput` where nothing is at its place any more, or nobody knows where that is,
        `SourceUnavailable` where it does not answer, and `EmbeddingUnavailable`; all are written down, and nothing is
        removed. Raises `RetrievalUnavailable` too.
        """
        known = await self.find(name)
        if known.origin is None:
            raise InvalidInput(NO_ORIGIN.format(name), field="source")
        async with aclosing(self._read(known, known.origin, source)) as steps:
            async for step in steps:
                yield step

    async def _read(self, known: SourceRecord, origin: Origin, source: DocumentSource | None) -> AsyncGenerator[Step]:
        name, is_noted = known.name, False
        try:
            async with aclosing(self.ingestion.run(source or self.opened(name, origin))) as steps:
                async for step in steps:
                    if not is_noted:
                        is_noted = True
                        if origin != known.origin:
                            await self.index.record(SourceRecord(name=name, origin=origin))
                    if isinstance(step, Summary):
                        await self._note(known, self._report(known, origin, step))
                    elif isinstance(step, PageDone) and step.passages:
                        await self._check(name)
                    yield step
        except (InvalidInput, SourceUnavailable, Misconfigured, EmbeddingUnavailable) as error:
            await self._note(known, self._failed(known, str(error)))
            raise

    async def note_failure(self, name: str, problem: str, *, since: datetime) -> str:
        """Write down why a source could not be read, unless more is known *since* then; return what is written.

        Raises `InvalidInput` where there is none of that name, and `RetrievalUnavailable`.
        """
        known = await self.find(name)
        if known.last is not None and known.last.problem and known.last.tried_at >= since:
            return known.last.problem
        await self._note(known, self._failed(known, problem))
        return problem

    async def _note(self, known: SourceRecord, report: SyncReport) -> None:
        """Write a report, unless there is no such source: because it was never read, or was just removed."""
        if any(record.name == known.name and record.origin for record in await self.records()):
            await self.index.record(SourceRecord(name=known.name, last=report))

    async def _check(self, name: str) -> None:
        """Undo what came into a source that was removed meanwhile: without its record, others might read it."""
        if not any(record.name == name and record.origin for record in await self.records()):
            await self.index.remove(name)
            raise InvalidInput(REMOVED.format(name), field="source")

    def _report(self, known: SourceRecord, origin: Origin, summary: Summary) -> SyncReport:
        before = known.last.macros if known.last and summary.unchanged else ()  # of pages that were not read again
        macros = tuple(sorted({*before, *summary.macros} - origin.macros.keys()))
        shown = tuple(map(_shortened, summary.failed[:SHOWN_FAILURES]))
        found = {"failed": len(summary.failed), "failures": shown, "skipped": sum(summary.skipped.values())}
        if not summary.pages and not summary.removed:
            return self._failed(known, summary.problem).model_copy(update=found)
        now = self.now()
        said = {"tried_at": now, "read_at": now, "pages": summary.pages, "problem": summary.problem, **found}
        return SyncReport.model_validate({**said, "macros": macros})

    def _failed(self, known: SourceRecord, problem: str) -> SyncReport:
        failed = {"tried_at": self.now(), "problem": problem[:LONGEST_REASON]}
        return (known.last or SyncReport(tried_at=self.now())).model_copy(update=failed)


def _shortened(failed: Unreadable) -> Unreadable:
    cut = {name: value[:LONGEST_REASON] for name, value in failed.model_dump().items()}
    return failed.model_copy(update=cut)
