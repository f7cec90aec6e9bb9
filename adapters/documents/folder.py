"""A folder of files as a source of documents: which files are read, by what, and under which address."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from adapters.documents.docusaurus import BUILT, DocusaurusSite, address, config_of
from adapters.documents.lectures import TRANSCRIPTS, media_of
from adapters.documents.made_of import NO_MACROS, stamp_of
from adapters.documents.page import NotReadable, readable
from adapters.documents.reader import LOCKED, READERS, ReadRequest
from adapters.documents.reading import DEFAULT_LIMITS, ReadingLimits, ReadingProcess
from core.errors import InvalidInput
from core.model import Document, LeftOut, Unchanged, Unreadable
from core.ports import NOTHING_SEEN, Found

LONGEST_ENDING = 12  # characters
SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "site-packages"))
TEXTS = (".txt",)  # what an export often adds to a page of another kind
HIDDEN, DOUBLE, NAMELESS = "hidden", "the same page as text", "without an ending"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file and its place under the root, or a place that could not be looked at and why.

    *skipped* says why a file is not read, if that is not because of a problem; *site* is the stamp of its website.
    """

    path: Path
    relative: PurePosixPath
    problem: str = ""
    skipped: str = ""
    site: str = ""


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
            if any(Path(os.path.realpath(other)) in self._files for other in others):
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
                    self._others.append(FoundFile(path, place, skipped=readable(suffix)[:LONGEST_ENDING] or NAMELESS))

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


class Folder:
    """The files under a folder that have a reader, or a single file."""

    def __init__(
        self,
        root: Path,
        *,
        name: str,
        base_url: str | None = None,
        is_site: bool = True,
        macros: Mapping[str, str] = NO_MACROS,
        limits: ReadingLimits = DEFAULT_LIMITS,
    ) -> None:
        """Let each file take no more than the *limits*; what is at the base URL *is a site*, or shows all files.

        *macros* are put into reStructuredText as its build would do it.
        """
        self._root = root
        self.name = name
        self._base_url = base_url or None
        self._is_site = is_site
        self._macros = macros
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
        name, stamp = readable(str(finding.relative)), ""
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
        about = (str(finding.relative), self.name, base, *([finding.site] if finding.site else []))
        if finding.path.suffix.lower() in TRANSCRIPTS:
            about += (media_of(finding.path).name,)
        about += tuple(f"{name}={value}" for name, value in sorted(self._macros.items()))
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
        return tuple(self._published(FolderWalk(root, READERS).findings(), root))

    def _published(self, findings: Iterable[FoundFile], root: Path) -> Iterator[FoundFile]:
        """Skip what a website builds of its files; where that is the base URL, also what it does not publish."""
        is_cited = bool(self._base_url) and self._is_site
        configs, sites = dict[Path, Path | None](), dict[Path, DocusaurusSite]()
        for each in findings:
            home = each.path.parent
            config = configs[home] = configs[home] if home in configs else config_of(each.path, root)
            if config is None or each.problem or each.skipped:
                yield each
                continue
            site = sites[config] = sites.get(config) or DocusaurusSite.of(config)
            why = site.left_out(each.path)
            yield replace(each, skipped=why if is_cited or why == BUILT else "", site=site.stamp)

    async def _document(self, finding: FoundFile, reading: ReadingProcess) -> Document | Unreadable | None:
        """Have one file read; None for a page that its author hides."""
        size = 0
        with suppress(OSError):  # the reader will say why
            size = (await asyncio.to_thread(finding.path.stat)).st_size
        seconds, path, relative = self._limits.time_for(size), str(finding.path), str(finding.relative)
        try:
            top = str(self._top)
            asked = ReadRequest(path, relative, finding.problem, self.name, self._base_url, seconds, top, self._macros)
            return await reading.read(asked)
        except NotReadable as error:
            url = address(finding.path, finding.relative, {}, self._base_url, self._top)
            return Unreadable(name=readable(str(finding.relative)), reason=str(error), url=url)
