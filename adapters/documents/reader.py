"""Reads strangers' files in a process of its own, which is told little and may take little.

It is started often, so this imports little: nothing of a format before there is a file of it, and nothing of the core.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from pkgutil import resolve_name
from typing import Any, BinaryIO

from adapters.documents import frontmatter
from adapters.documents.docusaurus import MARKDOWN_SUFFIXES, address
from adapters.documents.frontmatter import word
from adapters.documents.page import NotReadable, Page, decode, readable, title_of

PACKAGES = Path(__file__).parents[2]
KEPT = ("LANG", "LC_", "LD_", "PATH", "PYTHON", "COVERAGE_")
"""What a reader of files is told of the environment; keys and tokens are nothing for it."""
LENGTH = 4  # bytes in front of each reply
TOO_BIG = "needs too much memory to read, or is damaged; split it, or open it in its own program and save it again."
LOCKED = "cannot be opened; check its permissions."  # a folder, of whose pages nobody knows the addresses
TEXT_LIMIT = 20_000_000  # bytes: far above any page that people wrote; larger files are data
LONG = 20_000  # characters: what is shorter takes a few seconds at most, whatever it is
PACKED_LIMIT = 100_000_000  # bytes: PDF and Word files also hold pictures
READERS: Mapping[str, str] = {
    ".md": "markdown:read",
    ".markdown": "markdown:read",
    ".mdx": "markdown:read_mdx",
    ".html": "html:read",
    ".htm": "html:read",
    ".rst": "rst:read",
    ".txt": "page:read_plain",
    ".pdf": "pdf:read",
    ".ipynb": "notebook:read",
    ".docx": "html:read_word",
    ".pptx": "lectures:read_slides",
    ".vtt": "lectures:read_transcript",
    ".srt": "lectures:read_transcript",
}
"""The function that turns the bytes of a file into a page; its module is imported for the first such file."""
PACKED = frozenset((".pdf", ".docx", ".pptx"))


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """One file to read: its place on the disk and under the root, what is wrong with it, and whose page it becomes.

    The *macros* are put into reStructuredText. Nothing outside of the *root* is read for it.
    """

    path: str
    relative: str
    problem: str
    source: str
    base_url: str | None
    seconds: float
    root: str
    macros: Mapping[str, str] = field(default_factory=dict[str, str])


def reader_environment() -> dict[str, str]:
    """Return what a reader of files is told of the environment."""
    return {name: value for name, value in os.environ.items() if name.startswith(KEPT)}


def limit(*, memory: int | None = None, seconds: float | None = None) -> None:
    """Have this process end where it takes more bytes of memory, or more seconds of the processor from now on."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is not None:
        with suppress(ValueError, OSError):  # where the system knows no such limit
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    if seconds is not None:
        until = int(time.process_time() + seconds) + 1
        _, most = resource.getrlimit(resource.RLIMIT_CPU)  # what somebody has set for all processes cannot be raised
        resource.setrlimit(resource.RLIMIT_CPU, (until if most == resource.RLIM_INFINITY else min(until, most), most))


def document(request: ReadRequest) -> dict[str, Any] | None:
    """Read a file in this process; return what a `Document` or an `Unreadable` is made of, or None if it is hidden."""
    path, relative, root = Path(request.path), PurePosixPath(request.relative), Path(request.root)
    shown = PurePosixPath(readable(request.relative))
    page, meta, opens_at, reason = None, dict[str, Any](), None, ""
    try:
        page = _read(path, request)
        meta = page.meta
        opens_at = frontmatter.opening(meta)
    except Exception as error:  # noqa: BLE001 - whatever a parser stumbles over in one file must not stop the others
        reason = "could not be parsed; open it in its own program and save it again."
        if isinstance(error, NotReadable | MemoryError):
            reason = str(error) if isinstance(error, NotReadable) else TOO_BIG
    if page is None or reason:  # only here is the memory free again that the error has kept
        url = "" if request.problem == LOCKED else address(path, relative, meta, request.base_url, root)
        return {"name": str(shown), "reason": reason, "url": url}
    if frontmatter.is_hidden(meta):
        return None
    return {
        "source": request.source,
        "url": page.url or address(path, relative, meta, request.base_url, root),
        "title": page.title or title_of(shown.stem),
        "text": page.text,
        "chapter": word(meta, "chapter") or "".join(shown.parts[:-1][:1]),
        "opens_at": opens_at and opens_at.isoformat(),
        "changed_on": frontmatter.changed(meta),
        "macros": page.macros,
    }


def _read(path: Path, request: ReadRequest) -> Page:
    if request.problem:
        raise NotReadable(request.problem)
    suffix = path.suffix.lower()
    if suffix not in READERS:
        known = ", ".join(sorted(READERS))
        raise NotReadable(f"is of a kind that cannot be read; these can: {known}.")
    content = _content(path, PACKED_LIMIT if suffix in PACKED else TEXT_LIMIT)
    macros: set[str] = set()
    if suffix == ".rst":
        from adapters.documents.made_of import MACRO, PageFile, expanded

        text = expanded(decode(content), PageFile(path, Path(request.root)), request.macros)
        macros, content = set(MACRO.findall(text)), text.encode()
    elif suffix in MARKDOWN_SUFFIXES and b"import" in content:
        from adapters.documents.made_of import PageFile, with_partials

        content = with_partials(decode(content), PageFile(path, Path(request.root))).encode()
    read: Callable[[bytes], Page] = resolve_name(f"adapters.documents.{READERS[suffix]}")
    page = replace(read(content), macros=tuple(sorted(macros)))
    if len(page.text) > TEXT_LIMIT:
        raise NotReadable(f"holds more than {TEXT_LIMIT // 1_000_000} million characters. Split it, or take it out.")
    if len(page.text) > LONG:  # then cutting it into passages may take too much too, which is tried here
        from core.documents.sections import read_page

        read_page(page.text, page.title)
    return page


def _content(path: Path, limit: int) -> bytes:
    """Return the bytes of a file. Raises `NotReadable`."""
    try:
        size = path.stat().st_size
        if size > limit:
            says = f"is {size / 1e6:.0f} MB large; the limit is {limit // 1_000_000} MB. Split it, or take it out."
            raise NotReadable(says)
        return path.read_bytes()
    except PermissionError as error:
        raise NotReadable("cannot be opened: permission denied.") from error
    except OSError as error:
        raise NotReadable("cannot be opened; it may have been moved while the folder was read.") from error


def main() -> None:
    """Read what is asked for on standard input, a line each, until that ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library may print is no reply
    limit(memory=int(sys.argv[1]))
    _reply(replies, b"")
    for line in sys.stdin.buffer:
        request = ReadRequest(**json.loads(line))
        limit(seconds=request.seconds)
        _reply(replies, json.dumps(document(request), ensure_ascii=False).encode(errors="replace"))


def _reply(replies: BinaryIO, body: bytes) -> None:
    replies.write(len(body).to_bytes(LENGTH, "big") + body)
    replies.flush()


if __name__ == "__main__":
    main()
