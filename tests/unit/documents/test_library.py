"""The library: what is written down of each source, and what becomes of one that changes its place or goes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence

import pytest

from core.documents.ingest import NOTHING_READ, NOTHING_THERE, Ingestion, PageDone, Step, Summary
from core.documents.library import LONGEST_REASON, SHOWN_FAILURES, Library
from core.errors import EmbeddingUnavailable, InvalidInput, SourceUnavailable
from core.model import Audience, Document, LeftOut, Origin, SourceKind, SourceRecord, SyncReport, Unchanged, Unreadable
from core.ports import NOTHING_SEEN, DocumentSource, Found
from tests.builders import NOON
from tests.fakes.documents import ListSource
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex

ORIGIN = Origin(kind=SourceKind.FOLDER, address="/docs", every=60)


def page(name: str, text: str = "Robots act.") -> Document:
    """A page of the source `docs`."""
    return Document(source="docs", url=f"https://docs.example/{name}", title=name, text=text)


class Place:
    """Where documents come from, whatever the origin is; with an *error*, it raises that behind what it has."""

    def __init__(self, *found: Found) -> None:
        self.found: Sequence[Found] = found
        self.error: Exception | None = None

    def __call__(self, name: str, origin: Origin) -> DocumentSource:
        """Open it."""
        place = self

        class Source(ListSource):
            """Gives what is there at that moment."""

            async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
                """Give it, and then fail if need be."""
                for each in place.found:
                    yield each
                if place.error:
                    raise place.error

        return Source(name, [])


@pytest.fixture(name="place")
def _place() -> Place:
    return Place(page("a"), page("b"))


@pytest.fixture(name="index")
def _index() -> MemoryIndex:
    return MemoryIndex()


@pytest.fixture(name="library")
def _library(index: MemoryIndex, place: Place) -> Library:
    return Library(index, Ingestion(index, HashEmbedder()), place, lambda: NOON)


async def read(library: Library, origin: Origin = ORIGIN) -> list[Step]:
    """Read the place as the source `docs`."""
    return [step async for step in library.read("docs", origin)]


async def test_what_was_read_is_written_down(library: Library, place: Place) -> None:
    """Where it came from, when, and what could not be read; who may read it is not touched."""
    place.found = (*place.found, LeftOut(name="c.png", why=".png"), Unreadable(name="d", reason="x" * 999, url="u"))

    await read(library)

    last = SyncReport(
        tried_at=NOON,
        read_at=NOON,
        pages=2,
        skipped=1,
        failed=1,
        failures=(Unreadable(name="d", reason="x" * LONGEST_REASON, url="u"),),
    )
    assert await library.records() == [SourceRecord(name="docs", origin=ORIGIN, last=last)]


async def test_names_that_only_a_build_knows_are_kept_until_somebody_says_them(library: Library, place: Place) -> None:
    """A page that is not read again still has its own."""
    kept = list[tuple[str, ...]]()
    named = page("a").model_copy(update={"macros": ("B", "A"), "stamp": "1"})
    for found, macros in ((named, {}), (Unchanged(url=named.url), {}), (Unchanged(url=named.url), {"A": "x"})):
        place.found = (found,)
        await read(library, ORIGIN.model_copy(update={"macros": macros}))
        last = (await library.find("docs")).last
        kept += [last.macros] if last else []

    assert kept == [("A", "B"), ("A", "B"), ("B",)]


async def test_only_so_many_failures_are_kept(library: Library, place: Place) -> None:
    """All are counted."""
    place.found = (*place.found, *(Unreadable(name=f"{n}", reason="Why.", url=f"u{n}") for n in range(50)))

    await read(library)

    last = (await library.find("docs")).last
    assert last is not None
    assert (last.failed, len(last.failures)) == (50, SHOWN_FAILURES)


@pytest.mark.promise("empty-folder-keeps-index")
@pytest.mark.parametrize("error", [SourceUnavailable("It is down."), InvalidInput("It has gone.", field="source")])
async def test_a_place_that_fails_removes_nothing_and_is_told(
    library: Library, place: Place, index: MemoryIndex, error: Exception
) -> None:
    """The counts and the day of the last time stay beside the problem, which the next good time clears."""
    await read(library)
    place.found, place.error = (page("a"),), error

    with pytest.raises(type(error)):
        [step async for step in library.sync("docs")]
    failed = await library.find("docs")
    place.found, place.error = (page("a"), page("b")), None
    [*_, summary] = [step async for step in library.sync("docs")]

    assert failed.last == SyncReport(tried_at=NOON, read_at=NOON, pages=2, problem=str(error))
    assert len(await index.pages("docs")) == 2
    assert summary == Summary(unchanged=2)
    assert (await library.find("docs")).last == SyncReport(tried_at=NOON, read_at=NOON, pages=2)


async def test_an_empty_place_is_a_problem(library: Library, place: Place) -> None:
    """It may not be mounted; what was read of it stays, and is counted as before."""
    await read(library)
    place.found = ()

    await read(library)

    last = (await library.find("docs")).last
    assert last == SyncReport(tried_at=NOON, read_at=NOON, pages=2, problem=NOTHING_READ.format(NOTHING_THERE))


async def test_a_place_that_never_was_there_is_no_source(library: Library, place: Place) -> None:
    """A mistyped path leaves nothing behind."""
    place.found, place.error = (), InvalidInput("There is no folder.", field="source")

    with pytest.raises(InvalidInput):
        await read(library)

    assert await library.records() == []


async def test_that_nothing_can_be_embedded_is_written_down(index: MemoryIndex, place: Place) -> None:
    """As a place that does not answer is, so that whoever looks at the sources sees it."""
    embedder = HashEmbedder()
    library = Library(index, Ingestion(index, embedder), place, lambda: NOON)
    await read(library)
    embedder.fails = True
    place.found = (page("a", "New."),)

    with pytest.raises(EmbeddingUnavailable) as raised:
        await read(library)

    last = (await library.find("docs")).last
    assert last is not None
    assert (last.problem, last.pages) == (str(raised.value), 2)


async def test_reading_a_folder_again_keeps_how_often_it_is_read(library: Library, index: MemoryIndex) -> None:
    """Another folder under the same name begins anew."""
    await read(library)
    found: list[Origin | None] = []
    for address in ("/docs", "/elsewhere"):
        await read(library, Origin(kind=SourceKind.FOLDER, address=address))
        found.append((await library.find("docs")).origin)

    assert found == [ORIGIN, Origin(kind=SourceKind.FOLDER, address="/elsewhere")]


@pytest.mark.parametrize(
    ("address", "others"),
    [
        ("/docs", ["folder"]),
        ("/docs/a/b", ["folder"]),
        ("/", ["folder"]),
        ("/docs-old", []),
        ("/doc", []),
        ("https://docs.example/guide/a", ["website"]),
        ("https://docs.example/guidebook", []),
        ("https://x.example/book.git", ["repository"]),
        ("https://x.example/book.git#main:docs/a", ["repository"]),
        ("https://x.example/book.git#main:documents", []),
    ],
)
async def test_sources_that_hold_the_same_pages_are_known(
    library: Library, index: MemoryIndex, address: str, others: list[str]
) -> None:
    """By their places, one of which is in the other."""
    places = ("/docs", "https://docs.example/guide/", "https://x.example/book.git#main:docs")
    for kind, place in zip((SourceKind.FOLDER, SourceKind.WEBSITE, SourceKind.REPOSITORY), places, strict=True):
        await index.record(SourceRecord(name=kind, origin=Origin(kind=kind, address=place)))
    await index.record(SourceRecord(name="old", audience=Audience()))
    await index.record(SourceRecord(name="docs", origin=Origin(kind=SourceKind.FOLDER, address=address)))

    assert await library.overlapping("docs") == others
    assert await library.overlapping("old") == []


async def test_what_is_removed_while_it_is_read_does_not_come_back(library: Library, index: MemoryIndex) -> None:
    """Its record said who may read it, which nobody knows any more."""
    await read(library)
    await index.record(SourceRecord(name="docs", audience=Audience()))
    place = Place(page("a", "New."), page("b", "New."))
    library = Library(index, library.ingestion, place, lambda: NOON)

    async def reading() -> None:
        async for step in library.sync("docs"):
            if isinstance(step, PageDone):
                await library.remove("docs")

    with pytest.raises(InvalidInput, match="'docs' was removed while it was being read"):
        await reading()

    assert (await library.records(), await index.pages("docs")) == ([], {})


async def test_a_source_that_nobody_knows_is_named(library: Library, index: MemoryIndex) -> None:
    """With those that there are, and what to do where nobody knows where one comes from."""
    with pytest.raises(InvalidInput, match="There are no documents yet"):
        await library.find("docs")
    await index.record(SourceRecord(name="old", audience=Audience()))
    with pytest.raises(InvalidInput, match=r"There is no source 'docs'\. The sources are: old\."):
        await library.remove("docs")
    with pytest.raises(InvalidInput, match="It is not known where 'old' comes from"):
        [step async for step in library.sync("old")]


@pytest.mark.parametrize(
    ("here", "there", "overlap"),
    [
        ("https://docs.example", "https://docs.example/guide/", True),
        ("https://docs.example", "https://docs.example.evil.example/guide/", False),
        ("https://docs.example", "https://docs.example:8443/guide/", False),
        ("https://docs.example:8443/", "https://docs.example:8443/guide/", True),
        ("https://x.example/a.git#main", "https://x.example/a.git#main:2027", True),
    ],
)
def test_sources_overlap_where_one_is_in_the_other(here: str, there: str, overlap: bool) -> None:
    """By whole names and ports, not by the beginnings of them."""
    origins = [Origin(kind=SourceKind.WEBSITE, address=each) for each in (here, there)]

    assert [one.overlaps(other) for one, other in (origins, origins[::-1])] == [overlap] * 2
