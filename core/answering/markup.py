"""Reads an answer, while it is written, into the blocks of its tree.

Of an answer that grows every reading begins with the one before it, and what is finished is not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.answering.citations import Footnotes, Sources, remembered
from core.answering.lines import LineReader
from core.answering.nodes import footnote_numbers
from core.messages import WARNING
from core.model import Answer, Citation, without_controls
from core.model.markup import Block, Paragraph, Text


class MarkupReader:
    """An answer while it is written: feed it, and read its blocks whenever they are drawn."""

    def __init__(self, sources: Sources) -> None:
        self._notes = Footnotes(sources)
        self._reader = LineReader(self._notes)
        self._pieces: list[str] = []
        self._rest = ""
        self._tail: tuple[Block, ...] = ()

    def feed(self, piece: str) -> None:
        """Take more of the text; nothing is read yet."""
        self._pieces.append(piece)

    def finish(self) -> None:
        """Read the rest as it is, since no more comes."""
        self._take_in()
        if self._rest:
            self._reader.take(without_controls(self._rest))
        self._rest, self._tail = "", ()
        self._reader.end()

    @property
    def finished(self) -> Sequence[Block]:
        """The blocks that are whole and never change; there are only ever more of them."""
        self._take_in()
        return self._reader.blocks

    @property
    def tail(self) -> Sequence[Block]:
        """The blocks behind the finished ones, as far as they are certain."""
        self._take_in()
        return self._tail

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All that is certain."""
        return (*self.finished, *self.tail)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The footnotes of all that is certain, in the order of their numbers."""
        return self._notes.citations(set(footnote_numbers(self.blocks)))

    @property
    def removed_urls(self) -> int:
        """How many addresses were taken out that the index has not returned, once all was read."""
        return self._notes.removed_urls

    def _take_in(self) -> None:
        """Read what has come since the last time."""
        if not self._pieces:
            return
        *lines, self._rest = (self._rest + "".join(self._pieces)).split("\n")
        self._pieces.clear()
        for line in lines:
            self._reader.take(without_controls(line))
        self._tail = self._reader.foreseen(without_controls(self._rest))


def shown_blocks(answer: Answer) -> tuple[Block, ...]:
    """Return the tree of an answer; one that something was wrong with begins with a warning.

    An answer that was stored, or that is a sentence of ours, is read from its text.
    """
    blocks = read(answer.text, remembered(answer.citations)) if answer.blocks is None else answer.blocks
    if not (answer.is_failure or answer.lexical_only):
        return blocks
    warning = Text(f"{WARNING} ")
    if blocks and isinstance(leaf := blocks[0].leaf, Paragraph) and not blocks[0].path:
        return (replace(blocks[0], leaf=Paragraph((warning, *leaf.children))), *blocks[1:])
    return (Block(Paragraph((Text(WARNING),))), *blocks)


def read(text: str, sources: Sources) -> tuple[Block, ...]:
    """Return the blocks of a whole text."""
    reader = MarkupReader(sources)
    reader.feed(text)
    reader.finish()
    return reader.blocks
