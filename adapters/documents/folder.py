"""A folder of files as a source of documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath

from adapters.documents import frontmatter
from adapters.documents.page import NotReadable, Page, title_of
from adapters.documents.readers import READERS
from adapters.documents.tree import Finding, Tree
from adapters.documents.urls import address
from core.errors import InvalidInput
from core.model import Document, Unreadable


class Folder:
    """The files under a folder that have a reader, or a single file."""

    def __init__(self, root: Path, *, name: str, base_url: str | None = None) -> None:
        self._root = root
        self._name = name
        self._base_url = base_url or None

    @property
    def name(self) -> str:
        """What the source is called in scopes."""
        return self._name

    async def size(self) -> int | None:
        """Count the files to read."""
        return len(await asyncio.to_thread(self._findings))

    async def documents(self) -> AsyncIterator[Document | Unreadable]:
        """Read one file at a time in a thread, sorted by path; a file that cannot be read does not stop the rest."""
        for finding in await asyncio.to_thread(self._findings):
            document = await asyncio.to_thread(self._document, finding)
            if document is not None:
                yield document

    def _findings(self) -> tuple[Finding, ...]:
        root = self._root.expanduser()
        if root.is_file():
            return (Finding(root, PurePosixPath(root.name)),)
        if not root.is_dir():
            message = f"There is no folder or file at {str(root)!r}; check the path of the documents."
            raise InvalidInput(message, field="source")
        return Tree(root, READERS).findings()

    def _document(self, finding: Finding) -> Document | Unreadable | None:
        """Read one file; None for a page that its author hides."""
        try:
            page = _read(finding)
            opens_at = frontmatter.opening(page.meta)
        except NotReadable as error:
            return self._unreadable(finding, str(error))
        except Exception:  # noqa: BLE001 - whatever a parser stumbles over in one file must not stop the others
            return self._unreadable(finding, "could not be parsed; open it in its own program and save it again.")
        if frontmatter.is_hidden(page.meta):
            return None
        return Document(
            source=self._name,
            url=address(finding.path, finding.relative, page.meta, self._base_url),
            title=page.title or title_of(finding.relative.stem),
            text=page.text,
            chapter=_chapter(finding.relative, page),
            opens_at=opens_at,
        )

    def _unreadable(self, finding: Finding, reason: str) -> Unreadable:
        url = address(finding.path, finding.relative, {}, self._base_url)
        return Unreadable(name=str(finding.relative), reason=reason, url=url)


def _read(finding: Finding) -> Page:
    if finding.problem:
        raise NotReadable(finding.problem)
    reader = READERS.get(finding.path.suffix.lower())
    if reader is None:
        known = ", ".join(sorted(READERS))
        raise NotReadable(f"is of a kind that cannot be read; these can: {known}.")
    try:
        size = finding.path.stat().st_size
        if size > reader.limit:
            message = (
                f"is {size / 1e6:.0f} MB large; the limit is {reader.limit // 1_000_000} MB. Split it, or take it out."
            )
            raise NotReadable(message)
        content = finding.path.read_bytes()
    except PermissionError as error:
        raise NotReadable("cannot be opened: permission denied.") from error
    except OSError as error:
        raise NotReadable("cannot be opened; it may have been moved while the folder was read.") from error
    return reader(content)


def _chapter(relative: PurePosixPath, page: Page) -> str:
    folder = relative.parts[0] if len(relative.parts) > 1 else ""
    return frontmatter.word(page.meta, "chapter") or folder
