"""What every index of passages promises."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.beside import Finding, Handshake, OwnerServer, reached
from adapters.qdrant import EdgeIndex, ServerIndex
from core.documents.chunking import embedding_text
from core.model import (
    Audience,
    EmbeddedPassage,
    IndexQuery,
    Origin,
    Outline,
    Passage,
    Scope,
    SourceKind,
    SourceRecord,
    SyncReport,
    Unreadable,
    WorkspaceRef,
)
from core.ports import PassageIndex
from tests.builders import passage
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex
from tests.servers.qdrant import QdrantServer

RELEASE = datetime(2026, 3, 1, tzinfo=UTC)
EMBEDDER = HashEmbedder()


@asynccontextmanager
async def memory(_folder: Path) -> AsyncGenerator[PassageIndex]:
    """The fake."""
    yield MemoryIndex()


@asynccontextmanager
async def edge(folder: Path) -> AsyncGenerator[PassageIndex]:
    """The embedded index."""
    index = EdgeIndex(folder / "index", embedder=EMBEDDER.name, dimension=EMBEDDER.dimension)
    yield index
    await index.aclose()


@asynccontextmanager
async def server(_folder: Path) -> AsyncGenerator[PassageIndex]:
    """The index on a server that is reached over a socket."""
    async with QdrantServer() as qdrant:
        index = ServerIndex(qdrant.url, embedder=EMBEDDER.name, dimension=EMBEDDER.dimension)
        yield index
        await index.aclose()


@asynccontextmanager
async def beside(folder: Path) -> AsyncGenerator[PassageIndex]:
    """The embedded index of another process, in a folder whose path is too long for a socket."""
    deep = folder / ("deep" * 25)
    deep.mkdir()
    welcome = Handshake("0", EMBEDDER.name, EMBEDDER.dimension, "")
    async with edge(folder) as index, OwnerServer(welcome, index, nothing).shared(deep), reached(deep) as owner:
        assert owner is not None
        yield owner


async def nothing() -> AsyncIterator[Finding]:
    """Find nothing."""
    return
    yield


INDEXES: list[Callable[[Path], AbstractAsyncContextManager[PassageIndex]]] = [memory, edge, server, beside]


@pytest.fixture(name="index", params=INDEXES, ids=lambda make: make.__name__)
async def _index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[PassageIndex]:
    """An empty index of each kind."""
    async with request.param(tmp_path) as index:
        yield index


def page(name: str, *texts: str, source: str = "docs", chapter: str = "one", **fields: object) -> list[Passage]:
    """The passages of one page."""
    url = f"https://{source}.example/{name}"
    return [
        passage(
            text,
            url=url,
            passage_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{url} {number}")),
            source=source,
            chapter=chapter,
            section_title=f"Part {number}",
            position=number,
            page_length=len(texts),
            content_hash=f"hash of {name}",
            **fields,
        )
        for number, text in enumerate(texts)
    ]


async def put(index: PassageIndex, passages: Sequence[Passage]) -> None:
    """Embed a page and put it into the index."""
    vectors = await EMBEDDER.embed_passages([embedding_text(one) for one in passages])
    await index.replace(passages[0].source, passages[0].page_url, [*map(EmbeddedPassage, passages, vectors)])


async def find(index: PassageIndex, text: str, *, limit: int = 10, scope: Scope | None = None) -> list[str]:
    """Give the texts that are found, best first."""
    vector = await EMBEDDER.embed_query(text)
    found = await index.candidates(IndexQuery(text, vector, scope or Scope()), limit=limit)
    return [candidate.passage.text for candidate in found]


async def test_an_empty_index_gives_nothing(index: PassageIndex) -> None:
    """It is no error to search before anything was ingested."""
    assert await find(index, "robots") == []
    assert await index.pages("docs") == {}
    assert await index.outline() == Outline(passages=0, pages=0, sources=(), chapters=())
    assert await index.prune("docs", keep=()) == 0


async def test_a_passage_comes_back_as_it_was_put(index: PassageIndex) -> None:
    """Every field survives, since footnotes and filters are made of them."""
    (one,) = page("a", "Robots act.", opens_at=RELEASE)
    await put(index, [one])

    found = await index.candidates(IndexQuery("robots", await EMBEDDER.embed_query("robots")), limit=1)

    assert [candidate.passage for candidate in found] == [one]


async def test_the_best_comes_first(index: PassageIndex) -> None:
    """What is nearest in meaning and words leads the list."""
    await put(index, page("a", "Welding needs a mask.", "Grippers hold fruit softly.", "Grippers break."))

    assert (await find(index, "grippers hold fruit softly"))[0] == "Grippers hold fruit softly."


async def test_both_scores_are_there_for_the_union_of_both_lists(index: PassageIndex) -> None:
    """Fusion needs the two scores of every passage, whichever list found it."""
    await put(index, page("a", "Grippers hold fruit.", "Wheels turn and grippers wait."))

    found = await index.candidates(IndexQuery("grippers", await EMBEDDER.embed_query("grippers hold")), limit=2)

    assert len(found) == 2
    assert [c for c in found if c.dense is None or c.lexical is None] == []
    assert all(-1.001 <= (c.dense or 0.0) <= 1.001 for c in found)
    assert all((c.lexical or 0.0) > 0.0 for c in found)


async def test_words_alone_can_be_searched(index: PassageIndex) -> None:
    """Without a vector the passages that share a word are found, with no score by meaning."""
    await put(index, page("a", "Grippers hold fruit.", "Wheels turn."))

    found = await index.candidates(IndexQuery("fruit", None), limit=5)

    assert [(c.passage.text, c.dense) for c in found] == [("Grippers hold fruit.", None)]


async def test_each_list_has_at_most_as_many_as_were_asked_for(index: PassageIndex) -> None:
    """The union holds at most twice the limit."""
    await put(index, page("a", *(f"Robot number {n} acts." for n in range(10))))

    assert 3 <= len(await find(index, "robot", limit=3)) <= 6


@pytest.mark.promise("scope")
@pytest.mark.parametrize(
    ("scope", "texts"),
    [
        (Scope(), {"Robots a.", "Robots b.", "Robots c."}),
        (Scope(sources=("wiki",)), {"Robots c."}),
        (Scope(sources=("wiki", "docs")), {"Robots a.", "Robots b.", "Robots c."}),
        (Scope(chapters=("two",)), {"Robots b.", "Robots c."}),
        (Scope(sources=("docs",), chapters=("two",)), {"Robots b."}),
        (Scope(sources=("none",)), set[str]()),
        (Scope(sources=()), set[str]()),
        (Scope(sources=(), chapters=("two",)), set[str]()),
    ],
)
async def test_a_scope_limits_what_is_found(index: PassageIndex, scope: Scope, texts: set[str]) -> None:
    """Sources and chapters both have to fit; naming none means all."""
    await put(index, page("a", "Robots a."))
    await put(index, page("b", "Robots b.", chapter="two"))
    await put(index, page("c", "Robots c.", source="wiki", chapter="two"))

    assert set(await find(index, "robots", scope=scope)) == texts


@pytest.mark.promise("release-dates")
@pytest.mark.parametrize(
    ("open_at", "texts"),
    [
        (None, {"Robots now.", "Robots later."}),
        (RELEASE - timedelta(seconds=1), {"Robots now."}),
        (RELEASE, {"Robots now.", "Robots later."}),
        (RELEASE.astimezone(None) + timedelta(days=1), {"Robots now.", "Robots later."}),
    ],
)
async def test_what_is_released_later_is_hidden(index: PassageIndex, open_at: datetime | None, texts: set[str]) -> None:
    """A passage with a date is found from that moment on; without a moment asked for, nothing is hidden."""
    await put(index, page("a", "Robots now."))
    await put(index, page("b", "Robots later.", opens_at=RELEASE))

    assert set(await find(index, "robots", scope=Scope(open_at=open_at))) == texts


@pytest.mark.promise("whole-pages")
@pytest.mark.parametrize("after", [["New a."], ["New a.", "New b."], ["New a.", "New b.", "New c.", "New d."]])
async def test_replacing_a_page_leaves_nothing_old(index: PassageIndex, after: list[str]) -> None:
    """Whether the page shrinks, stays or grows."""
    await put(index, page("other", "Old neighbour."))
    await put(index, page("a", "Old a.", "Old b."))

    await put(index, page("a", *after))

    assert set(await find(index, "new old")) == {*after, "Old neighbour."}
    assert await index.outline() == Outline(passages=len(after) + 1, pages=2, sources=("docs",), chapters=("one",))


async def test_replacing_a_page_by_nothing_removes_it(index: PassageIndex) -> None:
    """A page without passages is not there."""
    await put(index, page("a", "Robots act."))

    await index.replace("docs", "https://docs.example/a", [])

    assert await find(index, "robots") == []
    assert await index.pages("docs") == {}


async def test_pages_are_listed_with_their_hashes(index: PassageIndex) -> None:
    """Each source sees its own pages."""
    await put(index, page("a", "Robots act.", "They learn."))
    await put(index, page("b", "Robots rest."))
    await put(index, page("c", "Robots rest.", source="wiki"))

    assert await index.pages("docs") == {
        "https://docs.example/a": "hash of a",
        "https://docs.example/b": "hash of b",
    }


async def test_an_incomplete_page_is_not_listed(index: PassageIndex) -> None:
    """A page that was broken off is done again by the next run."""
    await put(index, page("a", "Robots act.", "They learn.")[:1])

    assert await index.pages("docs") == {}


async def test_pruning_removes_only_what_is_not_kept(index: PassageIndex) -> None:
    """Pages are counted, not passages, and other sources stay as they are."""
    await put(index, page("a", "Robots a."))
    await put(index, page("b", "Robots b.", "Robots bb."))
    await put(index, page("c", "Robots c.", source="wiki"))

    removed = await index.prune("docs", keep={"https://docs.example/a", "https://docs.example/never"})

    assert removed == 1
    assert set(await find(index, "robots")) == {"Robots a.", "Robots c."}


async def test_the_outline_names_what_a_scope_can_use(index: PassageIndex) -> None:
    """Names are sorted, and a page without a chapter adds none."""
    await put(index, page("a", "Robots a.", "Robots aa.", chapter="two"))
    await put(index, page("b", "Robots b.", source="alpha", chapter=""))

    assert await index.outline() == Outline(passages=3, pages=2, sources=("alpha", "docs"), chapters=("two",))


async def test_the_outline_of_a_scope_holds_nothing_of_others(index: PassageIndex) -> None:
    """What is released later is not counted before, and its chapter is not named."""
    await put(index, page("a", "Robots now.", chapter="one"))
    await put(index, page("b", "Robots later.", chapter="two", opens_at=RELEASE))
    await put(index, page("c", "Robots of others.", source="wiki", chapter="three"))

    before, then = (Scope(open_at=RELEASE - timedelta(seconds=1)), Scope(open_at=RELEASE))
    assert [await index.outline(scope) for scope in (before, then, Scope(sources=("docs",), open_at=RELEASE))] == [
        Outline(passages=2, pages=2, sources=("docs", "wiki"), chapters=("one", "three")),
        Outline(passages=3, pages=3, sources=("docs", "wiki"), chapters=("one", "three", "two")),
        Outline(passages=2, pages=2, sources=("docs",), chapters=("one", "two")),
    ]


HERE = WorkspaceRef(platform="discord", workspace="1")


async def test_what_is_recorded_of_a_source_stays_beside_its_passages(index: PassageIndex) -> None:
    """A source is known by its passages or by its record, of which the last one counts; nothing is written anew."""
    assert await index.sources() == []

    await put(index, page("b", "Robots b.", source="wiki"))
    assert await index.sources() == [SourceRecord(name="wiki")]

    await index.record(SourceRecord(name="docs", audience=Audience(everyone=True)))
    await put(index, page("a", "Robots a."))
    shared = SourceRecord(name="wiki", audience=Audience(communities=frozenset([HERE])))
    await index.record(SourceRecord(name="wiki", audience=Audience()))
    await index.record(shared)
    await put(index, page("b", "Robots b, again.", source="wiki"))
    assert await index.prune("docs", keep=()) == 1

    assert await index.sources() == [SourceRecord(name="docs", audience=Audience(everyone=True)), shared]
    assert await find(index, "robots", scope=Scope(sources=("wiki",))) == ["Robots b, again."]


ORIGIN = Origin(kind=SourceKind.FOLDER, address="/docs", base_url="https://docs.example")
LAST = SyncReport(tried_at=RELEASE, pages=1, failed=1, failures=(Unreadable(name="a.pdf", reason="Locked."),))


async def test_a_record_changes_only_what_the_next_one_says(index: PassageIndex) -> None:
    """Who may read a source stays where somebody writes what came of reading it, in whatever order."""
    audience = Audience(communities=frozenset([HERE]))
    for record in (
        SourceRecord(name="docs", origin=ORIGIN),
        SourceRecord(name="wiki", audience=audience),
        SourceRecord(name="docs", audience=audience),
        SourceRecord(name="docs", last=LAST),
    ):
        await index.record(record)

    assert await index.sources() == [
        SourceRecord(name="docs", audience=audience, origin=ORIGIN, last=LAST),
        SourceRecord(name="wiki", audience=audience),
    ]


async def test_a_source_that_is_removed_leaves_nothing(index: PassageIndex) -> None:
    """Its passages cannot be found, it is not named, and who may read it is forgotten; others stay."""
    await put(index, page("a", "Robots a.", "Robots aa."))
    await put(index, page("c", "Robots c.", source="wiki"))
    for name in ("docs", "wiki"):
        await index.record(SourceRecord(name=name, audience=Audience(), origin=ORIGIN, last=LAST))

    removed = [await index.remove("docs"), await index.remove("docs")]

    assert (removed, await find(index, "robots")) == ([1, 0], ["Robots c."])
    assert [record.name for record in await index.sources()] == ["wiki"]
    await put(index, page("a", "Robots a."))
    assert [record for record in await index.sources() if record.name == "docs"] == [SourceRecord(name="docs")]


async def test_a_stamp_changes_nothing_but_the_hash(index: PassageIndex) -> None:
    """The page stays complete, and what is found of it says the same; a page that is not there stays away."""
    await put(index, page("a", "Robots act.", "They learn."))
    await put(index, page("b", "Robots rest."))

    await index.stamp("docs", "https://docs.example/a", "hash of a, stamped")
    await index.stamp("docs", "https://docs.example/never", "hash")

    assert await index.pages("docs") == {
        "https://docs.example/a": "hash of a, stamped",
        "https://docs.example/b": "hash of b",
    }
    found = await index.candidates(IndexQuery("robots", await EMBEDDER.embed_query("robots act")), limit=5)
    assert {each.passage.content_hash for each in found} == {"hash of a, stamped", "hash of b"}


async def test_sources_with_a_page_of_the_same_address_keep_their_own(index: PassageIndex) -> None:
    """Nothing of a source is replaced, pruned or found in the place of another one's, whoever has the same page."""
    url = "https://handbook.example/start"

    def of(source: str, *texts: str) -> list[Passage]:
        return [
            passage(
                text,
                url=url,
                passage_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{source} {url} {number}")),
                source=source,
                page_length=len(texts),
                position=number,
                content_hash=f"of {source}",
            )
            for number, text in enumerate(texts)
        ]

    await put(index, of("staff", "Robots for staff.", "More robots for staff."))
    await put(index, of("public", "Robots for everybody."))
    await put(index, of("staff", "Robots for staff again."))

    async def found(source: str) -> list[str]:
        return await find(index, "robots", scope=Scope(sources=(source,)))

    assert [await index.pages(one) for one in ("staff", "public")] == [{url: "of staff"}, {url: "of public"}]
    assert (await found("staff"), await found("public")) == (["Robots for staff again."], ["Robots for everybody."])
    assert len(await find(index, "robots")) == 2

    await index.replace("public", url, [])
    assert (await found("staff"), await found("public")) == (["Robots for staff again."], [])
    await put(index, of("public", "Robots for everybody."))
    assert await index.prune("staff", keep=()) == 1
    assert (await found("staff"), await found("public")) == ([], ["Robots for everybody."])
