"""Cuts a page at its headings, and gives each its anchor by the rules of Docusaurus and GitHub. Nothing here waits."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

_EXPLICIT = re.compile(r"\{#([^{}\n]*)\}\Z")
LONGEST_HEADING = 500  # characters that are read of one, since all that is below it bears its words; nobody writes more
_KEPT = frozenset({"Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "Pc"})  # letters, marks, digits, "_"


class Slugger:
    """Assigns the headings of one page their anchors, in order: the same heading twice gets a number behind it."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def read(self, heading: str) -> tuple[str, str]:
        """Return the heading as people see it, and its anchor; a `{#anchor}` at its end, or `{#}` for none, wins."""
        if explicit := _EXPLICIT.search(heading):
            return heading[: explicit.start()].rstrip(), explicit[1]
        first = result = slug(heading)
        while result in self._seen:
            self._seen[first] += 1
            result = f"{first}-{self._seen[first]}"
        self._seen[result] = 0
        return heading, result


def slug(heading: str) -> str:
    """Lower the case, drop punctuation and symbols, and turn each space into a hyphen."""
    kept = (c for c in heading.lower() if c in " -" or unicodedata.category(c) in _KEPT)
    return "".join(kept).replace(" ", "-")


def plain_text(tokens: Sequence[Token]) -> str:
    """Return the text of inline Markdown without its marks: of a link its label, of an image its description."""
    text = ""
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            text += "\n"
        elif token.type != "html_inline":
            text += plain_text(token.children) if token.children else token.content
    return text


_LINE_BREAK = re.compile(r"\r\n?")
_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z!?][^<>]*>")
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_WORDS = re.compile(r"\w+")
_GLOSSARY = re.compile(r"\b(?:glossary|terminology|vocabulary|key terms)\b", re.IGNORECASE)
_ENTRY = re.compile(
    r"(?:\*\*|__)([^*_\n]{1,80}?)(?::(?:\*\*|__)|(?:\*\*|__)(?:\n:\s|\s*[:\u2013\u2014]|\s-\s))|([^\n]{1,80})\n:\s"
)


@dataclass(slots=True)
class Section:
    """The blocks under one heading: `path` leads to it from below the page's title.

    `anchor` is that of the section around it where it has none, and empty at the top.
    """

    path: tuple[str, ...]
    anchor: str
    blocks: list[SyntaxTreeNode] = field(default_factory=list[SyntaxTreeNode])


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page as lines and sections; blocks name their place in the lines."""

    lines: tuple[str, ...]
    sections: tuple[Section, ...]


def read_page(text: str, title: str) -> ParsedPage:
    """Parse Markdown into sections; a first heading that says the page's *title* again opens no section."""
    title = title[:LONGEST_HEADING]  # every section is held against it
    text = _LINE_BREAK.sub("\n", text).replace("\0", "\ufffd")  # as the parser does, so that line numbers agree
    tokens = _parser().parse(text)
    if html := [token.map for token in tokens if token.type == "html_block" and token.map]:
        lines = text.split("\n")  # without the tags of what is written in HTML
        for start, end in reversed(html):
            lines[start:end] = _without_tags("\n".join(lines[start:end])).split("\n")
        text = "\n".join(lines)
        tokens = _parser(html=False).parse(text)
    sections = (part for each in _sections(SyntaxTreeNode(tokens), title) for part in _entries(each, title))
    return ParsedPage(lines=tuple(text.split("\n")), sections=tuple(sections))


def _sections(tree: SyntaxTreeNode, title: str) -> Iterator[Section]:
    slugger = Slugger()
    levels: list[tuple[int, str, str]] = []
    section = Section(path=(), anchor="")
    for node in tree.children:
        if node.type != "heading":
            _count_nested(node, slugger)
            section.blocks.append(node)
            continue
        shown, anchor = _read_heading(node, slugger)
        level = int(node.tag[1:])
        if level == 1 and not levels and not section.blocks and says_the_same(shown, title):
            continue
        yield section
        levels = [outer for outer in levels if outer[0] < level]
        anchor = anchor or (levels[-1][2] if levels else "")
        levels.append((level, shown, anchor))
        section = Section(path=tuple(name for _, name, _ in levels if name), anchor=anchor)
    yield section


def _entries(section: Section, title: str) -> list[Section]:
    """Return a section; what a glossary says of each term, which is asked for alone, is one of its own."""
    nodes = (part for each in section.blocks for part in (each.children if each.type == "bullet_list" else [each]))
    parts = [
        (node, _ENTRY.match(next((each.content for each in node.walk() if each.type == "inline"), "")))
        for node in nodes
    ]
    terms = [found for _, found in parts if found]
    if len(terms) <= max(1, len(parts) // 2):
        return [section]
    if not _GLOSSARY.search(" ".join((title, *section.path))) and not all("\n" in found[0] for found in terms):
        return [section]
    found = [Section(section.path, section.anchor)]
    for node, term in parts:
        if term:
            found.append(Section((*section.path, " ".join((term[1] or term[2]).split())), section.anchor))
        found[-1].blocks.append(node)
    return found


def says_the_same(heading: str, title: str) -> bool:
    """Whether the words of one contain those of the other: a title often adds or drops a lesson's number."""
    one, other = (" ".join(_WORDS.findall(text.casefold())) for text in (heading, title))
    return bool(one) and bool(other) and (one in other or other in one)


def _read_heading(node: SyntaxTreeNode, slugger: Slugger) -> tuple[str, str]:
    """Return a heading as people see it, and its anchor; none for one that is too long to be a heading."""
    inline: list[Token] = []
    parser, content = _parser(), node.children[0].content if node.children else ""
    named = _EXPLICIT.search(content)  # before its underscores become emphasis
    parser.inline.parse(
        content[: min(LONGEST_HEADING, named.start() if named else LONGEST_HEADING)], parser, {}, inline
    )
    shown, anchor = slugger.read(plain_text(inline) + (named[0] if named else ""))
    return " ".join(shown.split()), anchor if len(content) <= LONGEST_HEADING else ""


def _count_nested(node: SyntaxTreeNode, slugger: Slugger) -> None:
    """Headings in lists and quotes open no section here, but they take part in the numbering of anchors."""
    for child in node.children:
        if child.type == "heading":
            _read_heading(child, slugger)
        else:
            _count_nested(child, slugger)


def _without_tags(html: str) -> str:
    text = textwrap.dedent(_TAG.sub("", _UNSEEN.sub("", html)))
    if _FENCE.search(text):
        return text
    return "\n".join(line.strip() for line in text.split("\n"))  # indentation would read as code


@cache
def _parser(*, html: bool = True) -> MarkdownIt:
    # The default nesting would drop what stands deeper than ten lists.
    # Only headings need their inline marks read, which is most of the work; definitions of links stay as text.
    return MarkdownIt("commonmark", {"html": html, "maxNesting": 100}).enable("table").disable(["inline", "reference"])
