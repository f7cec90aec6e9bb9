"""A folder of files, with all that can be wrong with files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.documents.folder import Folder
from adapters.documents.reader import READERS
from core.documents.sections import read_page
from core.errors import InvalidInput
from core.model import Document, Unreadable


async def loaded(root: Path, base_url: str | None = "https://x.example") -> list[Document | Unreadable]:
    """Read everything under *root* that is meant to be read."""
    found = [item async for item in Folder(root, name="docs", base_url=base_url).documents()]
    return [item for item in found if isinstance(item, Document | Unreadable)]


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, each with its folders."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else os.fsencode(content))


def reasons(items: list[Document | Unreadable]) -> dict[str, str]:
    """Give the reason for every file that could not be read."""
    return {item.name: item.reason for item in items if isinstance(item, Unreadable)}


async def test_a_page_becomes_a_document_with_all_its_fields(tmp_path: Path) -> None:
    """Front matter, folder and base URL come together."""
    front = "---\ntitle: First steps\nopens_at: 2027-01-31\n---\n"
    write(tmp_path, {"module-1/01-first.md": f"{front}# Start\r\n\r\nText\x07 here.\n"})

    [page] = await loaded(tmp_path)
    assert isinstance(page, Document)
    assert [page.model_copy(update={"stamp": ""}), len(page.stamp)] == [
        Document(
            source="docs",
            url="https://x.example/module-1/first",
            title="First steps",
            text="# Start\n\nText here.\n",
            chapter="module-1",
            opens_at=datetime(2027, 1, 31, tzinfo=UTC),
            name="module-1/01-first.md",
        ),
        32,
    ]


async def test_the_title_falls_back_to_the_heading_and_then_to_the_name(tmp_path: Path) -> None:
    """A page always has a title that a person can read."""
    write(tmp_path, {"a.md": "```\n# no\n```\n\n# The **heading** {#x}\n", "02-my_page-two.txt": "text"})

    titles = [item.title for item in await loaded(tmp_path) if isinstance(item, Document)]

    assert titles == ["My page two", "The heading"]


async def test_files_come_sorted_and_only_those_that_are_pages(tmp_path: Path) -> None:
    """Hidden folders, packages, partials, drafts and unknown kinds are passed over without a word."""
    pages = {f"{name}.md": "# A\n" for name in ("b", "a/c", ".git/x", "node_modules/x", "a/_x", "__pycache__/x")}
    write(tmp_path, {**pages, "a.png": b"\x89PNG", "d.md": "---\ndraft: true\n---\nText"})

    urls = [item.url for item in await loaded(tmp_path) if isinstance(item, Document)]

    assert urls == ["https://x.example/a/c", "https://x.example/b"]


async def test_a_single_file_is_a_source_too(tmp_path: Path) -> None:
    """The path may name a file instead of a folder."""
    write(tmp_path, {"page.md": "# One\n", "other.md": "# Two\n"})

    items = await loaded(tmp_path / "page.md", base_url=None)

    assert [(item.url, item.title) for item in items if isinstance(item, Document)] == [
        ((tmp_path / "page.md").resolve().as_uri(), "One")
    ]


async def test_a_missing_folder_is_refused_by_name(tmp_path: Path) -> None:
    """A mistyped path is told at once."""
    with pytest.raises(InvalidInput, match=r"There is no folder or file at .*/nowhere") as caught:
        await loaded(tmp_path / "nowhere")

    assert caught.value.field == "source"


async def test_an_empty_folder_gives_nothing(tmp_path: Path) -> None:
    """What that means is for the caller to say."""
    assert await loaded(tmp_path) == []


async def test_what_is_not_text_or_damaged_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    """One bad file never stops the others, and its reason is a plain sentence."""
    write(
        tmp_path,
        {
            "nul.md": b"\x00\x01junk",
            "noise.md": bytes(range(1, 256)) * 40,
            "pdf.pdf": b"%PDF-1.4 cut off",
            "word.docx": b"PK\x03\x04 cut off",
            "old.docx": b"\xd0\xcf\x11\xe0 old",
            "book.ipynb": "{not json",
            "list.ipynb": "[1, 2]",
            "when.md": "---\nopens_at: soon\n---\nText",
            "good.md": "# Good\n",
            "\udcff/\udcfe.md": "As ever.",
            "\udcff/\udcfd.rst": ".. include:: \udcfc\n\nText",
            "\udcff.pdf": "none",
        },
    )

    items = await loaded(tmp_path)

    notebook = "is not a notebook of version 4; open it in Jupyter and save it again."
    assert reasons(items) == {
        "book.ipynb": notebook,
        "list.ipynb": notebook,
        "noise.md": "is not text; save it as UTF-8, or take it out of the folder.",
        "nul.md": "is not text; save it as UTF-8, or take it out of the folder.",
        "old.docx": "is protected by a password or in an old format; save it in the new one, without a password.",
        "pdf.pdf": "is not a PDF file, or is damaged; export it again.",
        r"\xff.pdf": "is not a PDF file, or is damaged; export it again.",
        "when.md": "has a release date that is not a date; write it as 2027-01-31.",
        "word.docx": "is not a Word document of the .docx kind; open it in Word and save it again.",
    }
    assert [
        (item.title, item.url.partition("example/")[2], len(item.stamp)) for item in items if isinstance(item, Document)
    ] == [
        ("Good", "good", 32),
        (r"\xfd", "%FF/%FD.html", 32),
        (r"\xfe", "%FF/%FE", 32),
    ]


@pytest.mark.promise("plain-errors")
async def test_a_parser_that_breaks_is_reported_without_its_own_words(tmp_path: Path) -> None:
    """HTML that is nested deeper than a parser can follow costs one page."""
    write(tmp_path, {"deep.html": "<div>" * 5_000 + "text", "good.md": "# Good\n"})

    items = await loaded(tmp_path)

    assert items[0] == Unreadable(
        name="deep.html",
        reason="could not be parsed; open it in its own program and save it again.",
        url="https://x.example/deep.html",
    )
    assert isinstance(items[1], Document)


async def test_a_page_with_a_wrong_date_has_the_address_that_it_gives_itself(tmp_path: Path) -> None:
    """So what was read of it before is found there, and kept."""
    write(tmp_path, {"guide/when.md": "---\nslug: later\nopens_at: soon\n---\nText"})

    (item,) = await loaded(tmp_path)

    assert (isinstance(item, Unreadable), item.url) == (True, "https://x.example/guide/later")


async def test_of_the_pages_in_a_folder_that_cannot_be_opened_no_address_is_known(tmp_path: Path) -> None:
    """None of them was removed, so that none may be taken out of the index: this one is too deep to be opened."""
    write(tmp_path, {"good.md": "# Good\n"})
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("a" * 250, dir_fd=here)
        above, here = here, os.open("a" * 250, os.O_RDONLY, dir_fd=here)
        os.close(above)
    os.close(here)

    *unread, page = await loaded(tmp_path)

    assert isinstance(page, Document)
    assert [(item.reason, item.url) for item in unread if isinstance(item, Unreadable)] == [
        ("cannot be opened; check its permissions.", "")
    ]


async def test_a_file_over_the_limit_is_not_even_opened(tmp_path: Path) -> None:
    """The reason names the size and the limit."""
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(50_000_000)

    expected = "is 50 MB large; the limit is 20 MB. Split it, or take it out."
    assert reasons(await loaded(tmp_path)) == {"huge.md": expected}


async def test_a_file_that_disappears_while_the_folder_is_read_is_reported(tmp_path: Path) -> None:
    """The list of files is older than their content."""
    write(tmp_path, {"a.md": "# A\n", "b.md": "# B\n"})
    async with aclosing(Folder(tmp_path, name="docs").documents()) as items:
        first = await anext(items)
        (tmp_path / "b.md").unlink()

        second = await anext(items)

    assert isinstance(first, Document)
    assert second == Unreadable(
        name="b.md",
        reason="cannot be opened; it may have been moved while the folder was read.",
        url=(tmp_path / "b.md").resolve().as_uri(),
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_what_may_not_be_opened_is_reported(tmp_path: Path) -> None:
    """A file and a folder without permission are named."""
    write(tmp_path, {"a.md": "# A\n", "b/c.md": "# C\n"})
    (tmp_path / "a.md").chmod(0)
    (tmp_path / "b").chmod(0)

    items = await loaded(tmp_path)
    (tmp_path / "b").chmod(0o700)

    assert reasons(items) == {
        "a.md": "cannot be opened: permission denied.",
        "b": "cannot be opened; check its permissions.",
    }


@pytest.mark.promise("stays-in-folder")
async def test_links_are_followed_once_and_never_out_of_the_folder(tmp_path: Path) -> None:
    """A loop ends, a second way to a page adds nothing, a way out is reported, and hidden stores still work."""
    root = tmp_path / "root"
    write(root, {"a/page.md": "# Page\n", ".store/real.md": "# Stored\n", "self.txt": "Text"})
    write(tmp_path, {"secret.md": "# Secret\n"})
    (root / "a" / "loop").symlink_to(root, target_is_directory=True)
    (root / "again.md").symlink_to(root / "a" / "page.md")
    (root / "b").symlink_to(root / "a", target_is_directory=True)
    (root / "self.md").symlink_to(root / "self.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "store.md").symlink_to(root / ".store" / "real.md")

    items = await loaded(root, base_url=None)

    assert [item.title for item in items if isinstance(item, Document)] == ["Page", "Self", "Stored"]
    assert reasons(items) == {
        "out.md": "is a link that leads out of the folder, which is not followed.",
        "self.md": "is a link that leads nowhere; fix or remove it.",
    }


@pytest.mark.parametrize(
    "content",
    [
        "# Grüße\n".encode("utf-8-sig"),
        "# Grüße\n".encode("utf-16"),
        "# Grüße\n".encode("utf-32"),
        "# Grüße\n".encode("latin-1"),
        "# Grüße\r\n".encode(),
        "# Gr\u00adüße\u200b\n".encode(),
    ],
)
async def test_every_common_encoding_gives_the_same_text(tmp_path: Path, content: bytes) -> None:
    """Marks, line ends and invisible characters do not reach the index."""
    write(tmp_path, {"a.md": content})

    assert [item.text for item in await loaded(tmp_path) if isinstance(item, Document)] == ["# Grüße\n"]


async def test_a_file_of_an_unknown_kind_named_by_itself_is_reported(tmp_path: Path) -> None:
    """The reason lists what can be read."""
    write(tmp_path, {"a.png": b"x"})

    expected = f"is of a kind that cannot be read; these can: {', '.join(sorted(READERS))}."
    assert reasons(await loaded(tmp_path / "a.png")) == {"a.png": expected}


async def test_the_textbook_has_the_addresses_of_its_website(shared_data: Path) -> None:
    """All 44 pages are read, each with an address of its own."""
    root = shared_data / "docusaurus-textbook" / "docs"

    items = await loaded(root)

    urls = [item.url for item in items if isinstance(item, Document)]
    assert len(items) == len(set(urls)) == 44
    assert "https://x.example/module-4-vla/week-13-lesson-2-gpt-integration" in urls
    assert "https://x.example/intro/" in urls
    assert {item.chapter for item in items if isinstance(item, Document)} == {path.name for path in root.iterdir()}


async def test_all_lessons_of_the_course_are_read(shared_data: Path) -> None:
    """325 lessons in ten chapters, and nothing that could not be read."""
    root = shared_data / "course-physical-ai" / "lessons"

    items = [item for item in await loaded(root) if isinstance(item, Document)]

    assert len(items) == 325
    assert sorted({item.chapter for item in items}) == [f"module{number:02}" for number in range(1, 11)]


async def test_plain_text_has_no_headings(tmp_path: Path) -> None:
    """A prompt, a ruler and a tag are words; a listing between marks stays as it is."""
    text = "Type:\n\n# ls\n\nTitle\n=====\n\n<b>bold\n\n```sh\n# ls\n```\n\n-----\n#hash"
    write(tmp_path, {"a.txt": text})

    [page] = await loaded(tmp_path)

    assert isinstance(page, Document)
    assert page.text == text.replace("\n# ls\n\nT", "\n\\# ls\n\nT").replace("=====", "\\=====").replace(
        "<b>", "\\<b>"
    ).replace("-----", "\\-----")
    assert [section.anchor for section in read_page(page.text, page.title).sections] == [""]
