"""An answer as a tree, from the model's text to the renderer: blocks in their order, each with what it stands in.

The tree is kept as its leaves. A leaf says in which quotes and list items it stands, and how many of them begin with
it, so that a growing list, quote, table or block of code is several blocks, of which all but the last are finished.
Text nodes hold what a reader sees and nothing that means anything: whoever draws them escapes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

NOTE = "\ufffc"
"""What stands for a footnote in a visible text, in which it is otherwise never found."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words, in which nothing is live."""

    text: str


@dataclass(frozen=True, slots=True)
class CodeSpan:
    """Code within a line."""

    text: str


@dataclass(frozen=True, slots=True)
class LineBreak:
    """The end of a line within a paragraph."""

    text: ClassVar[str] = "\n"


@dataclass(frozen=True, slots=True)
class Footnote:
    """The number of a source, and its address if it has one. Only `Sources` make these."""

    number: int
    url: str
    text: ClassVar[str] = NOTE


class _Parent:
    """Has nodes in it."""

    __slots__ = ()
    children: tuple[Inline, ...]

    @property
    def text(self) -> str:
        """What a reader sees of it."""
        return visible(self.children)


@dataclass(frozen=True, slots=True)
class Link(_Parent):
    """A link to a page of the index."""

    url: str
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Strong(_Parent):
    """Bold words."""

    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Emphasis(_Parent):
    """Slanted words."""

    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Strike(_Parent):
    """Words that are crossed out."""

    children: tuple[Inline, ...]


Inline: TypeAlias = Text | CodeSpan | LineBreak | Footnote | Link | Strong | Emphasis | Strike


def visible(nodes: Iterable[Inline]) -> str:
    """Return what a reader sees of nodes; a footnote is a character that no text holds."""
    return "".join([node.text for node in nodes])


def visible_row(cells: Iterable[Iterable[Inline]]) -> str:
    """Return the same of the cells of a row."""
    return " | ".join(filter(None, map(visible, cells)))


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Words."""

    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A title of a part; `level` is 1 to 6."""

    level: int
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of a block of code, without its end."""

    language: str
    text: str
    is_first: bool


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table with the table's head; a table without rows has one without cells."""

    head: tuple[tuple[Inline, ...], ...]
    cells: tuple[tuple[Inline, ...], ...]
    is_first: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """A line between two parts."""


Leaf: TypeAlias = Paragraph | Heading | CodeLine | TableRow | Rule


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote, as what a leaf stands in."""


@dataclass(frozen=True, slots=True)
class ListItem:
    """An item of a list, as what a leaf stands in; its number if the list has numbers."""

    number: int | None


@dataclass(frozen=True, slots=True)
class Block:
    """A leaf, and the quotes and items around it from the outside in, of which the last *opens* begin with it.

    It *is_spaced* where a blank line stood before it.
    """

    leaf: Leaf
    path: tuple[Quote | ListItem, ...] = ()
    opens: int = 0
    is_spaced: bool = True
