"""Looks at nodes and blocks of an answer, and leaves off what must not be shown, or not yet."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence

from core.model.markup import (
    Block,
    CodeSpan,
    Emphasis,
    Footnote,
    Heading,
    Inline,
    LineBreak,
    Link,
    Paragraph,
    Rule,
    Strike,
    Strong,
    TableRow,
    Text,
)

_MARKS = "\\*_[]<>~|@&`#+=-" + string.whitespace
_LIKE_A_MARK = re.compile(r"[\[［【〔]\s{0,9}\^?\d[\d\s,;^–—-]{0,99}[\]］】〕]")
_LIKE_AN_OPEN_MARK = re.compile(r"[\[［【〔][\d\s,;^–—-]{0,99}\Z")
_ROUND = str.maketrans("[［【〔]］】〕", "(((())))")


def visible(nodes: Iterable[Inline]) -> str:
    """Return what a reader sees of nodes; a footnote is a character that no text holds."""
    return "".join(map(_visible, nodes))


def _visible(node: Inline) -> str:
    match node:
        case Text(text) | CodeSpan(text):
            return text
        case LineBreak():
            return "\n"
        case Footnote():
            return "\ufffc"
        case Link(_, children) | Strong(children) | Emphasis(children) | Strike(children):
            return visible(children)


def trimmed(nodes: Sequence[Inline], *, at_start: bool = False, breaks: bool = True) -> list[Inline]:
    """Leave off white space at the end, with *breaks* the ends of lines too, and with *at_start* also there."""
    kept = list(nodes)
    while kept:
        last = kept[-1]
        if isinstance(last, Text) and (text := last.text.rstrip()) != last.text:
            kept[-1:] = [Text(text)] if text else []
        elif not (breaks and isinstance(last, LineBreak)):
            break
        else:
            kept.pop()
    while at_start and kept and isinstance(first := kept[0], Text | LineBreak):
        text = first.text.lstrip() if isinstance(first, Text) else ""
        if isinstance(first, Text) and text == first.text:
            break
        kept[:1] = [Text(text)] if text else []
    return kept


def without(kind: type[Strong | Emphasis | Strike], nodes: Iterable[Inline]) -> list[Inline]:
    """Leave off emphasis that stands within the same kind of emphasis."""
    flat: list[Inline] = []
    for node in nodes:
        if isinstance(node, Strong | Emphasis | Strike):
            inner = without(kind, node.children)
            flat += inner if isinstance(node, kind) else [type(node)(tuple(inner))]
        else:
            flat.append(node)
    return flat


def ends_apart(node: Inline) -> bool:
    """Return whether white space stands at the end of a node."""
    return isinstance(node, LineBreak) or (isinstance(node, Text) and node.text[-1:].isspace())


def without_open_end(nodes: list[Inline], *, is_open: bool) -> list[Inline]:
    """Leave off an end that more text could make look like a footnote, and signs that count by what follows them.

    Where it *is_open*, not even white space is known to follow.
    """
    found = _LIKE_AN_OPEN_MARK.search(visible(nodes))
    length = len(found[0]) if found else 0
    while length > 0 and nodes:
        last, size = nodes[-1], len(visible(nodes[-1:]))
        kept = last.text[: max(size - length, 0)] if isinstance(last, Text) else ""
        nodes = [*nodes[:-1], *([Text(kept)] if kept else [])]
        length -= size
    if is_open and nodes and isinstance(nodes[-1], Emphasis):
        nodes = trimmed(nodes[:-1])  # how it is written depends on what touches it
    if nodes and isinstance(last := nodes[-1], Text):
        kept = last.text.rstrip(string.punctuation) if is_open else last.text
        kept = _without_marks(kept) if not is_open or kept[-1:].isspace() else kept
        nodes = [*nodes[:-1], *([Text(kept)] if kept else [])]
    return trimmed(nodes)


def _without_marks(text: str) -> str:
    """Leave off signs at the end, and punctuation right before them, which counts by what follows it too."""
    kept = text.rstrip(_MARKS)
    return kept if text[len(kept) : len(kept) + 1].isspace() or kept == text else kept.rstrip(string.punctuation)


def without_false_marks(nodes: list[Inline]) -> list[Inline]:
    """Write a number in brackets that is no footnote in round ones, which no footnote has."""
    shown = visible(nodes)
    if not any(bracket in shown for bracket in "[［【〔"):
        return nodes
    characters = iter(_LIKE_A_MARK.sub(lambda found: found[0].translate(_ROUND), shown))
    return list(_rewritten(nodes, characters)) if "(" in shown or _LIKE_A_MARK.search(shown) else nodes


def _rewritten(nodes: Sequence[Inline], characters: Iterator[str]) -> Iterator[Inline]:
    for node in nodes:
        match node:
            case Text(text):
                yield Text("".join(next(characters) for _ in text))
            case CodeSpan(text):
                for _ in text:
                    next(characters)
                yield node
            case LineBreak() | Footnote():
                next(characters)
                yield node
            case Link(url, children):
                yield Link(url, tuple(_rewritten(children, characters)))
            case Strong(children) | Emphasis(children) | Strike(children):
                yield type(node)(tuple(_rewritten(children, characters)))


def footnote_numbers(blocks: Sequence[Block]) -> Iterator[int]:
    """Return the numbers of the footnotes in blocks, each as often as it stands there."""
    for block in blocks:
        match block.leaf:
            case Paragraph(children) | Heading(_, children):
                yield from _numbers(children)
            case TableRow(head, cells):
                for cell in (*head, *cells):
                    yield from _numbers(cell)
            case _:
                pass


def _numbers(nodes: Sequence[Inline]) -> Iterator[int]:
    for node in nodes:
        match node:
            case Footnote(number):
                yield number
            case Text() | CodeSpan() | LineBreak():
                pass
            case inner:
                yield from _numbers(inner.children)


def is_blank(blocks: Sequence[Block]) -> bool:
    """Return whether nothing is there to be read."""
    return not any(_has_words(block) for block in blocks)


def _has_words(block: Block) -> bool:
    match block.leaf:
        case Paragraph(children) | Heading(_, children):
            return bool(visible(children).strip())
        case Rule():
            return False
        case _:
            return True
