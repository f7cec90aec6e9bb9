"""What a reader makes of a file: its bytes as text, its title, and the reason when it cannot be read."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Control characters, half surrogates, and invisible formatting that could hide text from a person who checks a page.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
HEADING = re.compile(r"^ {0,3}#[ \t]+(\S[^\n]*)$", re.MULTILINE)
SETEXT = re.compile(r"\A\s*(\S[^\n]*)\n=+ *$", re.MULTILINE)
FENCE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^ {0,3}\1[`~]* *$|\Z)", re.MULTILINE | re.DOTALL)
HEADING_LIMIT = 500  # characters: what is longer is no heading that a person wrote
ANCHOR = re.compile(r"\s*\{#[^}\s]*\}\s*$")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
MARKS = re.compile(r"\*\*|__|[*`]")


class NotReadable(Exception):
    """A file that no text can be taken from; the message is a reason that follows the file's name."""


@dataclass(frozen=True, slots=True)
class Page:
    """One file as Markdown; `meta` holds what the file says about itself, and `url` where it says that it is.

    `macros` are names in it for which its build would have put words that nobody knows.
    """

    text: str
    title: str = ""
    url: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    macros: tuple[str, ...] = ()


def readable(name: str) -> str:
    r"""Return a file's name or place as text; bytes that are none stand in it as `\xff`."""
    return os.fsencode(name).decode(errors="backslashreplace")


def names(line: str) -> frozenset[str]:
    """Read a set of names that is written as one line."""
    return frozenset(line.split())


def cleaned(text: str) -> str:
    """Normalise line ends and drop what nobody can see."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\v", "\n")
    return UNSEEN.sub("", text)


def first_heading(text: str) -> str:
    """Return the words of the first level-one heading outside of code, or nothing."""
    bare = FENCE.sub("", text)
    match = SETEXT.search(bare) or HEADING.search(bare)
    return plain(match[1].rstrip("# \t")) if match and match[1].strip("# \t") else ""


def plain(heading: str) -> str:
    """Take the Markdown out of one line: marks, links and a named anchor."""
    return MARKS.sub("", LINK.sub(r"\1", ANCHOR.sub("", heading[:HEADING_LIMIT]))).strip()


def title_of(stem: str) -> str:
    """Make a title of a file name: `02-getting_started` becomes `Getting started`."""
    words = re.sub(r"[-_\s]+", " ", re.sub(r"^\d+\s*[-_.]+\s*(?=\D)", "", stem)).strip()
    return words[:1].upper() + words[1:] or stem


BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")  # not the escape character, which logs are full of
TOLERATED = 0.005  # the share of control characters in a text; random bytes have a tenth
ALWAYS_TOLERATED = 10  # of them


def decode(content: bytes) -> str:
    """Read UTF-8, UTF-16 or UTF-32 by their mark, else UTF-8, else Western European; refuse what is not text."""
    mark, encoding = next((each for each in BYTE_ORDER_MARKS if content.startswith(each[0])), (b"", ""))
    if encoding:
        text = content[len(mark) :].decode(encoding, errors="replace")
    elif b"\x00" in content:
        raise NotReadable("is not text; save it as UTF-8, or take it out of the folder.")
    else:
        text = _unmarked(content)
    if len(CONTROLS.findall(text)) > ALWAYS_TOLERATED + TOLERATED * len(text):
        raise NotReadable("is not text; save it as UTF-8, or take it out of the folder.")
    return cleaned(text)


def _unmarked(content: bytes) -> str:
    for encoding in ("utf-8", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


HEADING_MARK = re.compile(r"^( {0,3})(#{1,6}(?=[ \t]|$)|=+(?=[ \t]*$)|-+(?=[ \t]*$)|<(?=[a-zA-Z/!?]))", re.MULTILINE)


def read_plain(content: bytes) -> Page:
    """Read plain text, in which nothing is a heading or a tag, whatever it begins with; a listing stays as it is."""
    text, at, plain_text = decode(content), 0, ""
    for fence in FENCE.finditer(text):
        plain_text += HEADING_MARK.sub(r"\1\\\2", text[at : fence.start()]) + fence[0]
        at = fence.end()
    return Page(text=plain_text + HEADING_MARK.sub(r"\1\\\2", text[at:]))
