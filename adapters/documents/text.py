"""Bytes to text, and plain text files."""

from __future__ import annotations

import codecs
import re

from adapters.documents.page import NotReadable, Page, cleaned

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")  # not the escape character, which logs are full of
TOLERATED, ALWAYS_TOLERATED = (
    0.005,
    10,
)  # control characters in a text: a share, and a number; random bytes have a tenth


def decode(content: bytes) -> str:
    """Read UTF-8, UTF-16 or UTF-32 by their mark, else UTF-8, else Western European; refuse what is not text."""
    text = _marked(content)
    if text is None:
        if b"\x00" in content:
            raise NotReadable("is not text; save it as UTF-8, or take it out of the folder.")
        text = _unmarked(content)
    if len(CONTROLS.findall(text)) > ALWAYS_TOLERATED + TOLERATED * len(text):
        raise NotReadable("is not text; save it as UTF-8, or take it out of the folder.")
    return cleaned(text)


def _marked(content: bytes) -> str | None:
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, errors="replace")
    return None


def _unmarked(content: bytes) -> str:
    for encoding in ("utf-8", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def read(content: bytes) -> Page:
    """Read plain text as it is."""
    return Page(text=decode(content))
