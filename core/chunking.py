"""Cuts a document into passages: under its headings, small enough to embed. Nothing here waits, reads or writes.

The rules it keeps: a passage never crosses a heading, no word of the text is lost, what is embedded of a passage never
measures more than the limit, and every code fence is closed in the passage that opens it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from core.blocks import BlockSplitter, Measure, cost_of, pack
from core.errors import InvalidInput
from core.model import Document, Passage, heading
from core.sections import Page, Section, read_page

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

    def chunk(self, document: Document, *, content_hash: str) -> tuple[Passage, ...]:
        """Give the passages of a page in reading order; none for a page without text."""
        title = self._shortened([document.title])
        page = read_page(document.text, document.title)
        found = [(section, name, text) for section in page.sections for name, text in self._texts(page, section, title)]
        return tuple(
            Passage(
                passage_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{document.url}\n{position}")),
                source=document.source,
                page_url=document.url,
                source_url=document.url + _fragment(section.anchor),
                page_title=title,
                section_title=name,
                chapter=document.chapter,
                text=text,
                position=position,
                page_length=len(found),
                content_hash=content_hash,
                opens_at=document.opens_at,
            )
            for position, (section, name, text) in enumerate(found)
        )

    def _texts(self, page: Page, section: Section, title: str) -> Iterator[tuple[str, str]]:
        """Give the section's name and text for each of its passages."""
        if not section.blocks:
            return
        name = " › ".join(section.path)
        above = self._cost(heading(title, name))
        if above > self.limit // 2:
            name = self._shortened(section.path)
            above = self._cost(heading(title, name))
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
        while len(names) > 1 and self._cost(" › ".join(names)) > room:
            del names[0]
        text = " › ".join(names)
        if self._cost(text) <= room:
            return text
        while text and self._cost(f"{text}…") > room:
            text = text[: len(text) // 2]
        return f"{text.rstrip()}…"

    def _cost(self, text: str) -> int:
        return cost_of(text, self.measure)


def embedding_text(passage: Passage) -> str:
    """Give what is embedded and searched by words: the heading path, then the text."""
    return f"{passage.heading}\n\n{passage.text}"


def _fragment(anchor: str) -> str:
    """Give the end of a link to an anchor; percent-encoded, so that no anchor can break out of a Markdown link."""
    return f"#{quote(anchor, safe='-._~=')}" if anchor else ""
