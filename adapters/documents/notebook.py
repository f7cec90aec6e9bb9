"""Jupyter notebooks: the text and the code of their cells, and what a cell printed if it is short."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from adapters.documents import frontmatter
from adapters.documents.markdown import rewritten
from adapters.documents.page import NotReadable, Page, cleaned, decode, first_heading, plain

OUTPUT_LINES = 12  # enough for a result; logs and printed tables only drown the text around them
ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
HEADING = re.compile(r"^ {0,3}(#{2,6}) +(\S[^\n]*)$")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


class Output(BaseModel):
    """What a cell printed."""

    output_type: str = ""
    text: str | list[str] = ""
    data: dict[str, Any] = {}


class Cell(BaseModel):
    """One cell; its lines may come joined or as a list."""

    cell_type: str
    source: str | list[str] = ""
    outputs: list[Output] = []


class Notebook(BaseModel):
    """The parts of a notebook's format that hold something to read."""

    cells: list[Cell]
    metadata: dict[str, Any] = {}


def read(content: bytes) -> Page:
    """Read the cells in their order."""
    try:
        notebook = Notebook.model_validate_json(decode(content))
    except ValidationError as error:
        raise NotReadable("is not a notebook of version 4; open it in Jupyter and save it again.") from error
    language = _language(notebook.metadata)
    text = "\n\n".join(part for cell in notebook.cells for part in _cell(cell, language)) + "\n"
    return Page(text=text, title=frontmatter.word(notebook.metadata, "title") or first_heading(text))


def _language(metadata: Mapping[str, Any]) -> str:
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        match metadata.get(key):
            case {**found} if language := frontmatter.word(found, name):
                return re.sub(r"[^\w+#-]", "", language).lower()
            case _:
                continue
    return "python"


def _cell(cell: Cell, language: str) -> list[str]:
    source = cleaned("".join(cell.source)).strip("\n")
    if not source.strip():
        return []
    match cell.cell_type:
        case "markdown":
            return [_anchored(rewritten(source, is_mdx=False)).strip("\n")]
        case "code":
            printed = (_printed(output) for output in cell.outputs)
            return [_fenced(source, language), *(_fenced(text, "text") for text in printed if text)]
        case _:
            return [source]


def _anchored(text: str) -> str:
    """Name the anchor of every heading as Jupyter does: its words joined by dashes."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        match = HEADING.match(line) if not fence else None
        anchor = re.sub(r"\s", "-", plain(match[2])) if match and "{#" not in line else ""
        lines.append(f"{line} {{#{anchor}}}" if anchor and not re.search(r"[{}]", anchor) else line)
    return "\n".join(lines)


def _printed(output: Output) -> str:
    """Return the text of an output; pictures, errors and rich formats show nothing."""
    text: Any = output.text if output.output_type == "stream" else ""
    if output.data and not any(kind.startswith(("image/", "application/")) for kind in output.data):
        text = output.data.get("text/plain", "")
    shown = text if isinstance(text, str) else "".join(map(str, text))
    lines = cleaned(ANSI.sub("", shown)).strip("\n").split("\n")
    kept = lines if len(lines) <= OUTPUT_LINES else [*lines[:OUTPUT_LINES], "..."]
    return "\n".join(line[:200] for line in kept).strip()


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{text}\n{marks}"
