"""The address of a page: by the rules of Docusaurus under a base URL, else a `file://` one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from adapters.documents.frontmatter import word

DATE = re.compile(r"^(?:\d{2}|\d{4})[-_.]\d{2}(?:[-_.](?:\d{2}|\d{4}))?")
VERSION = re.compile(r"^\d+[-_.]\d+")
NUMBERED = re.compile(r"^\d+\s*[-_.]+\s*(.+)$")
MARKDOWN = (".md", ".mdx", ".markdown")
SEGMENT = "-._~!$&'()*+,;=:@"  # what RFC 3986 allows in a segment of a path


def address(file: Path, relative: PurePosixPath, meta: Mapping[str, Any], base_url: str | None) -> str:
    """Give the address of a file whose place under the source's root is *relative*."""
    if base_url is None:
        return file.resolve().as_uri()
    path = _page(relative, meta) if relative.suffix.lower() in MARKDOWN else _file(relative)
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
