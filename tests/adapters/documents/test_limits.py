"""Files that take more than a file may: each is named, and the others are read."""

from __future__ import annotations

import asyncio
import io
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.documents.folder import Folder
from adapters.documents.page import NotReadable
from adapters.documents.reading import DEFAULT_LIMITS, TOO_BIG, TOO_SLOW, Order, ReadingLimits, ReadingProcess
from core.model import Document, Unreadable

SHORT = ReadingLimits(seconds=1.0)
PARAGRAPH = "<w:p><w:r><w:t>x</w:t></w:r></w:p>"
WORDS = {
    "[Content_Types].xml": '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
    "_rels/.rels": '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument" Target="word/document.xml"/></Relationships>',
}


def swollen(paragraphs: int) -> bytes:
    """Give a small Word file that unpacks to very many paragraphs."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in WORDS.items():
            archive.writestr(name, text)
        space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        body = f'<w:document xmlns:w="{space}"><w:body>{PARAGRAPH * paragraphs}</w:body></w:document>'
        archive.writestr("word/document.xml", body)
    return out.getvalue()


async def read(folder: Path, files: dict[str, bytes], limits: ReadingLimits) -> dict[str, str]:
    """Write files, read them, and give the text or the reason for each."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    found: dict[str, str] = {}
    async for item in Folder(folder, name="docs", base_url="https://x.example", limits=limits).documents():
        match item:
            case Document():
                found[item.title] = item.text
            case Unreadable():
                assert item.url == f"https://x.example/{item.name}"  # so that what was known of it is kept
                found[item.name] = item.reason
    return found


@pytest.mark.promise("bounded-reading")
async def test_a_file_that_takes_too_long_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    """A Word file of 100 kB with very many paragraphs, and a page of tags in tags, lie among good pages."""
    nested = b"<div><b>" * 40_000 + b"deep"
    files = {"a.txt": b"first", "b.docx": swollen(300_000), "c.html": nested, "z.txt": b"last"}

    found = await read(tmp_path, files, SHORT)

    assert len(files["b.docx"]) < 100_000
    assert (found["A"], found["Z"]) == ("first", "last")
    assert found["b.docx"] == TOO_SLOW.format(SHORT.time_for(len(files["b.docx"])))
    assert "c.html" in found


@pytest.mark.promise("bounded-reading")
async def test_a_file_that_takes_too_much_memory_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    """The same Word file, and a text that takes little to read but very much to cut into passages."""
    files = {"b.docx": swollen(150_000), "c.txt": b"# a\n" * 120_000, "z.txt": b"last"}

    found = await read(tmp_path, files, replace(DEFAULT_LIMITS, memory=150_000_000))

    assert found == {"b.docx": TOO_BIG, "c.txt": TOO_BIG, "Z": "last"}


@pytest.mark.promise("bounded-reading")
async def test_a_file_that_ends_the_reader_is_named(tmp_path: Path) -> None:
    """As by a mistake in a library that is not written in Python; the next file has a new reader."""
    (tmp_path / "a.txt").write_text("first")
    reading = ReadingProcess(DEFAULT_LIMITS)
    order = Order(str(tmp_path / "a.txt"), "a.txt", "", "docs", None, 1.0)
    first = await reading.read(order)

    with pytest.raises(NotReadable) as refused:
        await asyncio.wait_for(reading.read(replace(order, seconds=float("inf"))), 30)
    again = await reading.read(order)
    await reading.aclose()

    assert str(refused.value) == TOO_BIG
    assert isinstance(first, Document)
    assert again == first


async def test_a_file_that_never_ends_is_given_up(tmp_path: Path) -> None:
    """Whoever wrote nothing into a pipe keeps nobody waiting for ever."""
    os.mkfifo(tmp_path / "a.txt")
    reading = ReadingProcess(DEFAULT_LIMITS)

    with pytest.raises(NotReadable) as refused:
        await reading.read(Order(str(tmp_path / "a.txt"), "a.txt", "", "docs", None, 0.3))

    assert str(refused.value) == TOO_SLOW.format(0.3)
