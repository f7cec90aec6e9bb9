"""What is peculiar to the embedded index: its files, whose they are, and what a crash leaves of them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.qdrant import EdgeIndex
from adapters.qdrant.edge import APART, MOST
from adapters.qdrant.shard import OLD, SHARD, TIDIED
from core.documents.chunking import embedding_text
from core.errors import Misconfigured, RetrievalUnavailable
from core.model import EmbeddedPassage, IndexQuery, Outline, Passage
from tests.builders import passage
from tests.fakes.embedder import HashEmbedder

EMBEDDER = HashEmbedder()
PAGE = "https://docs.example/a"


@asynccontextmanager
async def opened(
    folder: Path, *, embedder: str = EMBEDDER.name, dimension: int = 64, most: int = MOST, apart: int = APART
) -> AsyncGenerator[EdgeIndex]:
    """The index in a folder, closed at the end."""
    index = EdgeIndex(folder, embedder=embedder, dimension=dimension, most=most, apart=apart)
    try:
        yield index
    finally:
        await index.aclose()


def page(*texts: str, version: str) -> list[Passage]:
    """The passages of one page in one version."""
    return [
        passage(
            text,
            url=PAGE,
            passage_id=f"00000000-0000-0000-0000-00000000000{place}",
            position=place,
            page_length=len(texts),
            content_hash=version,
        )
        for place, text in enumerate(texts)
    ]


async def put(index: EdgeIndex, passages: list[Passage]) -> None:
    """Replace the page by these passages."""
    vectors = await EMBEDDER.embed_passages([embedding_text(one) for one in passages])
    await index.replace(passages[0].source, PAGE, [*map(EmbeddedPassage, passages, vectors)])


def folders(place: Path) -> list[str]:
    """The names of the folders in one."""
    return [each.name for each in place.iterdir() if each.is_dir()]


async def texts(index: EdgeIndex) -> set[str]:
    """All texts that a search finds."""
    query = IndexQuery("robots", await EMBEDDER.embed_query("robots"))
    return {one.passage.text for one in await index.candidates(query, limit=50)}


async def test_what_was_put_is_there_after_a_restart(tmp_path: Path) -> None:
    """The files outlive the process that wrote them."""
    async with opened(tmp_path) as index:
        await put(index, page("Robots act.", "Robots sense.", version="1"))

    async with opened(tmp_path) as index:
        assert await texts(index) == {"Robots act.", "Robots sense."}
        assert await index.outline() == Outline(passages=2, pages=1, sources=("docs",), chapters=("one",))


async def test_what_was_found_before_is_read_anew_once_it_is_replaced(tmp_path: Path) -> None:
    """Also where the new passage has the place of the old one, and one is gone."""
    async with opened(tmp_path) as index:
        await put(index, page("Robots act.", "Robots sense.", version="1"))
        before = await texts(index)
        await put(index, page("Robots rest.", version="2"))

        assert (before, await texts(index)) == ({"Robots act.", "Robots sense."}, {"Robots rest."})


async def test_a_large_index_is_tidied_up_by_another_process(tmp_path: Path) -> None:
    """The engine would let nothing else of this one go on; people search meanwhile, and pages come in afterwards."""
    async with opened(tmp_path, apart=1) as index:
        await put(index, page("Robots act.", "Robots sense.", version="1"))
        before = (tmp_path / SHARD).stat().st_ino
        tidying = asyncio.create_task(index.prune("docs", keep=[PAGE]))
        found = [await texts(index)]
        while not tidying.done():
            found.append(await texts(index))
        after = (tmp_path / SHARD).stat().st_ino
        unchanged = await index.prune("docs", keep=[PAGE])
        await put(index, page("Robots rest.", version="2"))

        assert {frozenset(each) for each in found} == {frozenset({"Robots act.", "Robots sense."})}
        assert (await tidying, unchanged, before != after) == (0, 0, True)
        assert (tmp_path / SHARD).stat().st_ino == after  # nothing had changed
        assert await texts(index) == {"Robots rest."}
        assert folders(tmp_path) == [SHARD]
    async with opened(tmp_path) as index:
        assert await texts(index) == {"Robots rest."}


async def test_what_cannot_be_tidied_up_is_done_all_the_same(tmp_path: Path) -> None:
    """No copy can be made while something else has its name; the next time it can be."""
    async with opened(tmp_path, apart=1) as index:
        await put(index, page("Robots act.", version="1"))
        before = (tmp_path / SHARD).stat().st_ino
        (tmp_path / TIDIED).write_text("in the way")
        await index.prune("docs", keep=[PAGE])
        untidy = (tmp_path / SHARD).stat().st_ino
        (tmp_path / TIDIED).unlink()
        await index.prune("docs", keep=[PAGE])

        assert (untidy == before, (tmp_path / SHARD).stat().st_ino == before) == (True, False)
        assert await texts(index) == {"Robots act."}


async def test_a_crash_while_the_files_are_exchanged_loses_nothing(tmp_path: Path) -> None:
    """The old ones are used again."""
    async with opened(tmp_path) as index:
        await put(index, page("Robots act.", version="1"))
    (tmp_path / SHARD).rename(tmp_path / OLD)

    async with opened(tmp_path) as index:
        assert await texts(index) == {"Robots act."}


@pytest.mark.promise("whole-pages")
@pytest.mark.parametrize("left", [(TIDIED,), (OLD,), (TIDIED, OLD)])
async def test_whoever_does_not_own_an_index_changes_none_of_its_files(tmp_path: Path, left: tuple[str, ...]) -> None:
    """What would be the rests of a crash otherwise may be what its owner is making, between any two steps."""
    async with opened(tmp_path) as index:
        await put(index, page("Robots act.", version="1"))
        for name in left:
            (tmp_path / name).mkdir()
        if OLD in left:
            (tmp_path / OLD).rmdir()
            (tmp_path / SHARD).rename(tmp_path / OLD)  # it is being exchanged
        before = folders(tmp_path)
        async with opened(tmp_path) as second:
            with pytest.raises(RetrievalUnavailable, match="is in use by another process"):
                await second.outline()

        assert folders(tmp_path) == before


async def test_an_index_that_could_not_be_opened_is_nobodys(tmp_path: Path) -> None:
    """Whoever can open it does."""
    async with opened(tmp_path) as index:
        await put(index, page("Robots act.", version="1"))
    async with opened(tmp_path, embedder="another") as other, opened(tmp_path) as index:
        with pytest.raises(Misconfigured):
            await other.outline()

        assert await texts(index) == {"Robots act."}


async def test_no_more_passages_are_remembered_than_there_is_room_for(tmp_path: Path) -> None:
    """What there is no room for is read again."""
    said = ["Robots act.", "Wheels turn.", "Grippers hold.", "Welding burns."]
    async with opened(tmp_path, most=2) as index:
        await put(index, page(*said, version="1"))
        for text in said * 2:
            found = await index.candidates(IndexQuery(text, await EMBEDDER.embed_query(text)), limit=1)

            assert (text in [one.passage.text for one in found], len(index.remembered) <= 2) == (True, True)


@pytest.mark.parametrize(("embedder", "dimension"), [("another-model", 64), (EMBEDDER.name, 32)])
async def test_an_index_of_another_embedder_is_refused(tmp_path: Path, embedder: str, dimension: int) -> None:
    """Vectors of two embedders are never mixed; the sentence names both and says what to do."""
    async with opened(tmp_path) as index:
        await put(index, page("Robots act.", version="1"))

    async with opened(tmp_path, embedder=embedder, dimension=dimension) as index:
        with pytest.raises(
            Misconfigured, match=rf"made with {EMBEDDER.name} .*{embedder}.*remove shard and label.json there and run"
        ) as caught:
            await index.outline()

    assert str(tmp_path) in str(caught.value)


async def test_a_damaged_label_is_told_in_words(tmp_path: Path) -> None:
    """Half a label is no reason for a traceback."""
    async with opened(tmp_path) as index:
        await index.outline()
    (tmp_path / "label.json").write_text('{"embedder": ')

    async with opened(tmp_path) as index:
        with pytest.raises(Misconfigured, match=r"damaged.*remove shard and label\.json there.*footnote ingest"):
            await index.outline()


async def test_a_second_owner_is_refused(tmp_path: Path) -> None:
    """Two indexes on one folder would damage it."""
    async with opened(tmp_path) as index:
        await index.outline()

        async with opened(tmp_path) as second:
            with pytest.raises(RetrievalUnavailable, match="is in use by another process"):
                await second.outline()


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from adapters.qdrant import edge
from qdrant_edge import UpdateOperation
from tests.adapters.test_edge import EMBEDDER, page, put

class Dying:
    upsert_points = staticmethod(UpdateOperation.upsert_points)
    @staticmethod
    def delete_points_by_filter(found):
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    index = edge.EdgeIndex(Path(sys.argv[1]), embedder=EMBEDDER.name, dimension=64)
    await put(index, page("Old a.", "Old b.", "Old c.", version="1"))
    import qdrant_edge
    qdrant_edge.UpdateOperation = Dying
    await put(index, page("New a.", version="2"))

asyncio.run(main())
"""


async def test_a_replacement_cut_in_two_is_finished_at_the_next_start(tmp_path: Path) -> None:
    """A process killed between writing the new passages and removing the old ones leaves no mixed page."""
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    killed = subprocess.run(command, cwd=Path(__file__).parents[2], check=False)
    assert killed.returncode == -9
    assert (tmp_path / "replacing.json").exists()

    async with opened(tmp_path) as index:
        assert await texts(index) == {"New a."}
        assert await index.pages("docs") == {PAGE: "2"}
    assert not (tmp_path / "replacing.json").exists()


async def test_half_a_note_means_that_nothing_had_happened(tmp_path: Path) -> None:
    """A crash while the note is written comes before any passage."""
    async with opened(tmp_path) as index:
        await put(index, page("Old a.", "Old b.", version="1"))
    (tmp_path / "replacing.json").write_text('{"url": "https://docs')

    async with opened(tmp_path) as index:
        assert await texts(index) == {"Old a.", "Old b."}


async def test_a_part_of_an_identifier_finds_the_whole(tmp_path: Path) -> None:
    """`camelCase` and `snake_case` names are found by their parts, by words alone."""
    async with opened(tmp_path) as index:
        await put(index, page("Call spin_until_future_complete here.", "Nothing else.", version="1"))

        found = await index.candidates(IndexQuery("future", None), limit=5)

    assert [one.passage.position for one in found] == [0]
