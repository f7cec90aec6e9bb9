"""Cuts a document into passages: under its headings, small enough to embed. Nothing here waits, reads or writes.

The rules it keeps: a passage never crosses a heading, no word of the text is lost, what is embedded of a passage never
measures more than the limit, and every code fence is closed in the passage that opens it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias
from urllib.parse import quote

from markdown_it.tree import SyntaxTreeNode

from core.documents.sections import ParsedPage, Section, read_page
from core.errors import InvalidInput
from core.model import Document, Passage, heading

Measure: TypeAlias = Callable[[str], int]

CHARACTERS_A_TOKEN = 32  # a tokenizer may count a word of any length as one unknown token; that is no measure
_INFO_LIMIT = 40  # characters of a fence's info string: longer ones name no language

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*_]*\s+|[。！？]+\s*")
_SPACE = re.compile(r"\s+")
_FENCE_START = re.compile(r"(?:`{3}(?=[^`\n]*(?:\n|\Z))|~{3})")
_CLOSES = {mark: re.compile(rf"^([ \t]*){mark}{{3,}}[ \t]*$", re.MULTILINE) for mark in "`~"}
_DASHES = re.compile(r"-{4,}")
_MARKER = re.compile(r"[ \t]*([-+*]|\d{1,9}[.)])(?=\s|\Z)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A text and what it measures."""

    text: str
    cost: int


def cost_of(text: str, measure: Measure) -> int:
    """Measure a text, but no text as smaller than its length allows."""
    return max(measure(text), len(text) // CHARACTERS_A_TOKEN)


def pack(pieces: Sequence[Piece], *, room: int, joint: str = "", joint_cost: int = 0) -> list[Piece]:
    """Join neighbours as long as they fit in *room*, to parcels of like size, so that no crumb is left at the end."""
    total = sum(piece.cost + joint_cost for piece in pieces)
    goal = total / max(1, -(-total // max(1, room)))
    parcels: list[list[Piece]] = []
    filled = 0
    for piece in pieces:
        if parcels and filled < goal and filled + joint_cost + piece.cost <= room:
            parcels[-1].append(piece)
            filled += joint_cost + piece.cost
        else:
            parcels.append([piece])
            filled = piece.cost
    return [
        Piece(joint.join(piece.text for piece in parcel), sum(piece.cost + joint_cost for piece in parcel) - joint_cost)
        for parcel in parcels
    ]


@dataclass(frozen=True, slots=True)
class BlockSplitter:
    """Cuts the blocks of one page, given its *lines*, into pieces of at most *room* as *measure* counts.

    A text must not measure more than its parts and what joins them.
    """

    lines: Sequence[str]
    room: int
    measure: Measure

    def split(self, block: SyntaxTreeNode) -> list[Piece]:
        """Return the pieces of a block, in order; none for one without text."""
        match block.type:
            case "hr":
                return []
            case "fence" | "code_block":
                return self._split_code(block)
            case "table":
                return self._split_table(block)
            case "bullet_list" | "ordered_list" | "list_item":
                return self._split_list(block)
            case "blockquote":
                whole = self._whole(block)
                return [whole] if whole else [piece for child in block.children for piece in self.split(child)]
            case _:
                return self.split_text("".join(child.content for child in block.children) or block.content)

    def _cost(self, text: str) -> int:
        least = len(text) // CHARACTERS_A_TOKEN
        return least if least > self.room else cost_of(text, self.measure)  # what is far too long is not measured

    def split_text(self, text: str) -> list[Piece]:
        """Cut prose between sentences, a sentence between words, a word anywhere."""
        text = _without_fence_start(text.strip())
        if not text:
            return []
        cost = self._cost(text)
        if cost <= self.room:
            return [Piece(text, cost)]
        sentences = [piece for sentence in _sentences(text) for piece in self._halved(sentence, self.room - 1)]
        return self._stripped(pack(sentences, room=self.room - 1))

    def _stripped(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Tidy the cut edges; a mark that would open a fence there costs one more."""
        texts = [(piece.text.strip(), piece.cost) for piece in pieces]
        safe = [(_without_fence_start(text), text, cost) for text, cost in texts if text]
        return [Piece(escaped, cost + len(escaped) - len(text)) for escaped, text, cost in safe]

    def _halved(self, text: str, room: int) -> Iterator[Piece]:
        cost = self._cost(text)
        if cost <= room or len(text) == 1:
            yield Piece(text, cost)
            return
        half = len(text) // 2  # cut behind the space nearest to the middle, or in the middle itself
        ends = [space.end() for space in _SPACE.finditer(text) if 0 < space.end() < len(text)]
        middle = min(ends, key=lambda end: abs(end - half), default=half)
        yield from self._halved(text[:middle], room)
        yield from self._halved(text[middle:], room)

    def _whole(self, block: SyntaxTreeNode) -> Piece | None:
        """Return a list, an item or a quote as it was written, if it fits and closes the fences in it."""
        if not all(self._is_closed(fence) for fence in block.walk() if fence.type == "fence"):
            return None
        text = _dedented(self._source(block))
        cost = self._cost(text)
        return Piece(text, cost) if cost <= self.room else None

    def _source(self, block: SyntaxTreeNode) -> Sequence[str]:
        start, end = block.map or (0, 0)
        return self.lines[start:end]

    def _is_closed(self, fence: SyntaxTreeNode) -> bool:
        source = self._source(fence)
        last = source[-1].strip(" \t>") if len(source) > 1 else ""
        return len(last) >= len(fence.markup) and set(last) == {fence.markup[0]}

    def _split_list(self, block: SyntaxTreeNode) -> list[Piece]:
        whole = self._whole(block)
        if whole:
            return [whole] if whole.text else []
        pieces: list[Piece] = []
        run: list[Piece] = []
        for item in [block] if block.type == "list_item" else block.children:
            if kept := self._whole(item):
                run.append(kept)
            else:
                pieces += [*self._pack_lines(run, self.room), *self._split_item(item)]
                run = []
        return [*pieces, *self._pack_lines(run, self.room)]

    def _split_item(self, item: SyntaxTreeNode) -> list[Piece]:
        marker = _MARKER.match(self._source(item)[0])
        mark = marker[1] if marker else ""
        first, *rest = item.children or [None]
        if first is not None and first.type == "paragraph":
            pieces = self.split_text(f"{mark} {first.children[0].content}")
        else:
            pieces = self.split_text(mark) if mark[:1].isdigit() else []
            pieces += self.split(first) if first is not None else []
        return pieces + [piece for child in rest if child is not None for piece in self.split(child)]

    def _split_code(self, block: SyntaxTreeNode) -> list[Piece]:
        content = block.content.strip("\n")
        if not content.strip():
            return []
        info = block.info.strip().replace("`", "")
        info = info if len(info) <= _INFO_LIMIT else ""
        whole = _fenced(content, info)
        cost = self._cost(whole)
        if cost <= self.room:
            return [Piece(whole, cost)]
        if self._cost(_fenced("", info)) > self.room // 2:
            info = ""
        around = self._cost(_fenced("", info))
        inside = self.room - around
        lines = [piece for line in content.split("\n") for piece in self._halved(line, inside)]
        parcels = [Piece(p.text.strip("\n"), p.cost) for p in self._pack_lines(lines, inside) if p.text.strip()]
        return [Piece(_fenced(parcel.text, info), parcel.cost + around) for parcel in parcels]

    def _split_table(self, block: SyntaxTreeNode) -> list[Piece]:
        rows = [line.strip(" \t>") for line in self._source(block)]
        rows[1] = _DASHES.sub("---", rows[1])
        whole = Piece("\n".join(rows), self._cost("\n".join(rows)))
        if whole.cost <= self.room:
            return [whole]
        header, joint = "\n".join(rows[:2]) + "\n", self._cost("\n")
        above = self._cost(header) + joint
        if above > self.room // 2:  # a header as wide as this would leave no place for the rows
            header, above = "", 0
        room = self.room - above - 1
        cells = [
            piece for row in (rows[2:] if header else rows) for piece in self._stripped([*self._halved(row, room)])
        ]
        return [Piece(header + piece.text, above + piece.cost) for piece in self._pack_lines(cells, room + 1)]

    def _pack_lines(self, pieces: Sequence[Piece], room: int) -> list[Piece]:
        return pack(pieces, room=room, joint="\n", joint_cost=self._cost("\n"))


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield text[start : end.end()]
        start = end.end()
    if start < len(text):
        yield text[start:]


def _without_fence_start(text: str) -> str:
    """Escape the marks of a code fence where a cut brought them to the start of a text."""
    return f"\\{text}" if _FENCE_START.match(text) else text


def _fenced(content: str, info: str) -> str:
    """Put code between fences that no line of it closes."""
    mark = "```"
    if _CLOSES["`"].search(content):
        mark = "~~~"
        content = _CLOSES["~"].sub(r"\1~~", content)  # closes both kinds: only then is a line of marks shortened
    return f"{mark}{info}\n{content}\n{mark}"


def _dedented(lines: Sequence[str]) -> str:
    """Take the first line's indentation away from all lines, as far as they have it."""
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    return "\n".join(line[min(indent, len(line) - len(line.lstrip())) :] for line in lines).strip()


SMALLEST_LIMIT = 32  # with less there is no room for text between a heading path and the marks of a fence


@dataclass(frozen=True, slots=True)
class Chunker:
    """Cuts documents into passages of at most *limit* tokens, as *measure* counts, heading path included."""

    limit: int
    measure: Measure

    def __post_init__(self) -> None:
        if self.limit < SMALLEST_LIMIT:
            message = f"The passage limit is {self.limit} tokens; it has to be at least {SMALLEST_LIMIT}."
            raise InvalidInput(message, field="limit")

    def chunk(self, document: Document, *, content_hash: str, most: int | None = None) -> tuple[Passage, ...]:
        """Return the passages of a page in reading order, at *most* so many of the first; none for one without text."""
        title = self._shortened([document.title])
        page = read_page(document.text, document.title)
        texts = ((each, name, text) for each in page.sections for name, text in self._texts(page, each, title))
        found = list(islice(texts, most))
        return tuple(
            Passage(
                passage_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{document.source}\n{document.url}\n{position}")),
                source=document.source,
                page_url=document.url,
                # percent-encoded, so that no anchor can break out of a Markdown link
                source_url=f"{document.url}#{quote(section.anchor, safe='-._~=')}" if section.anchor else document.url,
                page_title=title,
                section_title=name,
                chapter=document.chapter,
                text=text,
                position=position,
                page_length=len(found),
                content_hash=content_hash,
                opens_at=document.opens_at,
                changed_on=document.changed_on,
            )
            for position, (section, name, text) in enumerate(found)
        )

    def _texts(self, page: ParsedPage, section: Section, title: str) -> Iterator[tuple[str, str]]:
        """Yield the section's name and text for each of its passages."""
        if not section.blocks:
            return
        name = " › ".join(section.path)
        above = cost_of(heading(title, name), self.measure)
        if above > self.limit // 2:
            name = self._shortened(section.path)
            above = cost_of(heading(title, name), self.measure)
        joint_cost = self.measure("\n\n")
        room = self.limit - above - joint_cost
        splitter = BlockSplitter(page.lines, room, self.measure)
        pieces = [piece for block in section.blocks for piece in splitter.split(block)]
        for piece in pack(pieces, room=room, joint="\n\n", joint_cost=joint_cost):
            yield name, piece.text

    def _shortened(self, path: Sequence[str]) -> str:
        """Join a path; one that would take more than a quarter of the limit loses its outer levels, then its end."""
        room = self.limit // 4
        names = list(path)
        while len(names) > 1 and cost_of(" › ".join(names), self.measure) > room:
            del names[0]
        text = " › ".join(names)
        if cost_of(text, self.measure) <= room:
            return text
        while text and cost_of(f"{text}…", self.measure) > room:
            text = text[: len(text) // 2]
        return f"{text.rstrip()}…"


def embedding_text(passage: Passage) -> str:
    """Return what is embedded and searched by words: the heading path, then the text."""
    return f"{passage.heading}\n\n{passage.text}"
