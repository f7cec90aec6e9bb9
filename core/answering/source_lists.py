"""Lists of sources that models write into their answers: the sources that count are drawn below them anyway."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.answering.citations import URL
from core.model.markup import Block, CodeLine, Heading, ListItem, Paragraph, TableRow

_MARK = r"\[{1,2}\s?\^?\d{1,4}\s?\]{1,2}|【\d{1,4}[^】]{0,40}】|［\d{1,4}］"
_ENTRY = re.compile(rf"[ \t>]*(?:[-*+•][ \t]+)?(?:\*\*|__)?(?:{_MARK})")
_REFERENCE = re.compile(rf"[ \t]*(?:\*\*)?(?:{_MARK})(?:\*\*)?[ \t]*(?::|.*(?:https?://|www\.|\]\())")
_LOOKALIKES = str.maketrans("аеорсухіѕјοαειυνρтмкнв", "aeopcyxisjoaeiuvptmkhb")  # Cyrillic and Greek


def _folded(text: str) -> str:
    """Return small letters without accents, and Latin ones for what looks like one."""
    bare = "".join(one for one in unicodedata.normalize("NFD", text.casefold()) if unicodedata.category(one) != "Mn")
    return unicodedata.normalize("NFC", bare).translate(_LOOKALIKES)


_TITLES = """source sources reference references footnote footnotes endnote endnotes citation citations
    bibliography links literature quelle quellen quellenangaben quellenverzeichnis einzelnachweise literatur
    literaturverzeichnis fußnoten fuente fuentes referencia referencias bibliografia bibliographie fonte fonti
    riferimenti bronnen fontes źródła källor kilder lähteet zdroje kaynaklar izvori viri surse források allikad avoti
    šaltiniai nguồn sumber πηγές источники ссылки литература литературы джерела източници 来源 參考資料 参考资料
    参考文献 參考文獻 参考リンク 参照 出典 출처 참고문헌 स्रोत المصادر المراجع منابع מקורות แหล่งที่มา"""
_BESIDE = """above additional all also and answer are at below cited consultadas consulted doc docs document
    documentation documents for from further here in is key link list main material notes of official our primary
    reading my relevant response section secondary supporting the these this und used useful with список"""
_NOUNS, _OTHERS = frozenset(_folded(_TITLES).split()), frozenset(_folded(_BESIDE).split())  # which alone make no title
_BEGUN = frozenset(each[:size] for each in (*_NOUNS, *_OTHERS) for size in range(len(each) + 1))
_WHOLE = ("nearest sections", "works cited", "cited works")  # the first stands above a list of the product's own
_OF_ROBOTS = "links"  # have such a name as well, and much else has
_COLUMNS = frozenset({"#", "no", "number", "page", "title", "section", "link", "url", "score", "relevance", ""})
_LONGEST_NAME = 80  # characters of an entry that has no number and no address
_LONGEST_LINE = 500  # characters of one that is looked at as a title
_UNSAID = re.compile(r"<[^<>]*(?:>|\Z)|&#?\w*\Z|[*_~`\\]")
_SIGN = re.compile(r"[<&*_~`\\]")  # without one of these nothing is unsaid, which is quickly seen
_BEHIND = re.compile(r"[:—–-](?:(?<=:)|(?<=\s.)\s)")  # between a title and what stands on the same line
_GOES_ON = re.compile(rf"(?:{_MARK})\s+[a-z].*[.!?]\s*\Z")  # a sentence whose first word is footnoted
_BREAK = re.compile(r"<(?:br|/?(?:p|div|[uo]l|li|h[1-6]|summary|details|t[rdh]))\b[^<>]{0,200}>", re.IGNORECASE)
_SIGNED = re.compile(r"\s*(?:\*\*|__).*(?:\*\*|__)\s*\Z|.*:[*_\s]*\Z")  # what only a title has
_ENDED = re.compile(r"[.!?…:。！？\])）】>][*_\s]*\Z")  # of a line, behind which nothing goes on
_SAID = re.compile(r"[^\W_](?:[^(]*[^\W_])?")  # without the signs around it, and a remark in brackets
_SPACED = re.compile(r"\w(?:\s\w)+")
_WORD = re.compile(r"[^\s\d_/&+,;.…|]+")
_A_MARK = re.compile(_MARK)
_BETWEEN = re.compile(rf"(?:{_MARK})|\s[-–—•]\s")  # names on one line
_OPEN_MARK = re.compile(r"[\[【［][\[\s^\d]{0,9}\Z")
_MARKED = re.compile(rf"(?:{_MARK})[*_\s]*\Z")
_JOINED = re.compile(r"(?:[\W_]|(?:and|und)\b)*")  # what stands between marks


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A block that is whole, or not, but whose words are not read yet: its lines, or the cells of its row."""

    block: Block
    lines: tuple[str, ...]
    is_whole: bool = True
    head: tuple[str, ...] = ()


def parts(lines: Sequence[str], *, is_whole: bool) -> Iterator[Sequence[str]]:
    """Give the lines of a paragraph as those of several, where a list of sources begins within it, or ends.

    Unless it *is whole*, what may be such a list at its end is left off, with a line in its place.
    """
    broken = _broken(lines)
    begun, at, last = 0, 0, len(broken) - (not is_whole)
    while at < len(broken):
        if not (is_headed(broken[at]) if at < last else _may_head(broken[at])):
            at += 1
            continue
        end = at + 1
        while end < last and _is_entry_or_name(broken[end]):
            end += 1
        if not is_whole and end >= last and at:
            yield [*broken[begun:at], ""]
            return
        if _is_begun(broken, at, end):
            if begun < at:
                yield broken[begun:at]
            yield broken[at:end]
            begun = end
        at = end
    if begun < len(broken):
        yield broken[begun:] if begun else lines


def _broken(lines: Sequence[str]) -> Sequence[str]:
    """Return lines as HTML breaks them; the last one stays, as it may be empty."""
    if not any("<" in line for line in lines):
        return lines
    pieces = [piece.strip() for line in lines for piece in _BREAK.split(line)]
    return [piece for piece in pieces[:-1] if piece] + pieces[-1:]


def is_headed(line: str) -> bool:
    """Return whether a line is the title of a list of sources, perhaps with its first entry."""
    said, behind = _title_and_rest(line)
    is_name = (said == _WHOLE[0] or said[-1:].isdigit()) and _is_entry_or_name(behind)
    return _names_sources(said) and (not behind or _is_entry_or_marked(behind) or is_name or _has_names(line))


def _may_head(line: str) -> bool:
    """Return whether a line that may go on could become such a title."""
    said, behind = _title_and_rest(_OPEN_MARK.sub("", line[:_LONGEST_LINE]))
    return _names_sources(said, is_whole=bool(behind) or "(" in line)


def _is_begun(lines: Sequence[str], at: int, end: int) -> bool:
    """Return whether a line with a title begins a list, whose entries go up to *end*: words that go on begin none."""
    line, below = lines[at], lines[at + 1 : end]
    if _title_and_rest(line)[1] or any(map(_ENTRY.match, below)):
        return True
    if at == 0 or end < len(lines):
        has_entries = any(map(_is_entry, below))
        if at == 0 or not has_entries:
            return has_entries
    said, has_ended = _SAID.search(_UNSAID.sub("", line)), bool(_ENDED.search(lines[at - 1]))
    is_capital, is_signed = bool(said) and not said[0][0].islower(), bool(_SIGNED.match(line))
    return (is_capital and is_signed) or (has_ended and (is_signed or (is_capital and line.rstrip()[-1:] not in ".!?")))


def is_of_sources(raw: RawBlock, *, title: RawBlock | None) -> bool:
    """Return whether a block belongs to a list of sources that a model wrote itself below a *title*, or may do so."""
    leaf = raw.block.leaf
    if isinstance(leaf, TableRow):
        return title is not None or is_title(raw)
    if not isinstance(leaf, (Paragraph, Heading)):
        return title is not None and isinstance(leaf, CodeLine) and bool(_ENTRY.match(leaf.text))
    is_wordless = title is not None and not any(_UNSAID.sub("", line).strip() for line in raw.lines)
    if is_wordless or is_title(raw) or all(map(_REFERENCE.match, raw.lines)):
        return True
    if not raw.is_whole:
        return title is not None or _may_head(raw.lines[0]) or bool(_ENTRY.match(raw.lines[0]))
    if title is None or isinstance(leaf, Heading):
        return False
    is_item = any(isinstance(container, ListItem) for container in raw.block.path)
    return (is_item and len(raw.block.path) > len(title.block.path)) or all(map(_is_entry_or_marked, raw.lines))


def is_title(raw: RawBlock) -> bool:
    """Return whether a block is the title of a list of sources, with what may follow on the same line and below.

    A table is one that has columns for sources and for what is said of such, and begins with an entry.
    """
    leaf = raw.block.leaf
    if isinstance(leaf, TableRow):
        others = {name for cell in raw.head if not _names_sources(name := _title_and_rest(cell)[0])}
        return leaf.is_first and len(others) < len(raw.head) and others <= _COLUMNS and any(map(_is_entry, raw.lines))
    if not isinstance(leaf, (Paragraph, Heading)):
        return False
    said, behind = _title_and_rest(raw.lines[0])
    is_item = any(isinstance(each, ListItem) for each in raw.block.path[-1:])
    if is_item and (behind[:1].islower() or (behind and said == _OF_ROBOTS)):
        return False  # an item that says what a thing is
    return is_headed(raw.lines[0]) and all(map(_is_entry_or_name, raw.lines[1:]))


def is_alone(held: Sequence[RawBlock]) -> bool:
    """Return whether all that may be a list of sources is its title, which so is the last item of another list."""
    if len(held) != 1 or len(held[0].lines) != 1:
        return False
    said, behind = _title_and_rest(held[0].lines[0])
    return _names_sources(said) and not behind and any(isinstance(each, ListItem) for each in held[0].block.path)


def is_forged(held: Sequence[RawBlock], *, title: RawBlock) -> bool:
    """Return whether what may be a list of sources is one, although the answer goes on below it.

    It has a *title*, and at least as many entries as sentences; mere footnotes behind a title are of what is above it.
    """
    lines = title.lines
    if not isinstance(title.block.leaf, TableRow):
        said, behind = _title_and_rest(lines[0])
        if said == _WHOLE[0] or said[-1:].isdigit() or _has_names(lines[0]):
            return True
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


@lru_cache(maxsize=64)  # each line is looked at several times
def _title_and_rest(line: str) -> tuple[str, str]:
    """Return what a line says before its first colon, dash or mark, without signs, and what stands behind it."""
    seen = line[:_LONGEST_LINE]
    if not seen.isascii() or _SIGN.search(seen):
        seen = unicodedata.normalize("NFKC", html.unescape(_UNSAID.sub("", seen)))
    found, mark = _BEHIND.search(seen), _A_MARK.search(seen)
    at, end = found.span() if found else (len(seen), len(seen))
    if mark and mark.start() < at and not _GOES_ON.match(seen, mark.start()):
        at = end = mark.start()
    said, behind = seen[:at], seen[end:]
    found = _SAID.search(said[: 2 * _LONGEST_NAME])
    said = found[0].casefold() if found else ""
    said = said if said.isascii() else _folded(said)
    return said.replace(" ", "") if _SPACED.fullmatch(said) else said, behind.strip()


def _names_sources(said: str, *, is_whole: bool = True) -> bool:
    """Return whether a title is that of a list of sources; one that is not whole may become such a title."""
    if any(each.startswith(said) and (said == each or not is_whole) for each in _WHOLE):
        return True
    has_noun = False
    for found in _WORD.finditer(said):  # most lines are no title by their first word
        if not is_whole and not _WORD.search(said, found.end()):
            return found[0] in _BEGUN or (len(found[0]) == 1 and has_noun)  # a letter alone says nothing in a title
        if len(found[0]) > 1 and found[0] not in _OTHERS and not (has_noun := found[0] in _NOUNS):
            return False
    return has_noun or not is_whole


def _has_names(line: str) -> bool:
    """Return whether several names stand behind a title, each with its number behind it, or with dashes before them."""
    behind = _title_and_rest(line)[1]
    names = (_SAID.search(each) for each in (_A_MARK if ":" in line else _BETWEEN).split(behind))
    begun = [name[0][0] for name in names if name]
    return len(begun) > 1 and not any(map(str.islower, begun)) and _is_entry_or_name(behind)


def _is_entry(line: str) -> bool:
    return bool(_ENTRY.match(line) or (("://" in line or "www." in line) and URL.search(line)))


def _is_entry_or_marked(line: str) -> bool:
    """Return whether a line is an entry, or a name with its number behind it."""
    return _is_entry(line) or (_is_entry_or_name(line) and bool(_MARKED.search(line)))


def _is_entry_or_name(line: str) -> bool:
    """Return whether a line may be an entry right below a title: a name is short, and no sentence."""
    is_name = len(line) <= _LONGEST_NAME and not line.rstrip().endswith((".", "!", "?", ":"))
    return is_name or _is_entry(line) or not _SAID.search(line)
