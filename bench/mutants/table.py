"""The tables of what is changed, of the tests that have to notice, and of the changes that change nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.mutants import lua, python
from bench.mutants.mutant import Place

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Group:
    """Files that the same tests touch; of these, those are run whose names fit `only`, as pytest's `-k` has it."""

    name: str
    sources: Sequence[Path]
    scripts: Sequence[Path]
    tests: Sequence[Path]
    only: str = ""

    def in_python(self) -> dict[Path, list[Place]]:
        """Return every place that can be changed, of each source."""
        return {path: python.places(path, (ROOT / path).read_text()) for path in self.sources}

    def in_lua(self) -> dict[Path, list[Place]]:
        """Return every comparison and number, of each script."""
        return {path: lua.places(path, (ROOT / path).read_text()) for path in self.scripts}


def groups() -> tuple[Group, ...]:
    """Return the groups. Raises `FileNotFoundError` for a name in the table that no file has."""
    return tuple(
        Group(
            name=group["name"],
            sources=_paths(group["sources"]),
            scripts=_paths(group["scripts"]),
            tests=_paths(group["tests"]),
            only=group.get("only", ""),
        )
        for group in _read("table.toml")["group"]
    )


def equivalents() -> dict[tuple[str, str, str], str]:
    """Return why a mutant is equivalent, by its key. Raises `LookupError` for one whose line is gone."""
    listed = _read("equivalent.toml").get("equivalent", ())
    found = {(each["path"], each["was"], each["becomes"]): str(each["why"]) for each in listed}
    for path, was, _ in found:
        if was not in (line.strip() for line in (ROOT / path).read_text().splitlines()):
            raise LookupError(f"No line of {path} is {was!r} any more; take it out of the list of equivalents.")
    return found


def _paths(names: Sequence[str]) -> tuple[Path, ...]:
    found = [sorted(ROOT.glob(name)) for name in names]
    if missing := [name for name, paths in zip(names, found, strict=True) if not paths]:
        raise FileNotFoundError(f"The table of mutants names files that are not there: {', '.join(missing)}")
    return tuple(path.relative_to(ROOT) for paths in found for path in paths)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text())
