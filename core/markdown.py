"""Splits Markdown for platforms that limit the length of a message. Nothing here waits, reads or writes.

The rules it keeps: no piece is longer than the limit, and none is blank; a code fence or an inline mark that a cut
leaves open is closed at the end of the piece and opened again in the next; no cut falls within a link, an emoji or
another character of several code points. But for white space at the cuts and the marks that such repairs add, the
pieces joined give the text back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.graphemes import boundary

SMALLEST_LIMIT = 40  # units: with less, the marks to close and to open again leave no room for text

_REACH = 4_000  # characters behind the limit in which the end of a mark is looked for
_FENCE = re.compile(r"^([ \t>]{0,40})(`{3,}|~{3,})([^\n]{0,200})$", re.MULTILINE)
_INLINE = re.compile(r"\\.|(`+)|(\*{1,3}|~~)")
_ATOM = re.compile(  # what is never cut if it can be avoided: escapes, [n] marks, links, addresses, marks
    r"\\.|\[\[\d{1,4}\]\]\(<[^<>\s]{1,2000}>\)"
    r"|!?\[[^\[\]\n]{0,300}\](?:\([^()\s]{0,1000}(?:\([^()\s]{0,300}\)[^()\s]{0,300})?\))?"
    r"|<[^<>\s]{1,1000}>|https?://\S{1,1000}|`+|\*+|~~"
)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t][^\n]{0,400}(?:\n[ \t]*){1,9}", re.MULTILINE)
_PARAGRAPH = re.compile(r"(?=\n[ \t]*\n)")
_LINE = re.compile(r"(?=\n)")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])(?=[ \t])|(?<=[.!?…][\"'”’)\]*])(?=[ \t])|(?<=[。！？])")
_WORD = re.compile(r"(?=[ \t])")
_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")


@dataclass(frozen=True, slots=True)
class _Fence:
    """Where a fence starts, its code starts, its closing line starts, and it ends."""

    start: int
    body: int
    close: int
    end: int
    mark: str
    info: str


@dataclass(frozen=True, slots=True)
class _Cut:
    """The piece ends at `at` with `closing`; the next starts with `opening` and what stands at `resume`."""

    at: int
    resume: int
    closing: str = ""
    opening: str = ""


def units(text: str) -> int:
    """Count a text as the strictest platform may: an emoji outside of the first 65,536 code points counts twice."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(text: str, limit: int, *, filled: float = 1 / 3) -> list[str]:
    """Cut *text* into pieces of at most *limit* units: between paragraphs, else lines, sentences, words, characters.

    A cut of any kind counts only where the piece before it is *filled* to this share of the limit.
    """
    if limit < SMALLEST_LIMIT:
        raise ValueError(f"the limit is {limit}; it has to be at least {SMALLEST_LIMIT}")
    text = _closed(text.rstrip())
    pieces: list[str] = []
    opened = 0
    while (room := _room(text, limit)) < len(text):
        cut = _cut(text[: limit + _REACH], opened, room, filled)
        pieces.append(text[: cut.at].rstrip() + cut.closing)
        text = cut.opening + text[cut.resume :]
        opened = len(cut.opening)
    return [piece for piece in (*pieces, text) if piece.strip()]


def _room(text: str, limit: int) -> int:
    """Count how many code points at the start of *text* have at most *limit* units."""
    room = min(len(text), limit)
    while (excess := units(text[:room]) - limit) > 0:
        room -= (excess + 1) // 2
    return room


def _closed(text: str) -> str:
    """Close the fence that a text leaves open."""
    fences = _fences(text)
    return f"{text}\n{fences[-1].mark}" if fences and fences[-1].close == len(text) else text


def _cut(text: str, opened: int, limit: int, filled: float) -> _Cut:
    """Find the best place to cut; the first *opened* characters are marks that were opened again."""
    fences = _fences(text)
    budget = limit
    while True:  # ends: what was opened takes less than half of the room, and a cut in that half always fits
        at = _place(text, opened, budget, fences, filled)
        cut = _repaired(text, at, fences)
        if len(cut.closing) + len(cut.opening) > limit // 2:
            return _Cut(at, at)
        if len(text[: cut.at].rstrip()) + len(cut.closing) <= limit:
            return cut
        budget = min(at - 1, limit - len(cut.closing))


def _place(text: str, opened: int, budget: int, fences: Sequence[_Fence], filled: float) -> int:
    """Give the last place for the widest kind of break, if the piece is *filled* by then; else where the room ends."""
    whole = [match.span() for match in _ATOM.finditer(text)]
    lines = [(fence.start, fence.body) for fence in fences]
    headings = [match.span() for match in _HEADING.finditer(text)]  # each stays with what it is the heading of
    least = opened + int((budget - opened) * filled)
    for breaks in (_PARAGRAPH, _LINE, _SENTENCE, _WORD):
        barred = [
            *lines,
            *((f.body, f.end) for f in fences if breaks is not _LINE),
            *(h for h in headings if not any(f.body <= h[0] < f.end for f in fences)),
            *(whole if breaks in (_SENTENCE, _WORD) else []),
        ]
        places = [m.start() for m in breaks.finditer(text, least + 1) if m.start() <= budget]
        free = [at for at in places if not any(start < at < end for start, end in barred)]
        if free:
            return free[-1]
    at = next((start for start, end in (*lines, *whole) if opened < start < budget < end), budget)
    return max(boundary(text, at), opened + 1)


def _repaired(text: str, at: int, fences: Sequence[_Fence]) -> _Cut:
    """Close what is open at the cut, and open it again behind it."""
    for fence in fences:
        if fence.body <= at < fence.end:
            if not text[at : fence.close].strip() and fence.close < len(text):
                return _Cut(min(at, fence.close), _resumed(text, fence.end), f"\n{fence.mark}")
            behind = at + 1 if text[at] == "\n" else at
            return _Cut(at, behind, f"\n{fence.mark}", f"{fence.mark}{fence.info}\n")
    start = max([0, *(fence.end for fence in fences if fence.end <= at), *_ends(_PARAGRAPH, text[:at])])
    behind = _PARAGRAPH.search(text, at)
    spans = [
        (start + opens, mark)
        for opens, closes, mark in _spans(text[start : behind.start() if behind else len(text)])
        if start + opens + len(mark) <= at <= start + closes
    ]
    marks = [mark for _, mark in sorted(spans)]
    return _Cut(at, _resumed(text, at), "".join(reversed(marks)), "".join(marks))


def _resumed(text: str, at: int) -> int:
    """Go over the white space behind a cut, but keep the indentation of the line that follows."""
    blank = _BLANK_LINES.match(text, at)
    if blank:
        return blank.end()
    return at + len(text[at:]) - len(text[at:].lstrip(" \t"))


def _ends(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text))


def _fences(text: str) -> list[_Fence]:
    fences: list[_Fence] = []
    line: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if line is None:
            line = match if match[2][0] == "~" or "`" not in match[3] else None
        elif match[2].startswith(line[2]) and not match[3].strip():
            fences.append(_Fence(line.start(), line.end() + 1, match.start(), match.end(), line[1] + line[2], line[3]))
            line = None
    if line is not None:
        fences.append(_Fence(line.start(), line.end() + 1, len(text), len(text), line[1] + line[2], line[3]))
    return fences


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Give the inline marks of a paragraph that are closed in it: where they open, where they close, and the mark."""
    waiting: list[tuple[int, str]] = []
    at = 0
    while match := _INLINE.search(text, at):
        at = match.end()
        if match[1]:
            closing = re.compile(rf"(?<!`){match[1]}(?!`)").search(text, at)
            if closing:
                yield match.start(), closing.start(), match[1]
                at = closing.end()
        elif match[2] and match[2] in (mark for _, mark in waiting) and not text[match.start() - 1].isspace():
            place = max(i for i, (_, mark) in enumerate(waiting) if mark == match[2])
            yield waiting[place][0], match.start(), match[2]
            del waiting[place:]
        elif match[2] and not text[at : at + 1].isspace():
            waiting.append((match.start(), match[2]))
