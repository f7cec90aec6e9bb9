"""What every source of documents promises."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

import pytest

from adapters.documents.folder import Folder
from adapters.documents.repository import Repository
from adapters.documents.website import SiteLimits, Website
from adapters.fetching import FetchRules, fetcher
from adapters.retry import SITE
from bot.wiring.documents import BroughtSource
from core.documents.ingest import Ingestion, PageDone, Step, Summary
from core.errors import InvalidInput, SourceUnavailable
from core.model import Document, LeftOut, Unchanged, Unreadable
from core.ports import DocumentSource, Found
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex
from tests.notes import JsonNotes
from tests.servers.git import GitServer
from tests.servers.service import Reply
from tests.servers.website import WebSite

ONCE = replace(SITE, attempts=1)
PAGES = {
    "b/second.md": b"# Second\n\nTwo.\n",
    "a.md": b"---\ntitle: First\n---\n\nOne\x07.\r\n",
    "c.md": b"\x00 not text",
    "d.md": b"# Third\n",
}


@dataclass(frozen=True, slots=True)
class Shelf:
    """A place that documents come from, which a test can change: `put` has it hold these pages and no others.

    `break_down` makes it unreachable as a whole.
    """

    source: DocumentSource
    put: Callable[[Mapping[str, bytes]], object]
    break_down: Callable[[], object]


@asynccontextmanager
async def folder(place: Path) -> AsyncGenerator[Shelf]:
    """A folder."""
    root = place / "shelf"
    root.mkdir()

    def put(pages: Mapping[str, bytes]) -> None:
        for path in [path for path in root.rglob("*") if path.is_file()]:
            path.unlink()
        for name, content in pages.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    source = Folder(root, name="shelf", base_url="https://x.example/docs")
    yield Shelf(source, put, lambda: root.rename(place / "elsewhere"))


@asynccontextmanager
async def website(place: Path) -> AsyncGenerator[Shelf]:
    """A website with a sitemap, which has no page at its own address."""
    async with WebSite() as site:

        def put(pages: Mapping[str, bytes]) -> None:
            site.pages = {f"/docs/{name}": content for name, content in pages.items()}
            site.types |= dict.fromkeys(site.pages, "text/markdown")
            site.list(*sorted(site.pages))

        def break_down() -> None:
            site.broken = Reply(503, b"")

        rules = FetchRules(networks=[ipaddress.ip_network("127.0.0.1/32")])
        address = f"{site.url}/docs/"
        source = Website(address, name="shelf", home=place, rules=rules, limits=SiteLimits(pace=0.0, retries=ONCE))
        yield Shelf(source, put, break_down)


@asynccontextmanager
async def repository(place: Path) -> AsyncGenerator[Shelf]:
    """A folder of a git repository."""
    async with GitServer() as server:

        def put(pages: Mapping[str, bytes]) -> None:
            server.put({"README.md": b"# Elsewhere\n", "docs/.keep": b"", **{f"docs/{k}": v for k, v in pages.items()}})

        def break_down() -> None:
            server.broken = Reply(503, b"")

        fetching = partial(fetcher, FetchRules(networks=[ipaddress.ip_network("127.0.0.1/32")]))
        address, base = f"{server.address}#main:docs", "https://x.example/docs"
        source = Repository(address, name="shelf", home=place, base_url=base, fetching=fetching, retries=ONCE)
        yield Shelf(source, put, break_down)


@asynccontextmanager
async def brought(place: Path) -> AsyncGenerator[Shelf]:
    """A source of a kind that another package brings."""
    file = place / "notes.json"
    source = BroughtSource(JsonNotes(str(file), name="elsewhere"), name="shelf", kind="notes")

    def put(pages: Mapping[str, bytes]) -> None:
        file.write_text(json.dumps({name: content.decode("latin-1") for name, content in pages.items()}))

    yield Shelf(source, put, file.unlink)


Opened: TypeAlias = Callable[[Path], AbstractAsyncContextManager[Shelf]]
OTHERS: list[Opened] = [entry.load() for entry in entry_points(group="footnote.shelves")]
"""What packages bring that bring kinds of sources, so that this suite runs for them too."""
KINDS: list[Opened] = [folder, website, repository, brought, *OTHERS]


@pytest.fixture(name="shelf", params=KINDS, ids=lambda kind: kind.__name__)
async def _shelf(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shelf]:
    """Give an empty place of each kind."""
    async with request.param(tmp_path) as shelf:
        shelf.put({})
        yield shelf


async def everything(source: DocumentSource, seen: Mapping[str, str] | None = None) -> list[Found]:
    """Read a source to its end; what is left out is nothing here."""
    found = [item async for item in source.documents(seen or {})]
    return [item for item in found if not isinstance(item, LeftOut)]


@pytest.mark.promise("formats")
async def test_every_readable_page_is_given_with_its_title_and_text(shelf: Shelf) -> None:
    """Front matter and headings name the pages."""
    shelf.put(PAGES)
    pages = [item for item in await everything(shelf.source) if isinstance(item, Document)]

    assert [(page.title, page.text.strip()) for page in pages] == [
        ("First", "One."),
        ("Second", "# Second\n\nTwo."),
        ("Third", "# Third"),
    ]


@pytest.mark.promise("unreadable-files")
async def test_what_cannot_be_read_is_reported_and_does_not_stop_the_rest(shelf: Shelf) -> None:
    """The report has a name, a reason that is a sentence, and the address that the page would have."""
    shelf.put(PAGES)
    items = await everything(shelf.source)

    failed = [item for item in items if isinstance(item, Unreadable)]
    assert len(items) == 4
    assert [item.url.removesuffix(".md").endswith("/docs/c") for item in failed] == [True]
    assert failed[0].name.endswith("c.md")
    assert failed[0].reason.endswith(".")


async def test_the_order_is_stable_and_reading_again_gives_the_same(shelf: Shelf) -> None:
    """Nothing about a page depends on when it is read."""
    shelf.put(PAGES)

    assert await everything(shelf.source) == await everything(shelf.source)


async def test_every_page_belongs_to_the_source_and_has_an_address_and_a_name_of_its_own(shelf: Shelf) -> None:
    """Pruning goes by the name of the source, citations by the address, and failures by the page's name."""
    shelf.put(PAGES)
    pages = [item for item in await everything(shelf.source) if isinstance(item, Document)]

    assert {page.source for page in pages} == {shelf.source.name}
    assert len({page.url for page in pages}) == len({page.name for page in pages}) == len(pages)
    assert all(urlsplit(page.url).scheme in ("https", "http", "file") for page in pages)


@pytest.mark.promise("incremental")
async def test_what_was_seen_is_not_read_again_until_it_changes(shelf: Shelf) -> None:
    """By its stamp, and whatever else has changed beside it."""
    shelf.put(PAGES)
    seen = {item.url: item.stamp for item in await everything(shelf.source) if isinstance(item, Document)}
    shelf.put({**PAGES, "a.md": b"# First\n\nNew.\n", "e.md": b"# Fourth\n"})

    again = await everything(shelf.source, seen)

    assert sorted(item.title for item in again if isinstance(item, Document)) == ["First", "Fourth"]
    assert {item.url for item in again if isinstance(item, Unchanged)} < set(seen)


async def ingest(index: MemoryIndex, source: DocumentSource) -> list[Step]:
    """Bring a source in."""
    return [step async for step in Ingestion(index, HashEmbedder()).run(source)]


@pytest.mark.promise("incremental")
@pytest.mark.promise("resumable")
async def test_what_vanishes_is_removed_and_what_is_broken_off_goes_on(shelf: Shelf) -> None:
    """Pages that were done before are not done again."""
    shelf.put({name: PAGES[name] for name in ("a.md", "b/second.md")})
    index = MemoryIndex()
    async with aclosing(Ingestion(index, HashEmbedder()).run(shelf.source)) as steps:
        async for step in steps:
            if isinstance(step, PageDone):
                break
    rest = await ingest(index, shelf.source)
    shelf.put({"b/second.md": PAGES["b/second.md"]})
    after = await ingest(index, shelf.source)

    assert isinstance(rest[-1], Summary)
    assert isinstance(after[-1], Summary)
    assert (rest[-1].added, rest[-1].unchanged, after[-1].unchanged, after[-1].removed) == (1, 1, 1, 1)


@pytest.mark.promise("empty-folder-keeps-index")
async def test_a_place_that_cannot_be_reached_removes_nothing(shelf: Shelf) -> None:
    """It says so with an error, whatever it held before."""
    shelf.put(PAGES)
    index = MemoryIndex()
    await ingest(index, shelf.source)
    before = await index.pages("shelf")
    shelf.break_down()

    with pytest.raises((InvalidInput, SourceUnavailable)):
        await ingest(index, shelf.source)
    assert await index.pages("shelf") == before
    assert len(before) == 2


async def test_a_reader_may_stop_early(shelf: Shelf) -> None:
    """Whoever takes one page owes nothing for the rest."""
    shelf.put(PAGES)
    async with aclosing(shelf.source.documents()) as documents:
        first = next(item for item in [await anext(documents), await anext(documents)] if isinstance(item, Document))

    assert first.title == "First"


async def test_a_source_with_nothing_in_it_gives_nothing(shelf: Shelf) -> None:
    """An empty shelf is no error of the source."""
    assert await everything(shelf.source) == []
