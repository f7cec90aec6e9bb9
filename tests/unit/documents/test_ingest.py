"""Ingestion: only what has changed is done, and nothing is lost by accident."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence

import pytest

from core.documents.ingest import (
    AT_ONCE,
    TOO_LONG,
    TOO_MANY,
    Ingestion,
    Outcome,
    PageDone,
    PassagesDone,
    Step,
    Summary,
)
from core.errors import EmbeddingUnavailable, RetrievalUnavailable
from core.model import Document, LeftOut, Unreadable
from core.ports import NOTHING_SEEN, Found
from tests.fakes.documents import ListSource
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex


def page(name: str, text: str = "Robots act.") -> Document:
    """A page of the source `docs`."""
    return Document(source="docs", url=f"https://docs.example/{name}", title=name, text=text)


def url(name: str) -> str:
    """The address of a page."""
    return f"https://docs.example/{name}"


async def ingest(index: MemoryIndex, *found: Found, embedder: HashEmbedder | None = None) -> list[Step]:
    """Run once over the source `docs` and give every step."""
    ingestion = Ingestion(index, embedder or HashEmbedder())
    return [step async for step in ingestion.run(ListSource("docs", found))]


async def test_each_page_is_reported_and_then_the_sum() -> None:
    """Someone who watches sees every page come in."""
    index = MemoryIndex()

    steps = await ingest(index, page("a"), page("b", "One.\n\n## More\n\nTwo."))

    assert steps == [
        PageDone(url("a"), Outcome.ADDED, 1),
        PageDone(url("b"), Outcome.ADDED, 2),
        Summary(added=2, passages=3),
    ]
    assert (await index.outline()).passages == 3


async def test_of_a_long_page_is_told_how_far_it_is() -> None:
    """Such as a book in one file, of which nobody would hear for minutes."""
    text = "\n\n".join(f"## Part {number}\n\nRobots act." for number in range(AT_ONCE + 1))

    steps = await ingest(MemoryIndex(), page("a", text))

    assert steps[:-1] == [PassagesDone(AT_ONCE), PageDone(url("a"), Outcome.ADDED, AT_ONCE + 1)]


async def test_only_changed_pages_are_done_again() -> None:
    """A second run writes what differs and removes what has gone."""
    index = MemoryIndex()
    await ingest(index, page("a"), page("b"), page("c"))
    index.writes.clear()

    steps = await ingest(index, page("a"), page("b", "New."), page("d"))

    assert steps[-1] == Summary(added=1, changed=1, unchanged=1, removed=1, passages=2)
    assert index.writes == [url("b"), url("d")]
    assert set(await index.pages("docs")) == {url("a"), url("b"), url("d")}


@pytest.mark.parametrize("changed", [{"title": "b"}, {"chapter": "two"}, {"text": "Other."}])
async def test_every_field_of_a_document_counts_as_a_change(changed: dict[str, str]) -> None:
    """A new title has to reach the footnotes, as a new text has."""
    index = MemoryIndex()
    await ingest(index, page("a"))

    steps = await ingest(index, page("a").model_copy(update=changed))

    assert steps[-1] == Summary(changed=1, passages=1)


async def test_another_embedder_or_limit_does_every_page_again() -> None:
    """Passages depend on how they were cut and embedded."""
    index = MemoryIndex()
    await ingest(index, page("a"))
    await ingest(index, page("a"), embedder=HashEmbedder(window=100))

    steps = [step async for step in Ingestion(index, HashEmbedder(), limit=50).run(ListSource("docs", [page("a")]))]

    assert index.writes == [url("a")] * 3
    assert steps[-1] == Summary(changed=1, passages=1)


def stamped(name: str, stamp: str, text: str = "Robots act.") -> Document:
    """A page whose source knows it again by a stamp."""
    return page(name, text).model_copy(update={"stamp": stamp, "name": f"{name}.md"})


@pytest.mark.promise("incremental")
async def test_a_page_that_bears_its_stamp_is_not_read_again() -> None:
    """Where only the stamp has changed the page is read, and not embedded; the next time its new stamp counts."""
    index, embedder = MemoryIndex(), HashEmbedder()
    runs = [
        await ingest(index, stamped("a", stamp), page("b"), embedder=embedder) for stamp in ("one", "one", "two", "two")
    ]
    marks = await index.pages("docs")

    assert [run[-1] for run in runs] == [Summary(added=2, passages=2), *[Summary(unchanged=2)] * 3]
    assert index.writes == [url("a"), url("b")]
    assert (marks[url("a")].endswith(":two"), " " in marks[url("b")]) == (True, False)


async def test_a_stamp_counts_only_for_what_is_cut_and_embedded_in_the_same_way() -> None:
    """Another limit does the page again, whatever its source knows of it."""
    index = MemoryIndex()
    await ingest(index, stamped("a", "one"))

    source = ListSource("docs", [stamped("a", "one")])
    steps = [step async for step in Ingestion(index, HashEmbedder(), limit=50).run(source)]

    assert steps[-1] == Summary(changed=1, passages=1)


async def test_what_was_stored_before_there_were_stamps_is_not_embedded_again() -> None:
    """It gets its stamp instead."""
    index = MemoryIndex()
    await ingest(index, page("a"))

    steps = await ingest(index, stamped("a", "one"))

    assert (steps[-1], index.writes) == (Summary(unchanged=1), [url("a")])
    assert (await index.pages("docs"))[url("a")].endswith(":one")


async def test_a_failure_names_the_file() -> None:
    """Not the title, which nobody can look for."""
    steps = await ingest(MemoryIndex(), page("a"), stamped("a", "two", "Other."))

    assert [step.name for step in steps if isinstance(step, Unreadable)] == ["a.md"]


async def test_a_second_page_at_the_same_address_is_reported() -> None:
    """The first one stays; silently replacing it would lose a page."""
    index = MemoryIndex()

    steps = await ingest(index, page("a"), page("a", "Other."))

    reason = "has the same address as another page of this source; give one of them its own."
    failed = Unreadable(name=f"a ({url('a')})", reason=reason, url=url("a"))
    assert steps[1:] == [failed, Summary(added=1, failed=(failed,), passages=1)]


async def test_a_page_that_cannot_be_read_this_time_stays() -> None:
    """A damaged file does not take away what was known of it, while pages that have gone do go."""
    index = MemoryIndex()
    await ingest(index, page("a"), page("b"), page("c"))
    failed = Unreadable(name="b.md", reason="It is locked.", url=url("b"))

    steps = await ingest(index, page("a"), failed)

    assert steps[1:] == [failed, Summary(unchanged=1, removed=1, failed=(failed,))]
    assert set(await index.pages("docs")) == {url("a"), url("b")}


async def test_nothing_is_removed_while_an_unreadable_page_has_no_known_address() -> None:
    """It could be any of the pages that seem to have gone."""
    index = MemoryIndex()
    await ingest(index, page("a"), page("b"))

    steps = await ingest(index, page("a"), Unreadable(name="?", reason="It is locked."))

    assert set(await index.pages("docs")) == {url("a"), url("b")}
    assert isinstance(steps[-1], Summary)
    assert steps[-1].removed == 0


@pytest.mark.promise("empty-folder-keeps-index")
@pytest.mark.parametrize("found", [[], [Unreadable(name="a.md", reason="It is locked.", url=url("a"))]])
async def test_a_source_without_readable_pages_empties_nothing(found: Sequence[Unreadable]) -> None:
    """A folder that is mistyped or not mounted does not cost the index."""
    index = MemoryIndex()
    await ingest(index, page("a"), page("b"))

    steps = await ingest(index, *found)

    assert steps[-1] == Summary(failed=tuple(found))
    assert Summary(failed=tuple(found)).pages == 0
    assert set(await index.pages("docs")) == {url("a"), url("b")}


async def test_a_page_without_text_is_reported_and_goes() -> None:
    """What was on it before is no longer true."""
    index = MemoryIndex()
    await ingest(index, page("a"), page("b"))

    steps = await ingest(index, page("a"), page("b", "<!-- later -->"))

    skipped = LeftOut(name=f"b ({url('b')})", why="without text")
    assert steps[1:] == [skipped, Summary(unchanged=1, removed=1, skipped={"without text": 1})]
    assert set(await index.pages("docs")) == {url("a")}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a " * 2_000_001, TOO_LONG),
        ("> a\n" * 100_001, TOO_LONG),
        ("# a\n\ntext\n\n" * 10_001, TOO_MANY),
    ],
)
async def test_a_page_without_an_end_is_named_and_left_out(text: str, reason: str) -> None:
    """Nobody waits for minutes for one page, and what was there before stays."""
    index = MemoryIndex()
    await ingest(index, page("a"), page("b"))

    steps = await ingest(index, page("a", text), page("b", "Another text."))

    failed = Unreadable(name=f"a ({url('a')})", reason=reason, url=url("a"))
    assert (steps[0], steps[-1]) == (failed, Summary(changed=1, failed=(failed,), passages=1))
    assert set(await index.pages("docs")) == {url("a"), url("b")}


async def test_another_source_keeps_its_pages() -> None:
    """A run removes only what it is responsible for."""
    index = MemoryIndex()
    await ingest(index, page("a"))
    other = page("z").model_copy(update={"source": "wiki"})

    steps = [step async for step in Ingestion(index, HashEmbedder()).run(ListSource("wiki", [other]))]

    assert steps[-1] == Summary(added=1, passages=1)
    assert (await index.outline()).sources == ("docs", "wiki")


@pytest.mark.promise("resumable")
async def test_a_run_that_is_broken_off_is_continued() -> None:
    """What was done before the embedder failed is not done again."""
    index = MemoryIndex()
    embedder = HashEmbedder()

    class Failing(ListSource):
        """Breaks the embedder behind the first page."""

        async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
            yield page("a")
            embedder.fails = True
            yield page("b")

    with pytest.raises(EmbeddingUnavailable):
        [step async for step in Ingestion(index, embedder).run(Failing("docs", []))]
    embedder.fails = False

    steps = await ingest(index, page("a"), page("b"), embedder=embedder)

    assert steps[-1] == Summary(added=1, unchanged=1, passages=1)


async def test_an_index_that_cannot_be_reached_is_not_hidden() -> None:
    """The error comes out as the port raised it."""
    index = MemoryIndex()
    index.fails = True

    with pytest.raises(RetrievalUnavailable):
        await ingest(index, page("a"))
