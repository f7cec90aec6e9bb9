"""Writes a conversation down as its people see it; what a message looks like is up to each platform."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

WIDTH = 100
THREAD = "│ "
TEXT = "   "
PRIVATE = " (only you can see this)"
EDITED = " (edited)"


class Transcript(Protocol):
    """Reads what stands on a platform; what nobody sees is left out, as are ids and times."""

    def news(self, asked: str) -> list[str]:
        """Give the lines of a message and of the thread on it, but of nothing that was given before and is the same."""
        ...

    def told(self, who: str) -> list[str]:
        """Give the lines of what somebody, by name, was told last and alone."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is drawn, with the addresses that its links lead to; the mark in front hangs."""

    text: str
    addresses: Sequence[str] = ()
    mark: str = ""


class News:
    """Remembers what was written down, and leaves out what is still the same."""

    def __init__(self) -> None:
        self._written: dict[Hashable, list[str]] = {}

    def of(self, name: Hashable, lines: list[str]) -> list[str]:
        """Give the lines of a message if they are new."""
        before = self._written.get(name)
        self._written[name] = lines
        return lines if lines != before else []


def message(head: str, body: Iterable[str]) -> list[str]:
    """Put what somebody says below the name."""
    return [head, *(f"{TEXT}{line}".rstrip() for line in body)]


def thread(name: str, said: Iterable[list[str]]) -> list[str]:
    """Put messages along the line of their thread."""
    lines = [f"Thread: {name}", *(line for one in said if one for line in ["", *one])]
    return [f"{TEXT}{THREAD}{line}".rstrip() for line in lines]


def drawn(lines: Sequence[Line]) -> Iterator[str]:
    """Give lines as they are seen, with each address below the last link to it."""
    last = {url: at for at, line in enumerate(lines) for url in line.addresses}
    for at, line in enumerate(lines):
        indent = " " * len(line.mark)
        yield from wrapped(line.text, first=line.mark, rest=indent) or [""]
        yield from (f"{indent}{TEXT}{url}" for url in dict.fromkeys(line.addresses) if last[url] == at)


def wrapped(text: str, *, first: str = "", rest: str = "") -> list[str]:
    """Cut a line between words; addresses stay whole."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def joined(blocks: Iterable[Iterable[str]]) -> str:
    """Put blocks of lines below one another, with an empty line between them."""
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"
