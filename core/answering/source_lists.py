"""Lists of sources that models write into their answers: the sources that count are drawn below them anyway."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from core.answering.citations import URL
from core.model.markup import Block, Heading, ListItem, Paragraph, TableRow

_MARK = r"\[{1,2}\s?\^?\d{1,4}\s?\]{1,2}|【\d{1,4}[^】]{0,40}】|［\d{1,4}］"
_ENTRY = re.compile(rf"[ \t>]*(?:\*\*|__)?(?:{_MARK})")
_REFERENCE = re.compile(rf"[ \t]*(?:\*\*)?(?:{_MARK})(?:\*\*)?[ \t]*(?::|.*(?:https?://|www\.|\]\())")
_LOOKALIKES = str.maketrans("аеорсухіѕјοαειυνρтмкнв", "aeopcyxisjoaeiuvptmkhb")  # Cyrillic and Greek
_WORDS = (
    "source", "sources", "references", "reference", "footnotes", "endnotes", "citations", "bibliography",
    "works cited", "links", "sources used", "sources used in this answer", "sources cited", "cited sources",
    "sources consulted", "here are the sources", "the sources are", "the sources", "my sources", "source list",
    "list of sources", "reference list", "list of references", "references cited", "quelle", "quellen",
    "quellenangaben", "einzelnachweise", "literatur", "fußnoten", "fuentes", "referencias", "références",
    "sources citées", "fonti", "riferimenti", "bronnen", "fontes", "referências", "źródła", "källor", "kilder",
    "lähteet", "zdroje", "kaynaklar", "источники", "джерела", "来源", "參考資料", "参考资料", "参考文献", "參考文獻",
    "出典", "출처", "المصادر", "מקורות",
)  # fmt: skip
_TITLES = frozenset(title.casefold().translate(_LOOKALIKES) for title in _WORDS)
_COLUMNS = frozenset({"#", "no", "number", "page", "title", "section", "link", "url", "score", "relevance", ""})
_LONGEST_TITLE = max(map(len, _TITLES))
_LONGEST_LINE = 500  # characters of one that is looked at as a title
_UNSAID = re.compile(r"<[^<>]*(?:>|\Z)|&#?\w*\Z|[*_~`\\]")
_SIGN = re.compile(r"[<&*_~`\\]")  # without one of these nothing is unsaid, which is quickly seen
_BEHIND = re.compile(r"[:—–-](?:(?<=:)|(?<=\s.)\s)")  # between a title and what stands on the same line
_SAID = re.compile(r"[^\W_](?:[^(]*[^\W_])?")  # without the signs around it, and a remark in brackets
_SPACED = re.compile(r"\w(?:\s\w)+")
_A_MARK = re.compile(_MARK)
_JOINED = re.compile(r"(?:[\W_]|(?:and|und)\b)*")  # what stands between marks


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A block that is whole, or not, but whose words are not read yet: its lines, or the cells of its row."""

    block: Block
    lines: tuple[str, ...]
    is_whole: bool = True
    head: tuple[str, ...] = ()


def is_of_sources(raw: RawBlock, *, title: RawBlock | None) -> bool:
    """Return whether a block belongs to a list of sources that a model wrote itself below a *title*, or may do so."""
    leaf = raw.block.leaf
    if isinstance(leaf, TableRow):
        return title is not None or is_title(raw)
    if not isinstance(leaf, (Paragraph, Heading)):
        return False
    is_wordless = title is not None and not any(_UNSAID.sub("", line).strip() for line in raw.lines)
    if is_wordless or is_title(raw) or all(map(_REFERENCE.match, raw.lines)):
        return True
    if not raw.is_whole:
        said, _ = _title_and_rest(raw.lines[0])
        return title is not None or any(each.startswith(said) for each in _TITLES) or bool(_ENTRY.match(raw.lines[0]))
    if title is None or isinstance(leaf, Heading):
        return False
    is_item = any(isinstance(container, ListItem) for container in raw.block.path)
    return (is_item and len(raw.block.path) > len(title.block.path)) or all(map(_is_entry, raw.lines))


def is_title(raw: RawBlock) -> bool:
    """Return whether a block is the title of a list of sources, with what may follow on the same line and below.

    A table is one that has columns for sources and for what is said of such, and begins with an entry.
    """
    leaf = raw.block.leaf
    if isinstance(leaf, TableRow):
        names = {_title_and_rest(cell)[0] for cell in raw.head}
        return (
            leaf.is_first and bool(names & _TITLES) and names <= _TITLES | _COLUMNS and any(map(_is_entry, raw.lines))
        )
    if not isinstance(leaf, (Paragraph, Heading)):
        return False
    said, behind = _title_and_rest(raw.lines[0])
    return said in _TITLES and (not behind or _is_entry(behind)) and all(map(_is_entry_or_name, raw.lines[1:]))


def is_alone(held: Sequence[RawBlock]) -> bool:
    """Return whether all that may be a list of sources is its title, which so is the last item of another list."""
    if len(held) != 1 or len(held[0].lines) != 1:
        return False
    said, behind = _title_and_rest(held[0].lines[0])
    return said in _TITLES and not behind and any(isinstance(each, ListItem) for each in held[0].block.path)


def is_forged(held: Sequence[RawBlock], *, title: RawBlock) -> bool:
    """Return whether what may be a list of sources is one, although the answer goes on below it.

    It has a *title*, and at least as many entries as sentences; mere footnotes behind a title are of what is above it.
    """
    lines = title.lines
    if not isinstance(title.block.leaf, TableRow):
        _, behind = _title_and_rest(lines[0])
        lines = ("" if _JOINED.fullmatch(_A_MARK.sub("", behind)) else behind, *lines[1:])
    weights = [int(any(map(_is_entry, lines))), *map(_weight, held[held.index(title) + 1 :])]
    return 1 in weights and sum(weights) >= 0


def _weight(raw: RawBlock) -> int:
    """Return 1 for an entry of a list of sources, which may be a numbered name, and -1 for a sentence."""
    if any(map(_is_entry, raw.lines)):
        return 1
    if not all(map(_is_entry_or_name, raw.lines)):
        return -1
    return int(any(isinstance(each, ListItem) and each.number is not None for each in raw.block.path[-1:]))


def _title_and_rest(line: str) -> tuple[str, str]:
    """Return what a line says before its first colon or dash, without marks and signs, and what stands behind it."""
    seen = line[:_LONGEST_LINE]
    if not seen.isascii() or _SIGN.search(seen):
        seen = unicodedata.normalize("NFKC", html.unescape(_UNSAID.sub("", seen)))
    said, behind = (*_BEHIND.split(seen, maxsplit=1), "")[:2]
    found = _SAID.search(said[: 2 * _LONGEST_TITLE + 20])
    said = found[0].casefold() if found else ""
    said = said if said.isascii() else said.translate(_LOOKALIKES)
    return said.replace(" ", "") if _SPACED.fullmatch(said) else said, behind.strip()


def _is_entry(line: str) -> bool:
    return bool(_ENTRY.match(line) or URL.search(line))


def _is_entry_or_name(line: str) -> bool:
    """Return whether a line may be an entry right below a title: a name is short, and no sentence."""
    return _is_entry(line) or (len(line) <= _LONGEST_TITLE * 3 and not line.rstrip().endswith((".", "!", "?", ":")))
