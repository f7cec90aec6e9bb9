"""Brings code into the one form that Discord and CommonMark read alike.

Discord closes a block at the first three backticks wherever they stand, knows no tildes and reads no fence that is
empty. What one of the two takes for code and the other for text is where a mention would come alive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import dedent

from adapters.discord.rendering.kept import GAP

FENCE = "```"

_OPENING = re.compile(r"([ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?[ \t>]{0,40})(`{3,}(?=[^`]*\Z)|~{3,})(.*)\Z")
_MAYBE_OPENING = re.compile(r"[ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)]?)[ \t]{0,4})?[ \t>]{0,40}(?:`{0,2}|`{3,}[^`]*|~.*)\Z")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+.#-]{1,30}")
_RUN = re.compile(r"`+")
_QUOTE = re.compile(r"[ \t]{0,40}>[ \t]?")
_LINE_END = re.compile(r"[ \t]*\n[ \t>]*")


@dataclass(slots=True)
class Fenced:
    """A block of code, and what stood before its first mark on the line: a quote, a bullet, or nothing."""

    before: str
    mark: str
    info: str
    lines: list[str] = field(default_factory=list[str])

    @property
    def quotes(self) -> int:
        """How deep the block lies in quotes."""
        return self.before.count(">")

    def ends_with(self, line: str) -> bool:
        """Say whether *line* closes the block."""
        bare = self._bare(line).strip()
        return len(bare) >= len(self.mark) and set(bare) == {self.mark[0]}

    def holds(self, line: str) -> bool:
        """Say whether *line* can be inside: a block in a quote ends with the quote."""
        return not self.quotes or line.lstrip().startswith(">")

    def add(self, line: str) -> None:
        """Take a line of code, without the quote's marks and the block's own indentation."""
        self.lines.append(self._bare(line))

    def _bare(self, line: str) -> str:
        for _ in range(self.quotes):
            line = _QUOTE.sub("", line, count=1)
        indent = len(self.before) - len(self.before.rstrip(" \t")) if self.quotes else len(self.before)
        return line[min(indent, len(line) - len(line.lstrip(" \t"))) :]


def segments(text: str, *, final: bool) -> Iterator[str | Fenced]:
    """Cut a text into prose and blocks of code; a line that may still become a fence is left off unless *final*."""
    prose: list[str] = []
    block: Fenced | None = None
    lines = text.split("\n")
    if not final and (_MAYBE_OPENING.match(lines[-1]) or set(lines[-1].strip(" \t>")) <= {"`"}):
        lines[-1] = ""
    for line in lines:
        if block is not None and block.holds(line):
            if block.ends_with(line):
                yield block
                block = None
            else:
                block.add(line)
            continue
        if block is not None:
            yield block
            block = None
        if opening := _OPENING.match(line):
            yield "\n".join([*prose, *filter(None, [opening[1].rstrip(" \t>")]), ""])
            prose = []
            block = Fenced(opening[1], opening[2], opening[3])
        else:
            prose.append(line)
    yield block or "\n".join(prose)


def fence(block: Fenced) -> str:
    """Write a block of code as Discord reads it; nothing if there is no code in it."""
    return _fence(block.info, "\n".join(block.lines))


def span(code: str) -> str:
    """Write a code span as Discord reads it: one or two backticks on one line, or a block if it was meant as one."""
    run = _RUN.match(code)
    width = len(run[0]) if run else 0
    inner = code[width : len(code) - width]
    block = _fence_in(inner) if "\n" in inner and width >= len(FENCE) else ""
    if block:
        return f"\n{block}\n"
    inner = _LINE_END.sub(" ", inner)
    if "`" not in inner:
        return f"`{inner}`"
    return f"``{_RUN.sub(_apart, inner)}``"


def _fence_in(inner: str) -> str:
    """Write what stands between three backticks and three others as a block, out of any quote around it."""
    first, _, body = inner.partition("\n")
    is_language = _LANGUAGE.fullmatch(first.strip()) is not None
    lines = [_QUOTE.sub("", line) for line in (body if is_language else inner).split("\n")]
    return _fence(first if is_language else "", dedent("\n".join(lines)))


def _fence(info: str, body: str) -> str:
    body = body.strip("\n").rstrip()
    if not body.strip():
        return ""
    words = info.split()
    language = words[0] if words and _LANGUAGE.fullmatch(words[0]) else ""
    body = _RUN.sub(lambda found: found[0] if len(found[0]) < len(FENCE) else _apart(found), body)
    return f"{FENCE}{language}\n{body}\n{FENCE}"


def _apart(run: re.Match[str]) -> str:
    return GAP.join(run[0])
