"""Puts into the wheel what `footnote docs` and `footnote manifest` print; in a checkout, that is read where it lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PagesHook(BuildHookInterface[Any]):
    """Adds the pages to a wheel that is no link to a checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files, and where they go."""
        root = Path(self.root)
        if version == "standard":
            files = [*root.glob("docs/*.md"), *root.glob("docs/_recordings/*"), *root.glob("manifest*.json")]
            build_data["force_include"] |= {
                str(file): f"bot/pages/{file.relative_to(root).as_posix().removeprefix('docs/')}" for file in files
            }
