"""Looks at the nodes of an answer, and leaves off what must not be shown, or not yet."""

from __future__ import annotations

import re
import string
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple, TypeAlias

from core.answering.citations import OPEN_ADDRESS, addresses, trim_url
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
    Strike,
    Strong,
    TableRow,
    Text,
    visible,
)

_LOOSE = string.punctuation + string.whitespace
_OPENS = "[［【〔⟦⁅❲〘〚﹝⦋⦗⎡〖⟬﹇︹︻︗"  # what looks like the brackets of a footnote
_CLOSES = "]］】〕⟧⁆❳〙〛﹞⦌⦘⎤〗⟭﹈︺︼︘"
_DIGIT = (
    r"\d⁰¹²³⁴-⁹₀-₉\u2160-\u2188\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\u3251-\u325f\u32b1-\u32bf\U0001f100-\U0001f10c"
)
_HARDLY_SEEN = r"\s^\u0300-\u036f\u115f\u1160\u20d0-\u20ff\u3164\ufe00-\ufe0f\uffa0"
_BETWEEN = r",;，；、﹐﹑﹔–—‐‑‒―/／&＆|｜*＊†‡－﹣-"
_BRACKETS = "".join(map(re.escape, _OPENS)), "".join(map(re.escape, _CLOSES))
_LIKE_A_MARK = re.compile(
    rf"[{_BRACKETS[0]}][{_HARDLY_SEEN}]{{0,9}}[{_DIGIT}][{_DIGIT}{_HARDLY_SEEN}{_BETWEEN}]{{0,99}}[{_BRACKETS[1]}]"
)
_LIKE_AN_OPEN_MARK = re.compile(rf"[{_BRACKETS[0]}][{_DIGIT}{_HARDLY_SEEN}{_BETWEEN}]{{0,99}}\Z")
_LIKE_AN_OPEN_ENTITY = re.compile(r"&#?\w{0,31}\Z")
_LONGEST_ENTITY = 33  # characters
_LONGEST_ADDRESS = 1_300  # characters of one that is code; of a longer one, the rest is words
_ROUND = str.maketrans(_OPENS + _CLOSES, "(" * len(_OPENS) + ")" * len(_CLOSES))

Wrap: TypeAlias = type[Strong] | type[Emphasis] | type[Strike]


class TextRun(NamedTuple):
    """A node without emphasis in it, and the kinds of emphasis around it from the outside in."""

    node: Text | CodeSpan | LineBreak | Footnote | Link
    wraps: tuple[Wrap, ...] = ()

    def wrapped(self) -> Inline:
        """Return it as a node with its emphasis."""
        node: Inline = self.node
        for wrap in reversed(self.wraps):
            node = wrap((node,))
        return node


def runs(nodes: Iterable[Inline], wraps: tuple[Wrap, ...] = ()) -> Iterator[TextRun]:
    """Return nodes one by one, in their order."""
    for node in nodes:
        if isinstance(node, (Strong, Emphasis, Strike)):
            yield from runs(node.children, (*wraps, type(node)))
        else:
            yield TextRun(node, wraps)


def inlines(block: Block) -> Sequence[Inline]:
    """Return the nodes of a block, those of a row cell by cell; code and rules have none."""
    match block.leaf:
        case Paragraph(children) | Heading(_, children):
            return children
        case TableRow(head, cells):
            return [node for cell in (*head, *cells) for node in cell]
        case _:
            return ()


def put(nodes: list[Inline], more: Iterable[Inline | str]) -> None:
    """Add nodes and words to nodes; words go on in the text before them, and no line begins with white space."""
    for node in more:
        before = nodes[-1] if nodes else None
        if not isinstance(node, (str, Text)):
            nodes.append(node)
            continue
        text = node if isinstance(node, str) else node.text
        if isinstance(before, Text):
            nodes[-1] = Text(before.text + text)
        elif text := text.lstrip() if isinstance(before, LineBreak) else text:
            nodes.append(Text(text))


def trim_end(nodes: list[Inline], *, breaks: bool = False) -> None:
    """Remove white space at the end, with *breaks* the ends of lines too."""
    while nodes:
        last = nodes[-1]
        if isinstance(last, Text) and (text := last.text.rstrip()) != last.text:
            nodes[-1:] = [Text(text)] if text else []
        elif not (breaks and isinstance(last, LineBreak)):
            break
        else:
            nodes.pop()


def trimmed(nodes: Sequence[Inline], *, at_start: bool = False) -> list[Inline]:
    """Leave off white space and the ends of lines at the end, and with *at_start* also there."""
    kept = list(nodes)
    trim_end(kept, breaks=True)
    while at_start and kept and isinstance(first := kept[0], (Text, LineBreak)):
        if (text := first.text.lstrip()) == first.text:
            break
        kept[:1] = [Text(text)] if text else []
    return kept


def shown(nodes: Sequence[Inline], *, is_whole: bool) -> list[Inline]:
    """Return nodes as they are shown: a number in brackets that is no footnote has round ones, which no footnote has.

    An address that is no link is code, wherever it came from and however it was put together, so that nobody's client
    makes a link of it. Unless they are *whole*, an end is left off that more text could change, or the way it is
    written: a word, what looks like a footnote or an entity, white space and punctuation, and emphasis, which is one
    with the same right behind it.
    """
    kept = trimmed(nodes, at_start=True)
    text = visible(kept)
    if (unmarked := without_marks(text)) != text:
        text = unmarked
        kept = list(_rewritten(kept, iter(text)))
        text = visible(kept)  # in which code is as it was
    kept = _quiet(kept, text)
    if is_whole:
        return kept
    text = visible(kept)
    open_mark, open_address = _LIKE_AN_OPEN_MARK.search(text), None
    if not visible(nodes)[-1:].isspace():
        open_address = OPEN_ADDRESS.match(text[: -_LONGEST_ADDRESS - 1 : -1])
    length = max(len(found[0]) if found else 0 for found in (open_mark, open_address))
    while length > 0 and kept:
        last, size = kept[-1], len(kept[-1].text)
        words = last.text[: max(size - length, 0)] if isinstance(last, Text) else ""
        kept[-1:] = [Text(words)] if words else []
        length -= size
    while kept and isinstance(last := kept[-1], (Text, LineBreak, Strong, Emphasis, Strike)):
        words = _certain(last.text) if isinstance(last, Text) else ""
        if isinstance(last, Text) and words == last.text:
            break
        kept[-1:] = [Text(words)] if words else []
    return kept


def without_marks(text: str) -> str:
    """Return a text in which a number in brackets has round ones."""
    return _LIKE_A_MARK.sub(lambda found: found[0].translate(_ROUND), text)


def inert(text: str) -> Sequence[Text | CodeSpan]:
    """Return words that no model wrote, such as a title, as nodes in which nothing looks like a footnote or a link."""
    return [node for node in shown((Text(text),), is_whole=True) if isinstance(node, (Text, CodeSpan))]


def cut(nodes: Sequence[Inline], spans: Iterable[tuple[int, int]]) -> list[Inline]:
    """Return nodes without some spans of their visible text, footnotes in them included."""
    kept, at, gone = list[Inline](), 0, [place for start, end in spans for place in range(start, end)]
    hidden = frozenset(gone)
    for run in runs(nodes):
        size = len(run.node.text)
        left = [place - at for place in range(at, at + size) if place not in hidden]
        at += size
        if len(left) == size:
            kept.append(run.wrapped())
        elif left and isinstance(node := run.node, (Text, CodeSpan)):
            kept.append(run._replace(node=replace(node, text="".join(node.text[each] for each in left))).wrapped())
    return kept


def _quiet(nodes: list[Inline], text: str) -> list[Inline]:
    """Return nodes, of which a reader sees this *text*, with an address as code, if it is not in code or in a link."""
    ahead = deque((each.start(), each.start() + len(trim_url(each[0]))) for each in addresses(text))
    if not ahead:
        return nodes
    kept, at = list[Inline](), 0
    for run in runs(nodes):
        start, end = at, at + len(run.node.text)
        at = end
        while start < end:
            while ahead and ahead[0][1] <= start:
                ahead.popleft()
            first, last = ahead[0] if ahead else (end, end)
            is_apart = isinstance(run.node, (CodeSpan, Link)) and first >= start and last <= end
            if first >= end or is_apart or isinstance(run.node, (Footnote, LineBreak)):
                node = replace(run.node, text=text[start:end]) if isinstance(run.node, (Text, CodeSpan)) else run.node
                kept.append(run._replace(node=node).wrapped())
                break
            if start < first:
                kept.append(TextRun(Text(text[start:first]), run.wraps).wrapped())
            if first >= start or not kept:
                kept.append(TextRun(CodeSpan(text[first:last]), run.wraps).wrapped())
            start = last
    return kept


def _certain(words: str) -> str:
    """Leave off signs, which count by what follows them, and what could become an entity."""
    words = words.rstrip(_LOOSE)
    while found := _LIKE_AN_OPEN_ENTITY.search(words, max(len(words) - _LONGEST_ENTITY, 0)):
        words = words[: found.start()].rstrip(_LOOSE)
    return words


def _rewritten(nodes: Iterable[Inline], characters: Iterator[str]) -> Iterator[Inline]:
    for node in nodes:
        if isinstance(node, (Link, Strong, Emphasis, Strike)):
            yield replace(node, children=tuple(_rewritten(node.children, characters)))
        else:
            text = "".join(islice(characters, len(node.text)))
            yield Text(text) if isinstance(node, Text) else node
