"""Turns the lines of Markdown into what Discord draws: it knows no tables, no deep headings and no rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from adapters.chat.kept import is_kept

_HEADING = re.compile(r"((?:[ \t]{0,3}>[ \t]?){0,9}) {0,3}(#{1,6})[ \t]+(\S.*)")
_DEEPEST = 3
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,99}|(?:\*[ \t]*){3,99}|(?:_[ \t]*){3,99})")
_UNDERLINE = re.compile(r" {0,3}(?:={2,99}|-{2,99})[ \t]{0,99}")
_QUOTES = re.compile(r"[ \t]{0,40}>(?:[ \t]{0,3}>)+")  # three would quote all the rest of the message
_SMALL = re.compile(r"((?:[ \t>]|[-*+][ \t]){0,40})(-#)")
_BULLET = re.compile(r"\A([ \t>]{0,40})\+(?=[ \t])")
_NUMBER = re.compile(r"\A([ \t>]{0,40}\d{1,9})\)(?=[ \t])")
_TASK = re.compile(r"\A([ \t>]{0,40}[-*][ \t]{1,4})\\?\[([ xX])\](?=[ \t])")
_STARTS = re.compile(r"[ \t]*(?:[-*+>#]|\d{1,9}[.)])")
_CELL = re.compile(r"(?<!\\)\|")
_DASHES = re.compile(r":?-{1,99}:?")


def redrawn(text: str, *, final: bool) -> str:
    """Rewrite every line; unless *final*, a table whose beginning may just have come is left off."""
    lines = text.split("\n")
    if not final:
        lines = _without_open_table(lines)
    drawn: list[str] = []
    at = 0
    while at < len(lines):
        rows = _table(lines, at)
        if rows:
            drawn += _listed(rows)
            at += len(rows) + 1  # the line of dashes is no row
            continue
        if drawn and _is_underline(drawn, lines[at], text_before=at > 0 and bool(lines[at - 1].strip())):
            drawn[-1] = _bold(drawn[-1].strip())
        elif not _RULE.fullmatch(lines[at]):
            drawn.append(_line(lines[at]))
        at += 1
    return "\n".join(drawn)


def _line(line: str) -> str:
    if heading := _HEADING.fullmatch(line):
        title = _without_closing(heading[3])
        return heading[1] + (f"{heading[2]} {title}" if len(heading[2]) <= _DEEPEST else _bold(title))
    line = _QUOTES.sub(">", line, count=1) if _QUOTES.match(line) else line
    line = _SMALL.sub(r"\1\\\2", line, count=1) if _SMALL.match(line) else line
    line = _TASK.sub(lambda found: found[1] + ("☐" if found[2] == " " else "☑"), line, count=1)
    return _NUMBER.sub(r"\1.", _BULLET.sub(r"\1-", line, count=1), count=1)


def _without_closing(title: str) -> str:
    """Leave off the marks that may close a heading, but not those of a word such as C#."""
    bare = title.rstrip().rstrip("#")
    return bare.rstrip() if bare != title.rstrip() and bare[-1:].isspace() else title.rstrip()


def _bold(title: str) -> str:
    return f"**{title.replace('**', '')}**"


def _is_underline(drawn: Sequence[str], line: str, *, text_before: bool) -> bool:
    """Say whether a line makes a heading of the one before it."""
    title = drawn[-1]
    return bool(text_before and title.strip() and _UNDERLINE.fullmatch(line)) and not (
        is_kept(title) or _STARTS.match(title) or title.startswith("**")
    )


def _cells(line: str) -> list[str]:
    bare = line.strip().removeprefix("|")
    if bare.endswith("|") and not bare.endswith("\\|"):
        bare = bare[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(bare)]


def _table(lines: Sequence[str], at: int) -> list[list[str]]:
    """Give the rows of the table that begins at a line, the head first; none if none begins there."""
    if at + 1 >= len(lines) or "|" not in lines[at] or "|" not in lines[at + 1]:
        return []
    head, dashes = _cells(lines[at]), _cells(lines[at + 1])
    if len(head) != len(dashes) or not all(map(_DASHES.fullmatch, dashes)):
        return []
    rows = [head]
    for line in lines[at + 2 :]:
        if "|" not in line:
            break
        rows.append(_cells(line))
    return rows


def _listed(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Give a table as a list, in which every value says what it is."""
    head = rows[0]
    if len(rows) == 1:
        yield "- " + " · ".join(filter(None, head))
    for row in rows[1:]:
        names = [*head, *([""] * max(len(row) - len(head), 0))]
        named = [f"{name}: {cell}" if name else cell for name, cell in zip(names, row, strict=False) if cell]
        yield "- " + " · ".join(named)


def _without_open_table(lines: list[str]) -> list[str]:
    """Leave off the last line if it is a row that is not whole, and the head of a table that has no dashes yet."""
    whole, last = lines[:-1], lines[-1]
    if "|" not in last and (last.strip() or not whole or "|" not in whole[-1]):
        return lines
    start = len(whole)
    while start and "|" in whole[start - 1]:
        start -= 1
    known = any(_table(whole, at) for at in range(start, len(whole)))
    return [*(whole if known else whole[:start]), "" if "|" in last or not known else last]
