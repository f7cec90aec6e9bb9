"""A folder of files as a source of documents: which files are read, by what, and under which address."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from pkgutil import resolve_name
from typing import Any
from urllib.parse import quote, unquote

from adapters.documents import frontmatter
from adapters.documents.frontmatter import word
from adapters.documents.lectures import TRANSCRIPTS, media_of
from adapters.documents.made_of import PageFile, expanded, stamp_of
from adapters.documents.page import NotReadable, Page, decode, title_of
from adapters.documents.reading import DEFAULT_LIMITS, TOO_BIG, ReadingLimits, ReadingProcess, ReadRequest, serve
from core.documents.sections import read_page
from core.errors import InvalidInput
from core.model import Document, LeftOut, Unchanged, Unreadable
from core.ports import NOTHING_SEEN, Found

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


LONGEST_ENDING = 12  # characters
LOCKED = "cannot be opened; check its permissions."  # a folder, of whose pages nobody knows the addresses
SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "site-packages"))


TEXTS = (".txt",)  # what an export often adds to a page of another kind
HIDDEN, DOUBLE, NAMELESS = "hidden", "the same page as text", "without an ending"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file and its place under the root, or a place that could not be looked at and why.

    *skipped* says why a file is not read, if that is not because of a problem.
    """

    path: Path
    relative: PurePosixPath
    problem: str = ""
    skipped: str = ""


@dataclass(slots=True)
class FolderWalk:
    """One walk through a folder."""

    root: Path
    suffixes: Collection[str]
    _files: dict[Path, FoundFile] = field(default_factory=dict[Path, FoundFile])
    _folders: set[Path] = field(default_factory=set[Path])
    _links: list[FoundFile] = field(default_factory=list[FoundFile])
    _problems: list[FoundFile] = field(default_factory=list[FoundFile])
    _others: list[FoundFile] = field(default_factory=list[FoundFile])

    def findings(self) -> tuple[FoundFile, ...]:
        """Walk the folder; links count only for what is inside of it and has no other place there."""
        self._walk(self.root, PurePosixPath())
        while self._links:
            link = self._links.pop(0)
            problem = self._follow(link.path, link.relative, self.root.resolve())
            if problem and (link.path.suffix.lower() in self.suffixes or link.path.is_dir()):
                self._problems.append(FoundFile(link.path, link.relative, problem))
        found = (*map(self._weighed, self._files.values()), *self._others, *self._problems)
        return tuple(sorted(found, key=lambda each: each.relative.parts))

    def _weighed(self, found: FoundFile) -> FoundFile:
        """Skip a text beside which the same page stands in a form that has headings."""
        if found.path.suffix.lower() in TEXTS:
            others = (found.path.with_suffix(suffix) for suffix in self.suffixes if suffix not in TEXTS)
            if any(other.resolve() in self._files for other in others):
                return replace(found, skipped=DOUBLE)
        return found

    def _walk(self, folder: Path, relative: PurePosixPath) -> None:
        self._folders.add(folder.resolve())
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            self._problems.append(FoundFile(folder, relative, LOCKED))
            return
        for entry in entries:
            path, place = Path(entry.path), relative / entry.name
            if entry.name.startswith((".", "_")) or entry.name in SKIPPED:
                continue
            if entry.is_symlink():
                self._links.append(FoundFile(path, PurePosixPath(path.relative_to(self.root).as_posix())))
            elif entry.is_dir():
                self._walk(path, place)
            elif entry.is_file():
                suffix = path.suffix.lower()
                if suffix in self.suffixes:
                    self._files[path.resolve()] = FoundFile(path, place)
                else:
                    self._others.append(FoundFile(path, place, skipped=suffix[:LONGEST_ENDING] or NAMELESS))

    def _follow(self, link: Path, relative: PurePosixPath, inside: Path) -> str:
        """Take in what a link leads to; return why it is not followed, or nothing."""
        try:
            target = link.resolve(strict=True)
        except (OSError, RuntimeError):
            return "is a link that leads nowhere; fix or remove it."
        if not target.is_relative_to(inside):
            return "is a link that leads out of the folder, which is not followed."
        if target.is_dir() and target not in self._folders and not inside.is_relative_to(target):
            self._walk(link, relative)
        elif target.is_file() and link.suffix.lower() in self.suffixes and target not in self._files:
            self._files[target] = FoundFile(link, relative)
        return ""


DATE = re.compile(r"^(?:\d{2}|\d{4})[-_.]\d{2}(?:[-_.](?:\d{2}|\d{4}))?")
VERSION = re.compile(r"^\d+[-_.]\d+")
NUMBERED = re.compile(r"^\d+\s*[-_.]+\s*(.+)$")
MARKDOWN_SUFFIXES = (".md", ".mdx", ".markdown")
SEGMENT = "-._~!$&'()*+,;=:@"  # what RFC 3986 allows in a segment of a path


def address(file: Path, relative: PurePosixPath, meta: Mapping[str, Any], base_url: str | None) -> str:
    """Return the address of a file whose place under the source's root is *relative*; a transcript is a recording's."""
    if relative.suffix.lower() in TRANSCRIPTS:
        file = media_of(file)
        relative = relative.with_name(file.name)
    if base_url is None:
        return file.resolve().as_uri()
    path = _page(relative, meta) if relative.suffix.lower() in MARKDOWN_SUFFIXES else _file(relative)
    return base_url.rstrip("/") + "/" + "/".join(quote(part, safe=SEGMENT) for part in path.split("/"))


def unnumbered(segment: str) -> str:
    """Take a number for sorting off a name: `01-intro` is `intro`, but dates and versions stay."""
    if DATE.match(segment) or VERSION.match(segment):
        return segment
    match = NUMBERED.match(segment)
    return match[1] if match else segment


def _page(relative: PurePosixPath, meta: Mapping[str, Any]) -> str:
    slug = unquote(word(meta, "slug"))
    if slug.startswith("/"):
        return _resolved(slug)
    keeps_numbers = meta.get("parse_number_prefixes") is False
    strip = str if keeps_numbers else unnumbered
    folder = "".join(f"{strip(part)}/" for part in relative.parts[:-1])
    if slug:
        return _resolved(folder + slug)
    if relative.stem.lower() in ("index", "readme", relative.parent.name.lower()):
        return folder
    return folder + (word(meta, "id") or strip(relative.stem))


def _resolved(path: str) -> str:
    """Follow `.` and `..`, and never above the base."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) + ("/" if parts and path.endswith("/") else "")


def _file(relative: PurePosixPath) -> str:
    match relative.suffix.lower():
        case ".rst":
            return str(relative.with_suffix(".html"))
        case ".html" | ".htm" if relative.stem.lower() == "index":
            return "".join(f"{part}/" for part in relative.parts[:-1])
        case _:
            return str(relative)


class Folder:
    """The files under a folder that have a reader, or a single file."""

    def __init__(
        self, root: Path, *, name: str, base_url: str | None = None, limits: ReadingLimits = DEFAULT_LIMITS
    ) -> None:
        """Let each file take no more than the *limits*."""
        self._root = root
        self.name = name
        self._base_url = base_url or None
        self._limits = limits

    async def size(self) -> int | None:
        """Count the files to read."""
        return len(await asyncio.to_thread(self._findings))

    async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
        """Read one file at a time in another process, sorted by path; an unreadable one does not stop the rest."""
        findings = await asyncio.to_thread(self._findings)
        known = {stamp: url for url, stamp in seen.items()}
        reading = ReadingProcess(self._limits)
        try:
            for finding in findings:
                yield await self._found(finding, known, reading)
        finally:
            await reading.aclose()

    async def _found(self, finding: FoundFile, known: Mapping[str, str], reading: ReadingProcess) -> Found:
        """Return what there is to know of a file, which is read only if its stamp is not *known*."""
        name, stamp = str(finding.relative), ""
        if finding.skipped:
            return LeftOut(name=name, why=finding.skipped)
        if not finding.problem:
            stamp = await asyncio.to_thread(self._stamp, finding)
        if stamp in known:
            return Unchanged(url=known[stamp], name=name)
        document = await self._document(finding, reading)
        if document is None:
            return LeftOut(name=name, why=HIDDEN)
        return (
            document.model_copy(update={"stamp": stamp, "name": name}) if isinstance(document, Document) else document
        )

    def _stamp(self, finding: FoundFile) -> str:
        base = self._base_url or finding.path.resolve().as_uri()  # of what its address is made
        about = str(finding.relative), self.name, base
        if finding.path.suffix.lower() in TRANSCRIPTS:
            about += (media_of(finding.path).name,)
        return stamp_of(finding.path, self._top, *about)

    @property
    def _top(self) -> Path:
        root = self._root.expanduser().absolute()
        return root.parent if root.is_file() else root

    def _findings(self) -> tuple[FoundFile, ...]:
        root = self._root.expanduser().absolute()
        if root.is_file():
            return (FoundFile(root, PurePosixPath(root.name)),)
        if not root.is_dir():
            says = f"There is no folder or file at {str(self._root.expanduser())!r}; check the path of the documents."
            raise InvalidInput(says, field="source")
        return FolderWalk(root, READERS).findings()

    async def _document(self, finding: FoundFile, reading: ReadingProcess) -> Document | Unreadable | None:
        """Have one file read; None for a page that its author hides."""
        size = 0
        with suppress(OSError):  # the reader will say why
            size = (await asyncio.to_thread(finding.path.stat)).st_size
        seconds, path, relative = self._limits.time_for(size), str(finding.path), str(finding.relative)
        try:
            top = str(self._top)
            asked = ReadRequest(path, relative, finding.problem, self.name, self._base_url, seconds, top)
            return await reading.read(asked)
        except NotReadable as error:
            url = address(finding.path, finding.relative, {}, self._base_url)
            return Unreadable(name=str(finding.relative), reason=str(error), url=url)


def document(request: ReadRequest) -> Document | Unreadable | None:
    """Read a file in this process; None for a page that its author hides."""
    finding = FoundFile(Path(request.path), PurePosixPath(request.relative), request.problem)
    meta: Mapping[str, Any] = {}
    try:
        page = _read(finding, Path(request.root))
        meta = page.meta
        opens_at = frontmatter.opening(meta)
    except Exception as error:  # noqa: BLE001 - whatever a parser stumbles over in one file must not stop the others
        reason = "could not be parsed; open it in its own program and save it again."
        if isinstance(error, NotReadable | MemoryError):
            reason = str(error) if isinstance(error, NotReadable) else TOO_BIG
        return Unreadable(
            name=request.relative,
            reason=reason,
            url="" if finding.problem == LOCKED else address(finding.path, finding.relative, meta, request.base_url),
        )
    if frontmatter.is_hidden(meta):
        return None
    return Document(
        source=request.source,
        url=page.url or address(finding.path, finding.relative, meta, request.base_url),
        title=page.title or title_of(finding.relative.stem),
        text=page.text,
        chapter=word(meta, "chapter") or "".join(finding.relative.parts[:-1][:1]),
        opens_at=opens_at,
        changed_on=frontmatter.changed(meta),
    )


def _read(finding: FoundFile, root: Path) -> Page:
    if finding.problem:
        raise NotReadable(finding.problem)
    suffix = finding.path.suffix.lower()
    if suffix not in READERS:
        known = ", ".join(sorted(READERS))
        raise NotReadable(f"is of a kind that cannot be read; these can: {known}.")
    content = _content(finding.path, PACKED_LIMIT if suffix in PACKED else TEXT_LIMIT)
    if suffix == ".rst":
        content = expanded(decode(content), PageFile(finding.path, root)).encode()
    read: Callable[[bytes], Page] = resolve_name(f"adapters.documents.{READERS[suffix]}")
    page = read(content)
    if len(page.text) > TEXT_LIMIT:
        raise NotReadable(f"holds more than {TEXT_LIMIT // 1_000_000} million characters. Split it, or take it out.")
    if len(page.text) > LONG:  # then cutting it into passages may take too much too, which is tried here
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


if __name__ == "__main__":
    serve(document)
