"""PDF files: the text of their pages, each under the heading of its outline, or its number, with a link to the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any

from adapters.documents.page import NotReadable, Page, cleaned

PDFIUM = Lock()  # the library may be called by one thread at a time
HYPHENATED = re.compile(r"(\w)[\u00ad\ufffe\u2010-]\n(?=[a-zà-ÿ])")
PAGE_NUMBER = re.compile(r"\A\s*\d{1,4}\s*\n|\n\s*\d{1,4}\s*\Z")
BLOCK_MARK = re.compile(r"^(\s*)(#{1,6}\s|`{3,}|~{3,}|>|=+\s*$|-+\s*$|<(?=[a-zA-Z/!?]))")
LIST_ITEM = re.compile(r"^\s*(?:[•▪◦‣●○·–*-]|\d{1,3}[.)])\s+")
SHORT, NEARLY_FULL = 0.6, 0.85  # shares of a full line: headings and code are short, last lines of paragraphs shorter
NAMELESS = re.compile(r"^(?:untitled|microsoft word|document\d*|.*\.(?:docx?|tex|indd|qxd|pdf|typ))", re.IGNORECASE)


LEADER = re.compile(r"(?:\.{3,}|(?: \.){3,}|…{2,})\s*(?:\d{1,4}|[ivxlc]{1,7})\s*$")
FEWEST, MOSTLY = 4, 0.5  # lines that end in a page's number, and their share, from which on a page lists what comes
DEEPEST = 6  # levels of headings
MOST_ENTRIES = 5_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the outline: the page that it leads to, from 0 on."""

    page: int
    level: int
    title: str


def read(content: bytes) -> Page:
    """Read the text of all pages; refuse a file that has none."""
    with PDFIUM:
        title, pages, outline = _extracted(content)
    if not any(page.strip() for page in pages):
        raise NotReadable("has no text, only pictures; run text recognition (OCR) on it first.")
    parts: list[str] = []
    last = Entry(0, 0, "")
    for number, page in enumerate(pages):
        entries = [entry for entry in outline if entry.page == number]
        if not _lists_contents(page):
            parts += _sections(page.replace("\r\n", "\n"), number, entries, last)
        last = entries[-1] if entries else last
    return Page(text="\n\n".join(parts) + "\n", title="" if NAMELESS.match(title) else title)


def _sections(page: str, number: int, entries: Sequence[Entry], last: Entry) -> Iterator[str]:
    """Yield the text of a page under the headings that begin there; what stands before is still under the *last*."""
    pieces: list[tuple[Entry, str]] = []
    rest, current = page, last
    for entry in entries:
        words = r"\s+".join(map(re.escape, entry.title.split()))
        found = re.search(rf"^[ \t]*(?:[\dA-Z.]+[ \t]+)?{words}[ \t]*$", rest, re.MULTILINE | re.IGNORECASE)
        before, rest = (rest[: found.start()], rest[found.end() :]) if found else ("", rest)
        pieces.append((current, before))
        current = entry
    for entry, text in (*pieces, (current, rest)):
        cleaned_text = _reflowed(PAGE_NUMBER.sub("", cleaned(HYPHENATED.sub(r"\1", text))))
        if cleaned_text or entry in entries:
            mark = "#" * min(entry.level + 2, DEEPEST)
            yield f"{mark} {entry.title or f'Page {number + 1}'} {{#page={number + 1}}}\n\n{cleaned_text}".rstrip()


def _lists_contents(page: str) -> bool:
    lines = [line for line in page.splitlines() if line.strip()]
    leading = sum(bool(LEADER.search(line)) for line in lines)
    return leading >= FEWEST and leading >= MOSTLY * len(lines)


def _extracted(content: bytes) -> tuple[str, list[str], list[Entry]]:
    import pypdfium2

    pdfium: Any = pypdfium2
    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == 4 or "password" in str(error).lower():  # noqa: PLR2004 - FPDF_ERR_PASSWORD
            raise NotReadable("is protected by a password; save it without one.") from error
        raise NotReadable("is not a PDF file, or is damaged; export it again.") from error
    try:
        title = cleaned(str(document.get_metadata_value("Title"))).strip()
        outline = list(_outline(document))
        return title, [_text(document[number]) for number in range(len(document))], outline
    finally:
        document.close()


def _outline(document: Any) -> Iterator[Entry]:
    """Yield the lines of the outline that lead to a page and have a title."""
    for bookmark in islice(document.get_toc(), MOST_ENTRIES):
        destination = bookmark.get_dest()
        page = destination.get_index() if destination else None
        title = " ".join(cleaned(str(bookmark.get_title() or "")).split()).replace("{", "(").replace("}", ")")
        if page is not None and title:
            yield Entry(page, bookmark.level, title)


def _text(page: Any) -> str:
    words = page.get_textpage()
    try:
        return str(words.get_text_bounded())
    finally:
        words.close()
        page.close()


def _reflowed(text: str) -> str:
    """Join the lines of a paragraph; a line that is too short to have been wrapped, or a list item, ends one."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    width = max(sorted(map(len, lines))[len(lines) * 9 // 10], 1)
    flowed = ""
    gap = ""
    for line in filter(None, lines):
        is_short = len(line) < SHORT * width
        if LIST_ITEM.match(line) or gap != " ":
            gap = "\n" if gap == "\n" and is_short else "\n\n"
            line = BLOCK_MARK.sub(r"\1\\\2", line)  # noqa: PLW2901 - the same line, harmless
        flowed += gap + line
        fullness = len(line) / width
        is_end = line[-1] in ".!?" and fullness < NEARLY_FULL
        gap = "\n\n" if is_end else "\n" if fullness < SHORT else " "
    return flowed.strip()
