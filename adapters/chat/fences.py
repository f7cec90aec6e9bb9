"""Finds blocks of code wherever Markdown allows them: of backticks or tildes, in quotes and in lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_OPENING = re.compile(r"([ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?[ \t>]{0,40})(`{3,}(?=[^`]*\Z)|~{3,})(.*)\Z")
_MAYBE_OPENING = re.compile(r"[ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)]?)[ \t]{0,4})?[ \t>]{0,40}(?:`{0,2}|`{3,}[^`]*|~.*)\Z")
QUOTE = re.compile(r"[ \t]{0,40}>[ \t]?")
LANGUAGE = re.compile(r"[A-Za-z0-9_+.#-]{1,30}")


@dataclass(slots=True)
class Fenced:
    """A block of code, and what stood before its first mark on the line: a quote, a bullet, or nothing."""

    before: str
    mark: str
    info: str
    lines: list[str] = field(default_factory=list[str])

    @property
    def language(self) -> str:
        """The language that the block names; empty if it names none."""
        words = self.info.split()
        return words[0] if words and LANGUAGE.fullmatch(words[0]) else ""

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
            line = QUOTE.sub("", line, count=1)
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
