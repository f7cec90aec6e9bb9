"""Kinds of sources that other packages bring: how they are found, and what they may do without any harm."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import pytest

from bot.settings import Settings
from bot.wiring.documents import BroughtSource, name_of, opened, origin_of
from core.documents.ingest import Ingestion
from core.errors import InvalidInput, Misconfigured, SourceUnavailable
from core.model import Document, Origin, SourceKind, Unreadable
from core.ports import NOTHING_SEEN, Found
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex


@pytest.fixture(name="installed")
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a package that brings two kinds, one of which does not work."""
    package = tmp_path / "somebodys_kinds-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-kinds\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[footnote.sources]\nnotes = tests.notes:JsonNotes\nbroken = tests.notes:Missing\n"
    )
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType] - pytest leaves it untyped
    return tmp_path


async def test_a_kind_that_a_package_brings_is_known_by_the_first_word_of_an_address(installed: Path) -> None:
    """It is opened with the address and a name."""
    (installed / "file.json").write_text(json.dumps({"a.md": "# A"}))
    origin = origin_of(f"notes:{installed}/file.json", None)

    source = opened(Settings(), "mine", origin)

    assert origin == Origin(kind=SourceKind.BROUGHT, address=f"notes:{installed}/file.json")
    assert [found.name async for found in source.documents()] == ["a.md"]
    assert (source.name, await source.size()) == ("mine", 1)
    assert name_of(Origin(kind=SourceKind.BROUGHT, address="notes:team/one")) == "notes-team-one"


def test_a_kind_that_nobody_brings_is_named(installed: Path) -> None:
    """Before it is added, after its package has gone, and where that does not load."""
    with pytest.raises(InvalidInput, match="No kind of source called 'wiki' is installed"):
        origin_of("wiki://team", None)
    with pytest.raises(Misconfigured, match="a package that is no longer installed"):
        BroughtSource.opened("x", "wiki:team")
    with pytest.raises(Misconfigured, match=r"'broken' failed \(AttributeError\)"):
        BroughtSource.opened("x", "broken:team")


def test_a_path_that_is_not_utf_8_is_refused_by_its_name() -> None:
    """It could not be stored, for the next time."""
    with pytest.raises(InvalidInput, match=r"\\xff contains bytes that are not UTF-8"):
        origin_of("docs/\udcff", None)


class Careless:
    """Yields pages of another source, and one without an address; then it fails."""

    name = "other"

    async def size(self) -> int | None:
        """Nobody knows."""
        return None

    async def documents(self, seen: object = None) -> AsyncGenerator[Found]:
        """Yield two pages."""
        yield Document(source="other", url="https://x.example/a", title="A", text="")
        yield Document(source="other", url="javascript:alert(1)", title="B", text="")
        raise ZeroDivisionError


class Dated:
    """Keeps what it was told of pages that were read before, each with its date as a stamp."""

    name = "dated"

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}

    async def size(self) -> int | None:
        """Nobody knows."""
        return None

    async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
        """Yield a page."""
        self.seen = dict(seen)
        yield Document(source="dated", url="https://x.example/a", title="A", text="Goats.", stamp="2026-11-27")


async def test_a_package_is_told_its_own_stamps_alone() -> None:
    """Not that of a page which was embedded in another way, as it may read a date in it."""
    dated, index = Dated(), MemoryIndex()
    told = list[dict[str, str]]()
    for embedder in (HashEmbedder(), HashEmbedder(), HashEmbedder(window=120)):
        async for _ in Ingestion(index, embedder).run(BroughtSource(dated, name="dated", kind="dated")):
            pass
        told.append(dated.seen)

    assert told == [{}, {"https://x.example/a": "2026-11-27"}, {}]


async def test_what_a_package_does_wrong_ends_in_a_sentence() -> None:
    """Its pages belong to its own source alone, and lead to the web."""
    documents = BroughtSource(Careless(), name="mine", kind="careless").documents()
    found = [await anext(documents), await anext(documents)]

    with pytest.raises(SourceUnavailable, match=r"'careless' failed \(ZeroDivisionError\)"):
        await anext(documents)
    assert found == [
        Document(source="mine", url="https://x.example/a", title="A", text=""),
        Unreadable(name="B", reason="has no web address that footnotes could lead to."),
    ]
