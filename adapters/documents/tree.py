"""Finding the files of a folder, in a stable order, each once, and never outside of it."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "site-packages"))


@dataclass(frozen=True, slots=True)
class Finding:
    """A file and its place under the root, or a place that could not be looked at and why."""

    path: Path
    relative: PurePosixPath
    problem: str = ""


@dataclass(slots=True)
class Tree:
    """One walk through a folder."""

    root: Path
    suffixes: Collection[str]
    _files: dict[Path, Finding] = field(default_factory=dict[Path, Finding])
    _folders: set[Path] = field(default_factory=set[Path])
    _links: list[Path] = field(default_factory=list[Path])
    _problems: list[Finding] = field(default_factory=list[Finding])

    def findings(self) -> tuple[Finding, ...]:
        """Walk the folder; links count only for what is inside of it and has no other place there."""
        inside = self.root.resolve()
        self._walk(self.root, PurePosixPath())
        while self._links:
            self._follow(self._links.pop(0), inside)
        return tuple(sorted((*self._files.values(), *self._problems), key=lambda found: found.relative.parts))

    def _walk(self, folder: Path, relative: PurePosixPath) -> None:
        self._folders.add(folder.resolve())
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            self._problems.append(Finding(folder, relative, "cannot be opened; check its permissions."))
            return
        for entry in entries:
            path, place = Path(entry.path), relative / entry.name
            if entry.name.startswith((".", "_")) or entry.name in SKIPPED:
                continue
            if entry.is_symlink():
                self._links.append(path)
            elif entry.is_dir():
                self._walk(path, place)
            elif entry.is_file() and path.suffix.lower() in self.suffixes:
                self._files[path.resolve()] = Finding(path, place)

    def _follow(self, link: Path, inside: Path) -> None:
        relative = PurePosixPath(link.relative_to(self.root).as_posix())
        try:
            target = link.resolve(strict=True)
        except (OSError, RuntimeError):
            self._report(link, relative, "is a link that leads nowhere; mend or remove it.")
            return
        if not target.is_relative_to(inside):
            self._report(link, relative, "is a link that leads out of the folder, which is not followed.")
        elif target.is_dir() and target not in self._folders and not inside.is_relative_to(target):
            self._walk(link, relative)
        elif target.is_file() and link.suffix.lower() in self.suffixes and target not in self._files:
            self._files[target] = Finding(link, relative)

    def _report(self, link: Path, relative: PurePosixPath, problem: str) -> None:
        if link.suffix.lower() in self.suffixes or link.is_dir():
            self._problems.append(Finding(link, relative, problem))
