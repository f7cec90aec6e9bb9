"""Word documents: their headings, text, lists and tables; pictures are left out."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from adapters.documents.html import to_markdown
from adapters.documents.page import NotReadable, Page, cleaned, first_heading

UNPACKED_LIMIT = 300_000_000  # bytes: what a document may grow to, so that a small file cannot fill the memory
NOT_WORD = "is not a Word document of the .docx kind; open it in Word and save it again."


def read(content: bytes) -> Page:
    """Read a document by its styles."""
    import mammoth

    words: Any = mammoth
    _check(content)
    result = words.convert_to_html(
        io.BytesIO(content),
        style_map="p[style-name='Title'] => h1:fresh\np[style-name='Source Code'] => pre:separator('\\n')",
        convert_image=words.images.img_element(_no_picture),
    )
    text = cleaned(to_markdown(result.value))
    return Page(text=text, title=first_heading(text))


def _no_picture(_: Any) -> dict[str, str]:
    return {}


def _check(content: bytes) -> None:
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise NotReadable("is protected by a password or in Word's old format; save it as .docx without a password.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise NotReadable(NOT_WORD) from error
    if "word/document.xml" not in sizes:
        raise NotReadable(NOT_WORD)
    if sum(sizes.values()) > UNPACKED_LIMIT:
        raise NotReadable(f"unpacks to more than {UNPACKED_LIMIT // 1_000_000} MB; split it into smaller documents.")
