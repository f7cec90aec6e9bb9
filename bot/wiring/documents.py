"""Where documents come from: what each kind of source is read by, and what an address stands for."""

from __future__ import annotations

from pathlib import Path

from core.model import Origin, SourceKind
from core.ports import DocumentSource


def folder(path: Path, *, name: str, base_url: str | None) -> DocumentSource:
    """Return a folder or file as a source of documents."""
    from adapters.documents.folder import Folder

    return Folder(path, name=name, base_url=base_url)


def opened(name: str, origin: Origin) -> DocumentSource:
    """Return the source that is meant by where it comes from."""
    return folder(Path(origin.address), name=name, base_url=origin.base_url or None)


def origin_of(path: Path, base_url: str | None) -> Origin:
    """Return where a folder or file is, from wherever the next command is typed."""
    return Origin(kind=SourceKind.FOLDER, address=str(path.expanduser().absolute()), base_url=base_url or "")
