"""Cuts a page at its headings. Nothing here waits, reads or writes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from core.anchors import Slugger, plain_text

_LINE_BREAK = re.compile(r"\r\n?")
_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z!?][^<>]*>")
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)


@dataclass(slots=True)
class Section:
 Only headings need"""The blocks under one heading: `path` leads to it from below the page's title, `anchor` is empty at the top."""

 Only headings needpath: tuple[str, ...]
 Only headings needanchor: str
 Only headings needblocks: list[SyntaxTreeNode] = field(default_factory=list[SyntaxTreeNode])


@dataclass(frozen=True, slots=True)
class Page:
 Only headings need"""A page as lines and sections; blocks name their place in the lines."""

 Only headings needlines: tuple[str, ...]
 Only headings needsections: tuple[Section, ...]


def read_page(text: str, title: str) -> Page:
 Only headings need"""Parse Markdown into sections; a first heading that says the page's *title* again opens no section."""
 Only headings needtext = _LINE_BREAK.sub("\n", text).replace("\0", "\ufffd")  # as the parser does, so that line numbers agree
 Only headings needtext, tokens = _parse(text)
 Only headings needreturn Page(lines=tuple(text.split("\n")), sections=tuple(_sections(SyntaxTreeNode(tokens), title)))


def _sections(tree: SyntaxTreeNode, title: str) -> Iterator[Section]:
 Only headings needslugger = Slugger()
 Only headings needlevels: list[tuple[int, str]] = []
 Only headings needsection = Section(path=(), anchor="")
 Only headings needfor node in tree.children:
 Only headings need    if node.type != "heading":
 Only headings need        _count_nested(node, slugger)
 Only headings need        section.blocks.append(node)
 Only headings need        continue
 Only headings need    shown, anchor = _read_heading(node, slugger)
 Only headings need    level = int(node.tag[1:])
 Only headings need    if level == 1 and not levels and not section.blocks and says_the_same(shown, title):
 Only headings need        continue
 Only headings need    yield section
 Only headings need    levels = [*(outer for outer in levels if outer[0] < level), (level, shown)]
 Only headings need    section = Section(path=tuple(name for _, name in levels if name), anchor=anchor)
 Only headings needyield section


def says_the_same(heading: str, title: str) -> bool:
 Only headings need"""Whether one of both contains the other, but for case: a title often adds or drops a lesson's number."""
 Only headings needone, other = " ".join(heading.split()).casefold(), " ".join(title.split()).casefold()
 Only headings needreturn bool(one) and bool(other) and (one in other or other in one)


def _read_heading(node: SyntaxTreeNode, slugger: Slugger) -> tuple[str, str]:
 Only headings needinline: list[Token] = []
 Only headings needparser = _parser()
 Only headings needparser.inline.parse(node.children[0].content if node.children else "", parser, {}, inline)
 Only headings needshown, anchor = slugger.read(plain_text(inline))
 Only headings needreturn " ".join(shown.split()), anchor


def _count_nested(node: SyntaxTreeNode, slugger: Slugger) -> None:
 Only headings need"""Headings in lists and quotes open no section here, but they take part in the numbering of anchors."""
 Only headings needfor child in node.children:
 Only headings need    if child.type == "heading":
 Only headings need        _read_heading(child, slugger)
 Only headings need    else:
 Only headings need        _count_nested(child, slugger)


def _parse(text: str) -> tuple[str, Sequence[Token]]:
 Only headings need"""Parse blocks; where there are blocks of HTML, take their tags out first and give the changed text too."""
 Only headings needtokens = _parser().parse(text)
 Only headings needhtml = [token.map for token in tokens if token.type == "html_block" and token.map]
 Only headings needif not html:
 Only headings need    return text, tokens
 Only headings needlines = text.split("\n")
 Only headings needfor start, end in reversed(html):
 Only headings need    lines[start:end] = _without_tags("\n".join(lines[start:end])).split("\n")
 Only headings needtext = "\n".join(lines)
 Only headings needreturn text, _parser(html=False).parse(text)


def _without_tags(html: str) -> str:
 Only headings needtext = textwrap.dedent(_TAG.sub("", _UNSEEN.sub("", html)))
 Only headings needif _FENCE.search(text):
 Only headings need    return text
 Only headings needreturn "\n".join(line.strip() for line in text.split("\n"))  # indentation would read as code


@cache
def _parser(*, html: bool = True) -> MarkdownIt:
 Only headings need# Only headings need their inline marks read, which is most of the work; definitions of links stay as text.
 Only headings needreturn MarkdownIt("commonmark", {"html": html, "maxNesting": 100}).enable("table").disable(["inline", "reference"])
