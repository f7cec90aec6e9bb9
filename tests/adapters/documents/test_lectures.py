"""Slides and transcripts: what becomes of them, and where their footnotes lead."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.util import Inches

from adapters.documents.folder import Folder
from adapters.documents.lectures import read_slides, read_transcript
from adapters.documents.page import NotReadable
from core.documents.chunking import Chunker
from core.model import Document

VTT = """WEBVTT

NOTE The lecture is at {}

00:00:01.000 --> 00:00:04.000
<v Ann>Goats eat thistles.

00:00:50.500 --> 00:00:53.000
<v Ann># They like them.

01:02:03.900 --> 01:02:09.000
<v Ben>And hens &amp; geese
eat corn.
"""
SRT = """1
00:00:01,000 --> 00:00:04,000
Goats eat

2
00:00:02,000 --> 00:00:06,000
Goats eat
thistles.
"""


@pytest.mark.promise("formats")
def test_a_transcript_is_read_by_the_second() -> None:
    """Each minute has its time as a heading, with a fragment that players understand, and who speaks is named."""
    page = read_transcript(VTT.format("https://x.example/one.mp4").encode())

    assert (page.url, page.text) == (
        "https://x.example/one.mp4",
        """## 0:01 {#t=1}\n\nAnn: Goats eat thistles.

## 0:50 {#t=50}\n\n\\# They like them.

## 1:02:03 {#t=3723}\n\nBen: And hens & geese eat corn.
""",
    )


@pytest.mark.parametrize(
    ("named", "url", "anchor"),
    [
        ("https://youtu.be/dQw4w9WgXcQ?t=3", "https://www.youtube.com/watch?v=dQw4w9WgXcQ", "{#t=1s}"),
        ("https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=9", "https://www.youtube.com/watch?v=dQw4w9WgXcQ", "{#t=1s}"),
        ("https://vimeo.com/76979871.", "https://vimeo.com/76979871", "{#t=1s}"),
        ("https://youtube.com.evil.example/watch?v=dQw4w9WgXcQ", "", "{#t=1}"),
        ("javascript:alert(1)", "", "{#t=1}"),
    ],
)
def test_a_note_names_the_video(named: str, url: str, anchor: str) -> None:
    """Of hosts whose links to a second are known, or a recording itself."""
    page = read_transcript(VTT.format(named).encode())

    assert (page.url, anchor in page.text) == (url, True)


def test_captions_that_roll_are_read_once() -> None:
    """What stood there before is not said again; SubRip is read as well."""
    assert read_transcript(SRT.encode()).text == "## 0:01 {#t=1}\n\nGoats eat thistles.\n"


@pytest.mark.parametrize("content", [b"", b"WEBVTT\n", b"Only words.\n", b"\x00\x01"])
def test_what_has_no_captions_is_no_transcript(content: bytes) -> None:
    """It is named, instead of becoming an empty page."""
    with pytest.raises(NotReadable):
        read_transcript(content)


@pytest.mark.promise("incremental")
async def test_a_transcript_leads_to_the_recording_beside_it(tmp_path: Path) -> None:
    """In whichever language it is; one that comes later counts, too."""
    (tmp_path / "one.en.vtt").write_text(VTT.format("home"))
    source = Folder(tmp_path, name="x", base_url="https://x.example/")
    [before] = [page async for page in source.documents() if isinstance(page, Document)]
    (tmp_path / "one.mp4").write_bytes(b"")

    [after] = [page async for page in source.documents({before.url: before.stamp}) if isinstance(page, Document)]

    assert (before.url, after.url) == ("https://x.example/one.en.vtt", "https://x.example/one.mp4")
    places = [passage.source_url for passage in Chunker(500, len).chunk(after, content_hash="")]
    assert places == [f"https://x.example/one.mp4#t={second}" for second in (1, 50, 3723)]


@pytest.mark.promise("formats")
def test_slides_are_read_with_titles_tables_and_notes() -> None:
    """One without a title has its number, and pictures are left out."""
    deck: Any = Presentation()
    deck.core_properties.title = "Farm"
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Goats"
    body = first.placeholders[1].text_frame
    body.text = "# Eat thistles"
    more = body.add_paragraph()
    more.text, more.level = "Sleep", 1
    first.notes_slide.notes_text_frame.text = "Say that they climb."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    table = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for row, words in enumerate((("Animal", "Food"), ("Hen", "Corn | wheat"))):
        for column, word in enumerate(words):
            table.cell(row, column).text = word
    file = io.BytesIO()
    deck.save(file)

    page = read_slides(file.getvalue())

    assert (page.title, page.text) == (
        "Farm",
        """## Goats {#slide=1}\n\n- \\# Eat thistles\n  - Sleep\n\nSay that they climb.

## Slide 2 {#slide=2}\n\n| Animal | Food |\n| --- | --- |\n| Hen | Corn \\| wheat |
""",
    )


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"text"])
def test_what_is_no_presentation_is_named(content: bytes) -> None:
    """In words that say what to do."""
    with pytest.raises(NotReadable, match="save it"):
        read_slides(content)
