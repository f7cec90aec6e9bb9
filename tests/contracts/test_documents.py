"""What every source of documents promises."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import signal
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import entry_points
from multiprocessing.connection import Connection
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
from tests.fixtures.nursery import forks
from tests.notes import JsonNotes
from tests.servers.git import GitServer
from tests.servers.service import Reply
from tests.servers.website import WebSite, html

LOCAL = FetchRules(networks=[ipaddress.ip_network("127.0.0.1/32")])
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

    `break_down` makes it unreachable as a whole. Where it can hold nothing but one page, `only` is the name of that.
    """

    source: DocumentSource
    put: Callable[[Mapping[str, bytes]], object]
    break_down: Callable[[], object]
    only: str = ""

    def held(self, names: Iterable[str]) -> list[str]:
        """Return which of these pages it can hold."""
        return [name for name in names if self.only in ("", name)]


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
async def served(place: Path, list_pages: Callable[[WebSite], object], *, only: str = "") -> AsyncGenerator[Shelf]:
    """Serve a website that says in its own way which pages it has, or has a single one."""
    async with WebSite() as site:

        def put(pages: Mapping[str, bytes]) -> None:
            site.pages = {f"/docs/{name}": pages[name] for name in shelf.held(sorted(pages))}
            site.types |= dict.fromkeys(site.pages, "text/markdown")
            list_pages(site)

        def break_down() -> None:
            site.broken = Reply(503, b"")

        address = f"{site.url}/docs/{only}"
        limits = SiteLimits(pace=0.0, retries=ONCE)
        source = Website(address, name="shelf", home=place, alone=bool(only), rules=LOCAL, limits=limits)
        shelf = Shelf(source, put, break_down, only)
        yield shelf


def website(place: Path) -> AbstractAsyncContextManager[Shelf]:
    """Return a website with a sitemap, which has no page at its own address."""
    return served(place, lambda site: site.list(*sorted(site.pages)))


def website_by_links(place: Path) -> AbstractAsyncContextManager[Shelf]:
    """Return a website whose first page leads to all others, and wants to be read by nobody."""

    def link(site: WebSite) -> None:
        hidden = '<meta name="robots" content="noindex">'
        site.pages["/docs/"] = html("Start", "Welcome.", head=hidden, links=tuple(sorted(site.pages)))

    return served(place, link)


def website_by_llms(place: Path) -> AbstractAsyncContextManager[Shelf]:
    """Return a website that lists its pages for machines."""

    def write(site: WebSite) -> None:
        site.pages["/docs/llms.txt"] = "# Docs\n\n" + "".join(f"- [A page]({path})\n" for path in sorted(site.pages))
        site.types["/docs/llms.txt"] = "text/plain"

    return served(place, write)


def page(place: Path) -> AbstractAsyncContextManager[Shelf]:
    """Return a single page of a website."""
    return served(place, lambda _: None, only="a.md")


@asynccontextmanager
async def repository(place: Path) -> AsyncGenerator[Shelf]:
    """A folder of a git repository."""
    async with GitServer() as server:

        def put(pages: Mapping[str, bytes]) -> None:
            server.put({"README.md": b"# Elsewhere\n", "docs/.keep": b"", **{f"docs/{k}": v for k, v in pages.items()}})

        def break_down() -> None:
            server.broken = Reply(503, b"")

        fetching = partial(fetcher, LOCAL)
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
KINDS: list[Opened] = [folder, website, website_by_links, website_by_llms, page, repository, brought, *OTHERS]


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

    shown = {"a.md": ("First", "One."), "b/second.md": ("Second", "# Second\n\nTwo."), "d.md": ("Third", "# Third")}
    assert [(page.title, page.text.strip()) for page in pages] == [shown[name] for name in shelf.held(shown)]


@pytest.mark.promise("unreadable-files")
async def test_what_cannot_be_read_is_reported_and_does_not_stop_the_rest(shelf: Shelf) -> None:
    """The report has a name, a reason that is a sentence, and the address that the page would have."""
    broken = shelf.only or "c.md"
    shelf.put({**PAGES, broken: PAGES["c.md"]})
    items = await everything(shelf.source)

    failed = [item for item in items if isinstance(item, Unreadable)]
    assert len(items) == len(shelf.held(PAGES))
    assert [item.url.removesuffix(".md").endswith(f"/docs/{broken.removesuffix('.md')}") for item in failed] == [True]
    assert failed[0].name.endswith(broken)
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

    titles = {"a.md": "First", "e.md": "Fourth"}
    read = sorted(item.title for item in again if isinstance(item, Document))
    assert read == [titles[name] for name in shelf.held(titles)]
    assert {item.url for item in again if isinstance(item, Unchanged)} < set(seen)


async def ingest(index: MemoryIndex, source: DocumentSource) -> list[Step]:
    """Bring a source in."""
    return [step async for step in Ingestion(index, HashEmbedder()).run(source)]


def die_after_a_page(source: DocumentSource, place: Path, left: Connection) -> None:
    """Bring in one page, leave the index behind, and be killed."""
    tempfile.tempdir = str(place)

    async def read() -> None:
        index = MemoryIndex()
        async for step in Ingestion(index, HashEmbedder()).run(source):
            if isinstance(step, PageDone):
                left.send(index)
                os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(read())


FORKS = forks(__name__)


async def killed(source: DocumentSource, place: Path) -> MemoryIndex:
    """Have a process read the source that is killed after the first page; return what it had in its index by then."""
    reader, writer = FORKS.Pipe(duplex=False)
    dying = FORKS.Process(target=die_after_a_page, args=(source, place, writer))
    with reader:
        with writer:
            await asyncio.to_thread(dying.start)
        index = await asyncio.to_thread(reader.recv)
    await asyncio.to_thread(dying.join)
    assert dying.exitcode == -signal.SIGKILL
    dying.close()
    return index


@pytest.mark.promise("incremental")
@pytest.mark.promise("resumable")
async def test_what_is_killed_goes_on_and_what_vanishes_is_removed(shelf: Shelf, tmp_path: Path) -> None:
    """After SIGKILL, pages that were done before are not done again; a page that has gone goes at the next reading."""
    names = shelf.held(("a.md", "b/second.md"))
    shelf.put({name: PAGES[name] for name in names})
    index = await killed(shelf.source, tmp_path)
    rest = await ingest(index, shelf.source)
    shelf.put({"b/second.md": PAGES["b/second.md"]})
    after = await ingest(index, shelf.source)

    assert isinstance(rest[-1], Summary)
    assert isinstance(after[-1], Summary)
    assert (rest[-1].added, rest[-1].unchanged) == (len(names) - 1, 1)
    assert (after[-1].unchanged, after[-1].removed) == (len(names) - 1, 1)


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
    assert len(before) == len(shelf.held(("a.md", "b/second.md")))


async def test_a_reader_may_stop_early(shelf: Shelf) -> None:
    """Whoever takes one page owes nothing for the rest."""
    shelf.put(PAGES)
    async with aclosing(shelf.source.documents()) as documents:
        first = await anext(aiter(item.title async for item in documents if isinstance(item, Document)))

    assert first == "First"


async def test_a_source_with_nothing_in_it_gives_nothing(shelf: Shelf) -> None:
    """An empty shelf is no error of the source."""
    assert await everything(shelf.source) == []
