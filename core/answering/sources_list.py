"""Knows a list of sources that a model wrote itself: the footnotes below an answer are ours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.answering.addresses import URL
from core.model.markup import Block, Heading, ListItem, Paragraph, TableRow

_MARK = r"\[{1,2}\s?\^?\d{1,4}\s?\]{1,2}|【\d{1,4}[^】]{0,40}】|［\d{1,4}］"
_ENTRY = re.compile(rf"[ \t>]*(?:\*\*|__)?(?:{_MARK})")
_REFERENCE = re.compile(rf"[ \t]*(?:\*\*)?(?:{_MARK})(?:\*\*)?[ \t]*(?::|.*(?:https?://|www\.|\]\())")
_TITLES = (
    "source", "sources", "references", "reference", "footnotes", "citations", "bibliography", "works cited", "links",
    "sources used", "source list", "list of sources", "quelle", "quellen", "quellenangaben", "einzelnachweise",
    "literatur", "fußnoten", "fuentes", "referencias", "références", "sources citées", "fonti", "riferimenti",
    "bronnen", "fontes", "referências", "źródła", "källor", "kilder", "lähteet", "zdroje", "kaynaklar",
    "источники", "джерела", "来源", "參考資料", "参考资料", "参考文献", "參考文獻", "出典", "출처", "المصادر",
    "מקורות",
)  # fmt: skip
_LONGEST_TITLE = max(map(len, _TITLES))


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A block that is whole, or not, but whose words are not read yet: its lines, or the cells of its row."""

    block: Block
    lines: tuple[str, ...]
    is_whole: bool = True
    head: tuple[str, ...] = ()


def is_of_sources(raw: RawBlock, held: Sequence[RawBlock]) -> bool:
    """Return whether a block belongs to a list of sources, or may do so: its title, or what stands below one."""
    has_title = any(map(_is_title, held))
    if not isinstance(raw.block.leaf, Paragraph | Heading):
        return isinstance(raw.block.leaf, TableRow) and has_title
    if _is_title(raw) or all(map(_REFERENCE.match, raw.lines)):
        return True
    if not raw.is_whole:
        said = _bare(raw.lines[0].partition(":")[0])
        return has_title or any(title.startswith(said) for title in _TITLES) or bool(_ENTRY.match(raw.lines[0]))
    if not has_title or isinstance(raw.block.leaf, Heading):
        return False
    return any(isinstance(container, ListItem) for container in raw.block.path) or all(map(_is_entry, raw.lines))


def _is_title(raw: RawBlock) -> bool:
    """Return whether a block is the title of a list of sources, with what may follow on the same line and below."""
    if not isinstance(raw.block.leaf, Paragraph | Heading) or raw.block.path:
        return False
    first, *others = raw.lines
    said, _, behind = first.replace("：", ":").partition(":")
    behind = behind.strip(" *_")
    return _bare(said) in _TITLES and (not behind or _is_entry(behind)) and all(map(_is_entry, others))


def _is_entry(line: str) -> bool:
    return bool(_ENTRY.match(line) or URL.search(line))


def _bare(line: str) -> str:
    return line[: _LONGEST_TITLE + 20].strip(" *_#:：.").casefold()
