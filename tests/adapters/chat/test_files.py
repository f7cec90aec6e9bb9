"""What is read of a file, whatever is in it."""

from __future__ import annotations

import asyncio
import codecs
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.files import LARGEST, MOST_READ, FileLink, NotRead, decoded, origin, read_files, selected
from core.errors import Unreachable
from core.model import Attachment, Unread
from core.model.question import ATTACHMENTS_LIMIT, LEFT_OUT
from tests.portion import examples

TEXT = "Überhitzt: 90 °C\n"
SOON = 0.05


def link(name: str = "error.log", **fields: Any) -> FileLink:
    """A file somewhere."""
    return FileLink(name, "https://files.example/1", **fields)


@pytest.mark.parametrize(
    "raw",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-32"),
        TEXT.encode("latin-1"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
    ],
)
def test_text_is_read_in_the_encoding_that_it_has(raw: bytes) -> None:
    """By its mark of byte order, else as UTF-8, else as what Windows and Latin-1 write."""
    assert decoded(raw) == TEXT


@pytest.mark.parametrize(
    "raw", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"PK\x03\x04\0\0", codecs.BOM_UTF16_LE + b"\xd8", b"\x01\x02\x03" * 9]
)
def test_what_is_no_text_is_not_read(raw: bytes) -> None:
    """Whatever its name says."""
    with pytest.raises(NotRead) as refused:
        decoded(raw)

    assert refused.value.why is Unread.KIND


@given(st.binary(max_size=400))
@settings(max_examples=examples(300), deadline=None)
def test_any_bytes_are_text_or_none(raw: bytes) -> None:
    """Nothing else is raised."""
    with suppress(NotRead):
        assert isinstance(decoded(raw), str)


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (link("photo.png", kind="image/png"), Unread.KIND),
        (link("clip.ts", kind="video/mp2t"), None),
        (link("clip.mp4", kind="video/mp4"), Unread.KIND),
        (link("report.pdf", kind="application/pdf; charset=binary"), Unread.KIND),
        (link("sheet.xlsx", kind="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"), Unread.KIND),
        (link("data.json", kind="application/json"), None),
        (link("Makefile"), None),
        (link(size=LARGEST + 1), Unread.SIZE),
        (link(why=Unread.GONE), Unread.GONE),
    ],
)
def test_what_cannot_be_text_is_not_fetched(file: FileLink, why: Unread | None) -> None:
    """TypeScript has the ending of a kind of videos."""
    assert file.unread is why


@pytest.mark.promise("attachments")
async def test_files_come_in_order_cleaned_and_no_more_than_are_read_at_once() -> None:
    """Colours of terminals go; those that cannot be text take nobody's place."""
    fetched: list[str] = []

    async def fetch(file: FileLink) -> tuple[str, bytes]:
        fetched.append(file.name)
        raw = b"\n" if file.name == "0" else b"\x1b[31mError\x1b[0m " + file.name.encode()
        return file.name, raw

    photo = link("photo.png", kind="image/png")
    links = [photo, *(link(str(number)) for number in range(MOST_READ + 1))]
    found = await read_files(links, fetch, within=SOON)

    assert fetched == [str(number) for number in range(MOST_READ)]
    assert found == (
        Attachment(name="photo.png", unread=Unread.KIND),
        Attachment(name="0", unread=Unread.EMPTY),
        *(Attachment(name=str(number), text=f"Error {number}") for number in range(1, MOST_READ)),
        Attachment(name=str(MOST_READ), unread=Unread.NUMBER),
    )


async def test_a_long_file_is_cut_before_it_is_cleaned() -> None:
    """Cleaning a whole megabyte would hold up everybody."""

    async def fetch(_: FileLink) -> tuple[str, bytes]:
        return "error.log", b"first" + b"x" * (LARGEST - 9) + b"last"

    (found,) = await read_files([link()], fetch, within=SOON)

    assert (len(found.text), found.is_cut) == (2 * ATTACHMENTS_LIMIT + len(LEFT_OUT), True)
    assert (found.text[:5], found.text[-4:]) == ("first", "last")


async def test_nobody_waits_long_for_a_file() -> None:
    """Others are read all the same, and what fails for a moment is tried again."""
    tries: list[str] = []

    async def fetch(file: FileLink) -> tuple[str, bytes]:
        tries.append(file.name)
        if file.name == "slow":
            await asyncio.Event().wait()
        if tries.count("broken") == 1 and file.name == "broken":
            raise Unreachable("status 503")
        return file.name, b"Text."

    found = await read_files([link("slow"), link("broken")], fetch, within=1.0)

    assert found == (Attachment(name="slow", unread=Unread.FAILED), Attachment(name="broken", text="Text."))
    assert tries == ["slow", "broken", "broken"]


def test_what_somebody_asks_about_has_its_files_below_it() -> None:
    """Each under its name; of one that was not read there is nothing to show."""
    files = (Attachment(name="a.py", text="x = 1\u200b"), Attachment(name="b.png", unread=Unread.KIND))

    assert selected(files) == ["a.py:\nx = 1"]


@pytest.mark.parametrize(
    "url", ["https://files.slack.com@evil.example/x", "https://files.slack.com.evil.example/x", "https://[evil/x", ""]
)
def test_no_other_place_passes_for_a_platforms_own(url: str) -> None:
    """Whatever an address looks like."""
    assert origin(url) != ("https", "files.slack.com")
