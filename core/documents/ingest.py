"""Brings the pages of a source into an index: only what has changed is embedded, and what has gone is removed."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from core.documents.chunking import Chunker, embedding_text
from core.model import Document, EmbeddedPassage, LeftOut, Passage, Unchanged, Unreadable, Vector
from core.ports import OUTDATED, DocumentSource, Embedder, Found, PassageIndex

PIPELINE = 1  # raise it when passages are cut or embedded in another way, so that every page is done again

EMPTY = "without text"
AT_ONCE = 384  # passages of a page that are embedded before anybody hears how many are done: a few seconds
MOST_LINES, MOST_CHARACTERS, MOST_PASSAGES = 100_000, 4_000_000, 10_000  # of a page: an odd one takes seconds then
TOO_LONG = f"has more than {MOST_LINES:,} lines or {MOST_CHARACTERS:,} characters; split it into several pages."
TOO_MANY = f"would make more than {MOST_PASSAGES:,} passages; split it into several pages."
TWICE = "has the same address as another page of this source; give one of them its own."
NOTHING_READ = "Nothing in it could be read ({}), so nothing was changed."
NOTHING_THERE = "it is empty"
ALL_GONE = "There is nothing at its address any more, so what was read of it was removed."


class Outcome(StrEnum):
    """What became of a page that could be read."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class PageDone:
    """A page is complete in the index, with so many new passages."""

    url: str
    outcome: Outcome
    passages: int = 0


@dataclass(frozen=True, slots=True)
class PassagesDone:
    """So many passages of a long page are embedded; it is not in the index as yet."""

    passages: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The end of a run: how many pages came, stayed and went, what is not read and why, and what could not be read.

    `macros` says of names whose words nobody knows on how many of the pages that were read they stand.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: tuple[Unreadable, ...] = ()
    passages: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    macros: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def pages(self) -> int:
        """How many pages could be read; with none, only those are removed of which the source says that they were all.

        Otherwise the source itself may be missing.
        """
        return self.added + self.changed + self.unchanged

    @property
    def problem(self) -> str:
        """Why no page could be read, in a sentence; nothing where one could."""
        if self.pages or self.removed:
            return "" if self.pages else ALL_GONE
        said = [f"{len(self.failed):,} failed"] if self.failed else []
        return NOTHING_READ.format(", ".join([*said, *self.left_out]) or NOTHING_THERE)

    @property
    def left_out(self) -> Sequence[str]:
        """How many were skipped for which reason, in words, the most first."""
        kinds = sorted(self.skipped.items(), key=lambda each: (-each[1], each[0]))
        return [f"{count:,} {why}" for why, count in kinds]


Step: TypeAlias = PassagesDone | PageDone | LeftOut | Unreadable | Summary


@dataclass(frozen=True, slots=True)
class _Mark:
    """What the index knows a page by: a hash of all that its passages depend on, and the stamp of its source."""

    content: str
    stamp: str = ""

    @classmethod
    def read(cls, content_hash: str) -> _Mark:
        return cls(*content_hash.split(" ", 1))

    def __str__(self) -> str:
        return f"{self.content} {self.stamp}" if self.stamp else self.content


class Ingestion:
    """Reads sources into an index. Killed at any moment, the next run goes on where this one was."""

    def __init__(self, index: PassageIndex, embedder: Embedder, *, limit: int | None = None) -> None:
        """Cut pages into passages of at most *limit* tokens, or as many as the embedder reads."""
        self._index = index
        self._embedder = embedder
        self._chunker = Chunker(embedder.window if limit is None else limit, embedder.count_tokens)
        self._depends_on = f"{PIPELINE} {self._chunker.limit} {embedder.name}\n"
        self._how = hashlib.sha256(self._depends_on.encode()).hexdigest()[:8]

    async def run(self, source: DocumentSource) -> AsyncGenerator[Step]:
        """Yield each page as it is done, how far a long one is, then the summary.

        Raises `EmbeddingUnavailable` and `RetrievalUnavailable`, and what the source raises; what is done by then
        stays, and nothing is removed.
        """
        known = {url: _Mark.read(mark) for url, mark in (await self._index.pages(source.name)).items()}
        stamps = {url: mark.stamp.partition(":") for url, mark in known.items() if mark.stamp}
        seen = {url: stamp if how == self._how else OUTDATED for url, (how, _, stamp) in stamps.items()}
        done: dict[str, PageDone] = {}
        failed, has_gone = list[Unreadable](), False
        skipped, macros = Counter[str](), Counter[str]()
        async with aclosing(source.documents(seen)) as pages:
            async for found in pages:
                macros.update(found.macros if isinstance(found, Document) else ())
                async with aclosing(self._take(source.name, found, known, done)) as steps:
                    async for step in steps:
                        if isinstance(step, Unreadable):
                            failed.append(step)
                        elif isinstance(step, LeftOut):
                            skipped[step.why] += 1
                            has_gone = has_gone or step.was_all
                        elif isinstance(step, PageDone):
                            done[step.url] = step
                        yield step
        removed = 0
        # One of those that have gone may be one that is unreadable, unless all of these have their address.
        if (done or has_gone) and all(each.url for each in failed):
            removed = await self._index.prune(source.name, keep=done.keys() | {each.url for each in failed})
        outcomes = Counter(page.outcome for page in done.values())
        yield Summary(
            added=outcomes[Outcome.ADDED],
            changed=outcomes[Outcome.CHANGED],
            unchanged=outcomes[Outcome.UNCHANGED],
            removed=removed,
            failed=tuple(failed),
            passages=sum(page.passages for page in done.values()),
            skipped=dict(skipped),
            macros=dict(macros),
        )

    async def _take(
        self, source: str, found: Found, known: Mapping[str, _Mark], done: Mapping[str, PageDone]
    ) -> AsyncGenerator[Step]:
        match found:
            case Unreadable() | LeftOut():
                yield found
                return
            case Unchanged(url=url):
                name = found.name or url
            case Document(url=url):
                name = found.name or f"{found.title} ({url})"
        if url in done:
            yield Unreadable(name=name, reason=TWICE, url=url)
        elif isinstance(found, Document):
            async with aclosing(self._put(found, name, known)) as steps:
                async for step in steps:
                    yield step
        else:
            if found.stamp and (before := known.get(url)) and before.stamp != (stamp := f"{self._how}:{found.stamp}"):
                await self._index.stamp(source, url, str(_Mark(before.content, stamp)))
            yield PageDone(url, Outcome.UNCHANGED)

    async def _put(self, page: Document, name: str, known: Mapping[str, _Mark]) -> AsyncGenerator[Step]:
        """Put a page in the place of what the index holds of it, unless it holds just that."""
        left_out = {"stamp", "name", "macros", *(() if page.changed_on else ("changed_on",))}
        depends_on = f"{self._depends_on}{page.model_dump_json(exclude=left_out)}"
        stamp = f"{self._how}:{page.stamp}" if page.stamp else ""
        mark, before = _Mark(hashlib.sha256(depends_on.encode()).hexdigest(), stamp), known.get(page.url)
        if before is not None and before.content == mark.content:
            if before != mark:
                await self._index.stamp(page.source, page.url, str(mark))
            yield PageDone(page.url, Outcome.UNCHANGED)
            return
        passages = await self._passages(page, mark)
        if isinstance(passages, str):
            yield Unreadable(name=name, reason=passages, url=page.url)
            return
        if not passages:
            yield LeftOut(name=name, why=EMPTY)
            return
        vectors, texts = list[Vector](), [embedding_text(passage) for passage in passages]
        for start in range(0, len(texts), AT_ONCE):
            if start:
                yield PassagesDone(start)
            vectors += await self._embedder.embed_passages(texts[start : start + AT_ONCE])
        await self._index.replace(page.source, page.url, [*map(EmbeddedPassage, passages, vectors)])
        yield PageDone(page.url, Outcome.CHANGED if page.url in known else Outcome.ADDED, len(passages))

    async def _passages(self, page: Document, mark: _Mark) -> Sequence[Passage] | str:
        """Return the passages of a page, or why it has too many: what it can take of time and memory is bounded."""
        if len(page.text) > MOST_CHARACTERS or page.text.count("\n") > MOST_LINES:
            return TOO_LONG
        passages = await asyncio.to_thread(self._chunker.chunk, page, content_hash=str(mark), most=MOST_PASSAGES + 1)
        return TOO_MANY if len(passages) > MOST_PASSAGES else passages
