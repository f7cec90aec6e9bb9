"""Make PDF, Word, notebook and HTML files from Markdown lessons: `python -m tests.make_documents LESSONS OUT`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pypandoc
import typst

KINDS = {".docx": "docx", ".ipynb": "ipynb", ".html": "html5", ".typ": "typst"}


def make(lessons: Sequence[Path], out: Path) -> None:
    """Convert every lesson to every kind; the name of the file stays."""
    out.mkdir(parents=True, exist_ok=True)
    pandoc: Any = pypandoc
    for lesson in lessons:
        for suffix, kind in KINDS.items():
            made = out / f"{lesson.stem}{suffix}"
            pandoc.convert_file(str(lesson), kind, format="markdown", outputfile=str(made), extra_args=["--standalone"])
        source = out / f"{lesson.stem}.typ"
        typst.compile(source, output=source.with_suffix(".pdf"))
        source.unlink()


if __name__ == "__main__":
    folder, target = map(Path, sys.argv[1:3])
    make(sorted(folder.rglob("*.md")), target)
    print(f"{len(list(target.iterdir()))} files in {target}")
