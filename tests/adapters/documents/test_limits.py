"""Files that take more than a file may: each is named, and the others are read."""

from __future__ import annotations

import asyncio
import io
import os
import shlex
import sys
import zipfile
from asyncio.subprocess import PIPE
from dataclasses import replace
from pathlib import Path

import pytest
import uvloop

from adapters.documents.folder import Folder
from adapters.documents.page import NotReadable
from adapters.documents.reader import PACKAGES, TOO_BIG, ReadRequest
from adapters.documents.reading import DEFAULT_LIMITS, TOO_SLOW, ReadingLimits, ReadingProcess
from core.errors import Misconfigured
from core.model import Document, Unreadable

SHORT = ReadingLimits(seconds=0.5)
READ = """
import asyncio, pathlib, sys
from adapters.documents.folder import Folder

async def read():
    async for page in Folder(pathlib.Path(sys.argv[1]), name="docs").documents():
        print(page.text)

asyncio.run(read())
"""
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
                place = item.name.removesuffix(".md")
                assert item.url == f"https://x.example/{place}"  # so that what was known of it is kept
                found[item.name] = item.reason
            case _:
                pass
    return found


@pytest.mark.promise("bounded-reading")
async def test_a_file_that_takes_too_long_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    """A large Word file packed to 100 kB, tags in tags, and a page that is slow to cut, lie among good pages."""
    nested = b"<div><b>" * 40_000 + b"deep"
    quoted = b">" * 90 + b" a\n" + b"b\n" * 40_000
    files = {"a.txt": b"first", "b.docx": swollen(300_000), "c.html": nested, "d.md": quoted, "z.txt": b"last"}

    found = await read(tmp_path, files, SHORT)

    assert len(files["b.docx"]) < 100_000
    assert (found["A"], found["Z"]) == ("first", "last")
    assert found["b.docx"] == TOO_SLOW.format(SHORT.time_for(len(files["b.docx"])))
    assert found["d.md"] == TOO_SLOW.format(SHORT.time_for(len(quoted)))
    assert "c.html" in found


@pytest.mark.promise("bounded-reading")
@pytest.mark.timeout(100)
async def test_a_file_that_takes_too_much_memory_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    """The same Word file, and a page that takes little to read but very much to cut into passages."""
    files = {"b.docx": swollen(75_000), "c.md": b"# a\n" * 60_000, "z.txt": b"last"}

    found = await read(tmp_path, files, replace(DEFAULT_LIMITS, memory=75_000_000, seconds=60.0))

    assert found == {"b.docx": TOO_BIG, "c.md": TOO_BIG, "Z": "last"}


@pytest.mark.promise("bounded-reading")
def test_a_file_that_ends_the_reader_is_named(tmp_path: Path) -> None:
    """As by a mistake in a library in C, in the loop of the product; the next file has a new reader."""
    (tmp_path / "a.txt").write_text("first")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_ends_the_reader(tmp_path))


async def _ends_the_reader(tmp_path: Path) -> None:
    reading = ReadingProcess(DEFAULT_LIMITS)
    request = ReadRequest(str(tmp_path / "a.txt"), "a.txt", "", "docs", None, 1.0, str(tmp_path))
    first = await reading.read(request)

    with pytest.raises(NotReadable) as refused:
        await asyncio.wait_for(reading.read(replace(request, seconds=float("inf"))), 30)
    again = await reading.read(request)
    await reading.aclose()

    assert str(refused.value) == TOO_BIG
    assert isinstance(first, Document)
    assert again == first


async def test_a_file_that_never_ends_is_given_up(tmp_path: Path) -> None:
    """Whoever wrote nothing into a pipe keeps nobody waiting for ever."""
    os.mkfifo(tmp_path / "a.txt")
    reading = ReadingProcess(DEFAULT_LIMITS)

    with pytest.raises(NotReadable) as refused:
        await reading.read(ReadRequest(str(tmp_path / "a.txt"), "a.txt", "", "docs", None, 0.3, str(tmp_path)))

    assert str(refused.value) == TOO_SLOW.format(0.3)


async def test_no_file_is_blamed_where_nothing_can_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python that does not find itself is told, and what to do about it."""
    (tmp_path / "a.md").write_text("# Robots\n\nRobots act.\n")
    monkeypatch.setenv("PYTHONHOME", str(tmp_path / "nowhere"))

    with pytest.raises(Misconfigured, match="does not start"):
        await read(tmp_path, {}, DEFAULT_LIMITS)


async def test_a_reader_that_did_not_start_is_started_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left of the one before, so the next file is not blamed either."""
    (tmp_path / "a.txt").write_text("first")
    reading = ReadingProcess(DEFAULT_LIMITS)
    request = ReadRequest(str(tmp_path / "a.txt"), "a.txt", "", "docs", None, 1.0, str(tmp_path))
    with monkeypatch.context() as wrong:
        wrong.setenv("PYTHONHOME", str(tmp_path / "nowhere"))
        for _ in range(2):
            with pytest.raises(Misconfigured, match="does not start"):
                await reading.read(request)
    found = await reading.read(request)
    await reading.aclose()

    assert isinstance(found, Document)


async def test_files_are_read_where_somebody_limits_all_processes(tmp_path: Path) -> None:
    """A limit of the processor's seconds that cannot be raised again is kept to."""
    (tmp_path / "a.md").write_text("# Robots\n\nRobots act.\n")
    command = f"ulimit -t 1000; exec {shlex.quote(sys.executable)} -c {shlex.quote(READ)} {shlex.quote(str(tmp_path))}"
    reading = await asyncio.create_subprocess_exec("sh", "-c", command, cwd=PACKAGES, stdout=PIPE)
    out, _ = await reading.communicate()

    assert out.decode().split() == ["#", "Robots", "Robots", "act."]
