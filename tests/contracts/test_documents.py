"""What every source of documents promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from adapters.documents.folder import Folder
from core.model import Document, Unreadable
from core.ports import DocumentSource, Found

Shelf = Callable[[Mapping[str, bytes]], DocumentSource]

PAGES = {
    "b/second.md": b"# Second\n\nTwo.\n",
    "a.md": b"---\ntitle: First\n---\n\nOne\x07.\r\n",
    "c.md": b"\x00 not text",
    "d.md": b"# Third\n",
}


def folder(pages: Mapping[str, bytes], place: Path) -> DocumentSource:
    """Make a folder that holds *pages*."""
    for name, content in pages.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return Folder(place, name="shelf", base_url="https://x.example/docs")


SOURCES = {"folder": folder}


@pytest.fixture(params=SOURCES)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    """Give a way to make a source of each kind out of pages."""
    return lambda pages: SOURCES[request.param](pages, tmp_path)


async def everything(source: DocumentSource) -> list[Found]:
    """Read a source to its end."""
    return [item async for item in source.documents()]


@pytest.mark.promise("formats")
async def test_every_readable_page_is_given_with_its_title_and_text(shelf: Shelf) -> None:
    """Front matter and headings name the pages."""
    pages = [item for item in await everything(shelf(PAGES)) if isinstance(item, Document)]

    assert [(page.title, page.text.strip()) for page in pages] == [
        ("First", "One."),
        ("Second", "# Second\n\nTwo."),
        ("Third", "# Third"),
    ]


@pytest.mark.promise("unreadable-files")
async def test_what_cannot_be_read_is_reported_and_does_not_stop_the_rest(shelf: Shelf) -> None:
    """The report has a name, a reason that is a sentence, and the address that the page would have."""
    items = await everything(shelf(PAGES))

    failed = [item for item in items if isinstance(item, Unreadable)]
    assert len(items) == 4
    assert [item.url for item in failed] == ["https://x.example/docs/c"]
    assert failed[0].name == "c.md"
    assert failed[0].reason.endswith(".")


async def test_the_order_is_stable_and_reading_again_gives_the_same(shelf: Shelf) -> None:
    """Nothing about a page depends on when it is read."""
    source = shelf(PAGES)

    assert await everything(source) == await everything(source)


async def test_every_page_belongs_to_the_source_and_has_an_address_of_its_own(shelf: Shelf) -> None:
    """Pruning goes by the name, citations by the address."""
    source = shelf(PAGES)
    pages = [item for item in await everything(source) if isinstance(item, Document)]

    assert {page.source for page in pages} == {source.name}
    assert len({page.url for page in pages}) == len(pages)
    assert all(urlsplit(page.url).scheme in ("https", "http", "file") for page in pages)


async def test_a_reader_may_stop_early(shelf: Shelf) -> None:
    """Whoever takes one page owes nothing for the rest."""
    documents = shelf(PAGES).documents()

    first = await anext(documents)

    assert isinstance(first, Document)
    assert first.title == "First"


async def test_a_source_with_nothing_in_it_gives_nothing(shelf: Shelf) -> None:
    """An empty shelf is no error of the source."""
    assert await everything(shelf({})) == []
