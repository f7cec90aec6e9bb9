"""Docusaurus: which files its website publishes, and at which addresses, as its configuration says, which is not run.

Where there is no configuration, the addresses are those of documentation at the base URL.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from adapters.documents.frontmatter import word
from adapters.documents.lectures import TRANSCRIPTS, media_of

CONFIGS = tuple(f"docusaurus.config.{kind}" for kind in ("js", "ts", "mjs", "cjs"))
USUAL = "website"  # the folder in which a site often lies beside what it tells of
LARGEST = 200_000  # bytes of a configuration
MOST = 100  # plugins, and versions
ODD = (OSError, ValueError, RuntimeError)  # names that are too long or none, links in a circle, brackets without end
NOT_PUBLISHED, OTHER_VERSION, TRANSLATED = "not on the website", "of another version", "a translation"
BUILT = "built from other files"
CODE = re.compile(
    r"""('(?:\\.|[^'\\\n])*+'|"(?:\\.|[^"\\\n])*+"|`(?:\\.|[^`\\])*+`|\\.)|//[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL
)
BRACKETS = re.compile(r"[][{}()]")
PRESETS = re.compile(r"\bpresets\s*:")
PLUGIN = re.compile(r"plugin-content-(docs|blog|pages)['\"]\s*\)?\s*,\s*(?=\{)")
STATIC = re.compile(r"\bstaticDirectories\s*:\s*\[([^\]]*)\]")
STRING = re.compile(r"""['"`]([^'"`]+)['"`]""")


class Content(StrEnum):
    """What a folder of a site holds, each with addresses of its own kind."""

    DOCS = "docs"
    BLOG = "blog"
    PAGES = "pages"
    FILES = "files"


USUAL_PLACES = {Content.DOCS: ("docs", "docs"), Content.BLOG: ("blog", "blog"), Content.PAGES: ("src/pages", "")}
"""The folder and the route of each kind, unless the configuration names others."""


@dataclass(frozen=True, slots=True)
class SitePart:
    """A folder of a site, the route below the base URL at which it is published, and why it is not read, if so."""

    content: Content
    folder: Path
    route: str = ""
    keeps_numbers: bool = False
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class DocusaurusSite:
    """What a website publishes; of a file the deepest folder decides. The `stamp` changes with what says so."""

    parts: tuple[SitePart, ...]
    stamp: str

    @classmethod
    def of(cls, config: Path) -> DocusaurusSite:
        """Return the site that has this configuration."""
        parts = sorted(_parts(config.parent, _code(config)), key=lambda part: -len(part.folder.parts))
        digest = hashlib.sha256()
        for file in (config, *sorted(config.parent.glob("*versions.json"))[:MOST]):
            digest.update(os.fsencode(file.name) + _text(file).encode(errors="replace"))
        return cls(tuple(parts), digest.hexdigest())

    def place(self, path: Path) -> tuple[SitePart, PurePosixPath] | None:
        """Return the part of the site to which a file belongs, with its place there; None where there is none."""
        path = _place(path.parent, "") / path.name
        part = next((part for part in self.parts if path.is_relative_to(part.folder)), None)
        return part and (part, PurePosixPath(path.relative_to(part.folder).as_posix()))

    def left_out(self, path: Path) -> str:
        """Return why a file is not read, or nothing."""
        place = self.place(path)
        return place[0].left_out if place else NOT_PUBLISHED


def config_of(path: Path, root: Path) -> Path | None:
    """Return the nearest configuration above a file, or in `website` there, but none that is outside of the *root*."""
    with suppress(*ODD):
        root, home = root.resolve(), path.parent.resolve()
        for folder in (home, *home.parents):
            if not folder.is_relative_to(root):
                break
            for found in (place / name for place in (folder, folder / USUAL) for name in CONFIGS):
                if found.is_file():
                    return found
    return None


def _code(config: Path) -> str:
    """Return a program without its comments, and without the brackets in its strings."""
    return CODE.sub(lambda match: BRACKETS.sub("", match[1] or ""), _text(config))


def _text(file: Path) -> str:
    """Return what stands in a file of a website; nothing for one that is too large, or lies elsewhere."""
    with suppress(*ODD):
        found = file.resolve()
        if found.parent == file.parent.resolve() and found.is_file() and found.stat().st_size <= LARGEST:
            return found.read_text(errors="replace")
    return ""


def _place(home: Path, name: str) -> Path:
    """Return a folder that is named; one in which nothing lies for what cannot be one."""
    with suppress(*ODD):
        return (home / name).resolve()
    return home / "no folder"


def _parts(home: Path, code: str) -> Iterator[SitePart]:
    for content, options in _plugins(code):
        usual_path, usual_route = USUAL_PLACES[content]
        route = _said(options, "routeBasePath", usual_route).strip("/")
        folder = _place(home, _said(options, "path", usual_path))
        if content is Content.DOCS:
            yield from _versions(home, folder, route, options)
        else:
            yield SitePart(content, folder, route, keeps_numbers=True)
    named = STATIC.search(code)
    for name in STRING.findall(named[1]) if named else ["static"]:
        yield SitePart(Content.FILES, _place(home, name))
    yield SitePart(Content.FILES, _place(home, "i18n"), left_out=TRANSLATED)
    yield SitePart(Content.FILES, _place(home, "build"), left_out=BUILT)


def _plugins(code: str) -> Iterator[tuple[Content, str]]:
    """Yield what is published, each with its options: by the usual preset, and by plugins of their own."""
    found = PRESETS.search(code)
    if found or not PLUGIN.search(code):
        presets = _enclosed(code, code.find("[", found.end())) if found else ""
        for content in USUAL_PLACES:
            said = re.search(rf"\b{content}\s*:\s*(?:(false\b)|(?=\{{))", presets)
            if said is None or not said[1]:
                yield content, _enclosed(presets, said.end()) if said else ""
    for plugin in islice(PLUGIN.finditer(code), MOST):
        yield Content(plugin[1]), _enclosed(code, plugin.end())


def _versions(home: Path, folder: Path, route: str, options: str) -> Iterator[SitePart]:
    """Yield the folder of each version of the documentation; the one that people see first is read."""
    plugin = _said(options, "id", "default")
    before = "" if plugin == "default" else f"{plugin}_"
    names = _listed(home / f"{before}versions.json")
    last = _said(options, "lastVersion", names[0] if names else "current")
    keeps_numbers = re.search(r"\bnumberPrefixParser\s*:\s*false\b", options) is not None
    about = re.search(r"\bversions\s*:\s*(?=\{)", options)
    said = _enclosed(options, about.end()) if about else ""
    for name in ("current", *names):
        own = re.search(rf"""(?<![\w.-])['"]?{re.escape(name)}['"]?\s*:\s*(?=\{{)""", said)
        below = _said(_enclosed(said, own.end()) if own else "", "path", "").strip("/")
        place = folder if name == "current" else _place(home, f"{before}versioned_docs/version-{name}")
        whole = "/".join(filter(None, (route, below)))
        yield SitePart(Content.DOCS, place, whole, keeps_numbers, "" if name == last else OTHER_VERSION)


def _listed(file: Path) -> list[str]:
    with suppress(*ODD):
        found: Any = json.loads(_text(file))
        return [each for each in found if isinstance(each, str)][:MOST] if isinstance(found, list) else []  # pyright: ignore[reportUnknownVariableType] - whatever it holds
    return []


def _enclosed(code: str, start: int) -> str:
    """Return what is between the bracket that opens at a place and the one that closes it."""
    pair, depth = {"[": "[]", "{": "{}"}.get(code[start : start + 1], ""), 0
    for match in re.finditer(f"[{re.escape(pair)}]", code[start:]) if pair else ():
        depth += 1 if match[0] == pair[0] else -1
        if depth == 0:
            return code[start + 1 : start + match.start()]
    return code[start + 1 :] if pair else ""


def _said(options: str, name: str, otherwise: str) -> str:
    """Return the word that options give a name themselves, not within others."""
    found = re.search(rf"""(?<![\w.'"-])['"]?{name}['"]?\s*:\s*(['"`])([^'"`$]*)\1""", "".join(_own(options)))
    return found[2] if found else otherwise


def _own(options: str) -> Iterator[str]:
    """Yield what is in no brackets."""
    at = depth = 0
    for match in BRACKETS.finditer(options):
        if match[0] in "[{(":
            if depth == 0:
                yield options[at : match.start()]
            depth += 1
        elif depth:
            depth, at = depth - 1, match.end()
    if depth == 0:
        yield options[at:]


DATE = re.compile(r"^(?:\d{2}|\d{4})[-_.]\d{2}(?:[-_.](?:\d{2}|\d{4}))?")
VERSION = re.compile(r"^\d+[-_.]\d+")
NUMBERED = re.compile(r"^\d+\s*[-_.]+\s*(.+)$")
POST = re.compile(r"^(.*)(\d{4}[-/]\d{1,2}[-/]\d{1,2})[-/]?(.*)$")
MARKDOWN_SUFFIXES = (".md", ".mdx", ".markdown")
SEGMENT = "-._~!$&'()*+,;=:@"  # what RFC 3986 allows in a segment of a path


def address(
    file: Path, relative: PurePosixPath, meta: Mapping[str, Any], base_url: str | None, root: Path | None = None
) -> str:
    """Return the address of a file whose place under the source's *root* is *relative*; a transcript is a recording's.

    The base URL is that of the website which a configuration under the root describes, if there is one.
    """
    if relative.suffix.lower() in TRANSCRIPTS:
        file = media_of(file)
        relative = relative.with_name(file.name)
    if base_url is None:
        return Path(os.path.realpath(file)).as_uri()  # also of a link in a circle
    config = config_of(file, root) if root else None
    place = DocusaurusSite.of(config).place(file) if config else None
    part, relative = place or (SitePart(Content.DOCS, file), relative)
    path = _page(relative, meta, part) if relative.suffix.lower() in MARKDOWN_SUFFIXES else _file(relative)
    path = "/".join(filter(None, (part.route, path.lstrip("/"))))
    return base_url.rstrip("/") + "/" + quote(os.fsencode(path), safe=f"{SEGMENT}/")


def unnumbered(segment: str) -> str:
    """Take a number for sorting off a name: `01-intro` is `intro`, but dates and versions stay."""
    if DATE.match(segment) or VERSION.match(segment):
        return segment
    match = NUMBERED.match(segment)
    return match[1] if match else segment


def _page(relative: PurePosixPath, meta: Mapping[str, Any], part: SitePart) -> str:
    slug = unquote(word(meta, "slug"))
    if slug.startswith("/") or (slug and part.content is Content.BLOG):
        return _resolved(slug)
    strip = str if part.keeps_numbers or meta.get("parse_number_prefixes") is False else unnumbered
    folder = "".join(f"{strip(each)}/" for each in relative.parts[:-1])
    if slug:
        return _resolved(folder + slug)
    own, is_doc = relative.stem.lower(), part.content is Content.DOCS
    if part.content is Content.BLOG:
        whole = folder.rstrip("/") if own == "index" else folder + relative.stem
        post = POST.match(whole)
        return f"{post[2].replace('-', '/')}/{post[1]}{post[3]}" if post else whole
    if own == "index" or (is_doc and own in ("readme", relative.parent.name.lower())):
        return folder
    return folder + ((word(meta, "id") if is_doc else "") or strip(relative.stem))


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
