"""When a page says that it was changed, its footnotes say so too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.discord.dialect import DISCORD
from adapters.documents.folder import Folder
from adapters.documents.frontmatter import changed, split
from adapters.documents.html import read
from adapters.qdrant.points import to_passage, to_payload
from adapters.slack.dialect import SLACK
from core.answering.citations import cite
from core.documents.chunking import Chunker
from core.model import Document, Hit, Passage


@pytest.mark.parametrize(
    ("meta", "day"),
    [
        ("last_update:\n  date: 2026-03-31\n  author: Ann", "2026-03-31"),
        ("last_update: {date: 3/31/2026}", ""),
        ("lastmod: 2026-03-31T12:00:00+02:00", "2026-03-31"),
        ("updated: soon", ""),
        ("date: 2026-03-31", ""),
        ("modified: [1, 2]", ""),
    ],
)
def test_pages_say_in_the_usual_ways_when_they_were_changed(meta: str, day: str) -> None:
    """The day on which one appeared is none on which it was changed."""
    found: Any = split(f"---\n{meta}\n---\n")[0]

    assert changed(found) == day


@pytest.mark.parametrize(
    "meta",
    [
        '<meta property="article:modified_time" content="2026-03-31T09:00:00Z">',
        '<meta content="2026-03-31" name="dcterms.modified">',
    ],
)
def test_pages_of_websites_say_it_in_their_heads(meta: str) -> None:
    """In the ways that are common there."""
    page = read(f"<html><head>{meta}</head><body><main><h1>A</h1>Text.</main></body></html>".encode())

    assert changed(page.meta) == "2026-03-31"


async def passage(folder: Path, meta: str) -> Passage:
    """Return the one passage of a page, as it comes back from the index."""
    (folder / "goats.md").write_text(f"---\ntitle: Goats\n{meta}---\n\nGoats eat thistles.\n")
    source = Folder(folder, name="farm", base_url="https://x.example")
    [page] = [found async for found in source.documents() if isinstance(found, Document)]
    [made] = Chunker(500, len).chunk(page, content_hash="")
    return to_passage(to_payload(made))


@pytest.mark.promise("footnotes")
async def test_a_footnote_says_when_its_page_was_changed(tmp_path: Path) -> None:
    """On every platform; and nothing where the page does not say so."""
    dated = cite(Hit(await passage(tmp_path, "lastmod: 2026-03-01\n"), 0.9), 1)
    plain = cite(Hit(await passage(tmp_path, ""), 0.9), 1)

    for dialect in (DISCORD, SLACK):
        [line], [bare] = dialect.sources([dated]), dialect.sources([plain])
        assert line.text == f"{bare.text}, changed 1 March 2026"
