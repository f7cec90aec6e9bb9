"""PDF files: the text of their pages, each under a heading that viewers can jump to."""

from __future__ import annotations

import re
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


def read(content: bytes) -> Page:
    """Read the text of all pages; refuse a file that has none."""
    with PDFIUM:
        title, pages = _extracted(content)
    texts = [
        _reflowed(PAGE_NUMBER.sub("", cleaned(HYPHENATED.sub(r"\1", page.replace("\r\n", "\n"))))) for page in pages
    ]
    if not any(texts):
        raise NotReadable("has no text, only pictures; run text recognition (OCR) on it first.")
    parts = [f"## Page {number} {{#page={number}}}\n\n{text}" for number, text in enumerate(texts, 1) if text]
    return Page(text="\n\n".join(parts) + "\n", title="" if NAMELESS.match(title) else title)


def _extracted(content: bytes) -> tuple[str, list[str]]:
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
        return title, [_text(document[number]) for number in range(len(document))]
    finally:
        document.close()


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
    width = sorted(map(len, lines))[len(lines) * 9 // 10]
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
