"""What a page is made of beside its own file, such as what it includes, and a stamp of all that."""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import UnionType
from typing import Any

from adapters.documents.docusaurus import MARKDOWN_SUFFIXES, config_of
from adapters.documents.frontmatter import split
from adapters.documents.page import FENCE, NotReadable, decode

INCLUDE = re.compile(
    r"^([ \t]*)\.\. (include|literalinclude)::[ \t]+(\S[^\n]*)\n?((?:\1[ \t]+:[\w-]+:[^\n]*(?:\n|\Z))*)", re.MULTILINE
)
PARTIAL = re.compile(r"^import\s+([A-Z]\w*)\s+from\s+['\"]([^'\"\n]+\.mdx?)['\"];?[ \t]*$", re.MULTILINE)
HAS_PARTIALS = re.compile(rb"^import\s[^\n]*\.mdx?['\"]", re.MULTILINE)
MACRO = re.compile(r"(?<![\w$\\{}%#])\{([A-Z][A-Z0-9_]+)\}(?!\})")  # as most people write those of Sphinx
NO_MACROS: Mapping[str, str] = {}
SITE = "@site/"  # how MDX names the folder of the website's configuration
OPTION = re.compile(r":([\w-]+):[ \t]*([^\n]*)")
SETTINGS = "conf.py"
LARGEST, LONGEST, DEEPEST, MOST = 2_000_000, 5_000_000, 8, 200
"""Bytes of an included file and characters of all, how deep files may include each other, and how many may."""
LANGUAGES = {".py": "python", ".cpp": "c++", ".hpp": "c++", ".c": "c", ".yaml": "yaml", ".xml": "xml", ".sh": "bash"}


@dataclass(frozen=True, slots=True)
class PageFile:
    """Where a page stands: its file, and the folder out of which nothing is read."""

    path: Path
    root: Path

    def beside(self, named: str) -> Path | None:
        """Return the file that a page names, from its own folder, its site or the root; None for one outside of that.

        What is not inside of the root counts as outside.
        """
        with suppress(OSError, ValueError, RuntimeError):
            start = self.root if named.startswith("/") else self.path.parent
            if named.startswith(SITE) and (config := config_of(self.path, self.root)):
                start, named = config.parent, named.removeprefix(SITE)
            found = (start / named.strip().lstrip("/")).resolve()
            if found.is_relative_to(self.root.resolve()) and found.is_file() and found.stat().st_size <= LARGEST:
                return found
        return None

    @property
    def settings(self) -> Path | None:
        """The nearest `conf.py` above the page."""
        root = self.root.resolve()
        for folder in self.path.resolve().parents:
            if not folder.is_relative_to(root):
                return None
            if (folder / SETTINGS).is_file():
                return folder / SETTINGS
        return None


def parts(place: PageFile) -> tuple[Path, ...]:
    """Return all files but its own that a page is made of, sorted."""
    is_markdown = place.path.suffix.lower() in MARKDOWN_SUFFIXES
    settings = None if is_markdown else place.settings
    found: dict[Path, None] = dict.fromkeys([settings] if settings else [])
    waiting = [place]
    while waiting and len(found) < MOST:
        page = waiting.pop()
        for name, is_read in _named(_text(page.path), is_markdown=is_markdown):
            path = page.beside(name)
            if path is not None and path not in found:
                found[path] = None
                waiting += [replace(page, path=path)] if is_read else []
    return tuple(sorted(found))


def _named(text: str, *, is_markdown: bool) -> Iterator[tuple[str, bool]]:
    """Yield the files that a page names, each with whether what it names in turn counts too."""
    if is_markdown:
        yield from ((match[2], True) for match in PARTIAL.finditer(text))
    else:
        yield from ((match[3], match[2] == "include") for match in INCLUDE.finditer(text))


def with_partials(text: str, place: PageFile) -> str:
    """Return a page in Markdown with the pages that it imports where they are shown."""
    return _shown(text, place, [LONGEST], 0)


def _shown(text: str, place: PageFile, room: list[int], depth: int) -> str:
    shown: dict[str, str] = {}
    for name, named in PARTIAL.findall(FENCE.sub("", text)):
        path = place.beside(named) if depth < DEEPEST and room[0] > 0 else None
        if path is not None:
            room[0] -= LONGEST // MOST  # however short they are
            shown[name] = _shown(split(_text(path))[1], replace(place, path=path), room, depth + 1)
    if not shown:
        return text
    tag = re.compile(rf"<({'|'.join(shown)})(?![\w.])[^<>]*/>")

    def put(match: re.Match[str]) -> str:
        room[0] -= len(shown[match[1]])
        return f"\n\n{shown[match[1]].strip()}\n\n" if room[0] > 0 else ""

    pieces, at = list[str](), 0
    for fence in FENCE.finditer(text):
        pieces += (tag.sub(put, text[at : fence.start()]), fence[0])
        at = fence.end()
    return "".join((*pieces, tag.sub(put, text[at:])))


def expanded(text: str, place: PageFile, known: Mapping[str, str] = NO_MACROS) -> str:
    """Return a page with what it includes, and with the words that its settings name; macros that are *known* win."""
    settings = _literals(_text(place.settings) if place.settings else "")
    given: Any = settings.get("macros")
    macros: dict[str, str] = {}
    if isinstance(given, dict):
        macros = {str(name): str(value) for name, value in given.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - whatever it holds
    macros |= known
    whole = "".join(_pieces(text, place, [LONGEST], 0))
    if macros:
        names = "|".join(map(re.escape, sorted(macros, key=len, reverse=True)))
        whole = re.sub(rf"\{{({names})\}}", lambda match: macros[match[1]], whole)
    around = [value for name in ("rst_prolog", "rst_epilog") if isinstance(value := settings.get(name), str)]
    named = "".join(
        f"\n\n.. |{name}| replace:: {settings[name]}"
        for name in ("release", "version")
        if isinstance(settings.get(name), str) and f"|{name}|" in whole
    )
    domain = settings.get("primary_domain")
    before = [f".. default-domain:: {domain}"] if isinstance(domain, str) and domain.isalpha() else []
    return "\n\n".join([*before, whole, *around]) + named


def _pieces(text: str, place: PageFile, room: list[int], depth: int) -> Iterator[str]:
    """Yield a text with the text of others in the place of what names them; *room* shrinks with each."""
    at = 0
    for match in INCLUDE.finditer(text):
        path = place.beside(match[3]) if depth < DEEPEST else None
        included = _text(path) if path else ""
        if path is None or not included or len(included) > room[0]:
            continue
        room[0] -= len(included)
        options: dict[str, str] = dict(OPTION.findall(match[4]))
        included = _chosen(included, options)
        is_code = match[2] == "literalinclude" or "literal" in options or "code" in options
        if is_code:
            language = options.get("language") or options.get("code") or LANGUAGES.get(path.suffix, "")
            included = f".. code-block:: {language}\n\n" + _indented(included, "   ")
        else:
            included = "".join(_pieces(included, replace(place, path=path), room, depth + 1))
        yield text[at : match.start()]
        yield "\n" + _indented(included, match[1]) + "\n\n"
        at = match.end()
    yield text[at:]


def _chosen(text: str, options: Mapping[str, str]) -> str:
    """Return the part of a text that the options of a directive choose."""
    lines = text.split("\n")
    if "lines" in options:
        lines = [lines[number] for number in _numbers(options["lines"], len(lines))]
    text = "\n".join(lines)
    if (start := options.get("start-after")) and start in text:
        text = text.partition(start)[2]
    if (end := options.get("end-before")) and end in text:
        text = text.partition(end)[0]
    return text.strip("\n")


def _numbers(said: str, count: int) -> list[int]:
    """Return the lines that are meant by `1-3, 7-`, from 0 on."""
    found: list[int] = []
    for part in said.split(","):
        first, dash, last = part.strip().partition("-")
        with suppress(ValueError):
            start = int(first or 1)
            end = int(last or count) if dash else start
            found += range(max(start, 1) - 1, min(end, count))
    return found[:count]


def _indented(text: str, by: str) -> str:
    return "\n".join(f"{by}{line}" if line.strip() else "" for line in text.split("\n"))


def _text(path: Path) -> str:
    with suppress(OSError, NotReadable):
        if path.stat().st_size <= LARGEST:
            return decode(path.read_bytes())
    return ""


def _literals(program: str) -> Mapping[str, Any]:
    """Return what a program assigns to names at its top, as far as it is written out there; nothing of it is run."""
    found: dict[str, Any] = {}
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for statement in ast.parse(program).body:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    pass
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    targets = [target]
                case _:
                    continue
            said = _said(value, found)
            found |= {target.id: said for target in targets if isinstance(target, ast.Name)}
    return found


def _said(value: ast.expr | None, known: Mapping[str, Any]) -> Any:
    """Return what is written out, also by names that are *known*; None for all else."""
    said: Any = None
    match value:
        case ast.Constant():
            said = value.value
        case ast.Name(id=name):
            said = known.get(name)
        case ast.Dict(keys=keys, values=values):
            pairs = ((_said(key, known), _said(one, known)) for key, one in zip(keys, values, strict=True))
            said = {name: one for name, one in pairs if isinstance(name, str) and isinstance(one, str | int | float)}
        case ast.JoinedStr(values=parts):
            said = _joined([_said(each, known) for each in parts], str | int | float)
        case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
            said = _said(inner, known)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            said = _joined([_said(left, known), _said(right, known)], str)
        case _:
            pass
    return said


def _joined(parts: Sequence[Any], kinds: type | UnionType) -> str | None:
    """Return parts as one text, unless one of them is none, or all of them are too long: names can double them."""
    is_text = all(isinstance(each, kinds) for each in parts)
    return "".join(map(str, parts)) if is_text and sum(len(str(each)) for each in parts) <= LARGEST else None


LIBRARIES = (
    "beautifulsoup4",
    "docutils",
    "dulwich",
    "mammoth",
    "markdown-it-py",
    "markdownify",
    "pypdfium2",
    "python-pptx",
    "pyyaml",
    "selectolax",
    "webvtt-py",
)
LARGEST_FILE = 100_000_000  # bytes: larger ones are not read either


def stamp_of(path: Path, root: Path, *depends_on: str) -> str:
    """Return the stamp of a file, of which the reader also *depends_on* some words; nothing for one without.

    It is made before the file is read: where that changes in between, the next stamp differs.
    """
    digest = hashlib.sha256(os.fsencode("\n".join((readers(), *depends_on))))
    with suppress(OSError):
        if path.stat().st_size > LARGEST_FILE:
            return ""
        own, suffix = path.read_bytes(), path.suffix.lower()
        digest.update(b"\n" + own)
        has_parts = suffix == ".rst" or (suffix in MARKDOWN_SUFFIXES and HAS_PARTIALS.search(own) is not None)
        for each in parts(PageFile(path, root)) if has_parts else ():
            content = each.read_bytes()
            digest.update(os.fsencode(f"\n{os.path.relpath(each, root)} {len(content)}\n") + content)
        return digest.hexdigest()[:32]
    return ""


@cache
def readers() -> str:
    """Return a fingerprint of what reads files: our own code, and the libraries that it calls."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            digest.update(f"{name} {version(name)}\n".encode())
    return digest.hexdigest()
