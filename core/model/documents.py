"""Documents as they are read, and passages as they are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from core.model.value import Value

Vector: TypeAlias = Sequence[float]


class Document(Value):
    """One page of a source as Markdown; headings may name their own anchor with a trailing `{#anchor}`."""

    source: str
    url: str
    title: str
    text: str
    chapter: str = ""
    opens_at: datetime | None = None


class Unreadable(Value):
    """Something in a source that could not be read, and why, in words for the person who runs the bot.

    With its `url` known, what was read of the page before is kept.
    """

    name: str
    reason: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a page, small enough to embed; `source_url` leads to its section.

    Nothing from outside comes in this shape, and each search makes dozens: so nothing is checked here.
    """

    passage_id: str
    source: str
    page_url: str
    source_url: str
    page_title: str
    section_title: str
    chapter: str
    text: str
    position: int
    page_length: int
    content_hash: str
    opens_at: datetime | None = None

    @property
    def heading(self) -> str:
        """The path to the passage as people read it."""
        return heading(self.page_title, self.section_title)


def heading(title: str, section: str) -> str:
    """Join a page's title and a section's path, without saying the same thing twice."""
    if not section or section == title:
        return title
    return section if section.startswith(f"{title} › ") else f"{title} › {section}"


@dataclass(frozen=True, slots=True)
class EmbeddedPassage:
    """A passage with the vector of its text under its heading path."""

    passage: Passage
    vector: Vector


@dataclass(frozen=True, slots=True)
class Outline:
    """What an index holds: counts, and the names that a scope can use."""

    passages: int
    pages: int
    sources: tuple[str, ...]
    chapters: tuple[str, ...]
