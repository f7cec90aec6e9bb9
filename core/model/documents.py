"""Documents as they are read, passages as they are stored, and what a search asks and finds."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from pydantic import Field

from core.model.question import Scope
from core.model.refs import Value, WorkspaceRef

Vector: TypeAlias = Sequence[float]


class Document(Value):
    """One page of a source as Markdown; headings may name their own anchor with a trailing `{#anchor}`.

    With a `stamp`, its source can tell later, without reading the page, that it is still the same. `name` is what the
    operator knows it by, such as the path of its file. `changed_on` is the day that it says it was changed on, such as
    2027-01-31. `macros` are the names in its text for which its build would have put words that nobody knows.
    """

    source: str
    url: str
    title: str
    text: str
    chapter: str = ""
    opens_at: datetime | None = None
    stamp: str = ""
    name: str = ""
    changed_on: str = ""
    macros: tuple[str, ...] = ()


class Unchanged(Value):
    """A page that bears the stamp that it bore before, so that it was not read; a new `stamp` takes its place."""

    url: str
    name: str = ""
    stamp: str = ""


class LeftOut(Value):
    """Something in a source that is not read, or holds nothing to read; *why* is a word or two to count it by.

    It *was all* there was of a source that has gone for good: then what was read of it before is removed.
    """

    name: str
    why: str
    was_all: bool = False


class Audience(Value):
    """Who may read a source: everybody, or the members of some communities; with neither, nobody."""

    everyone: bool = False
    communities: frozenset[WorkspaceRef] = frozenset()

    def admits(self, readers: Collection[WorkspaceRef]) -> bool:
        """Return whether it is open to those who are members of all these communities."""
        return self.everyone or not self.communities.isdisjoint(readers)


class Unreadable(Value):
    """Something in a source that could not be read, and why, in words for the person who runs the bot.

    With its `url` known, what was read of the page before is kept.
    """

    name: str
    reason: str
    url: str = ""


class SourceKind(StrEnum):
    """What is read: the files under a path or of a git repository, the pages below an address, or the page at one.

    What is brought is read by a package of somebody else.
    """

    FOLDER = "folder"
    REPOSITORY = "repository"
    WEBSITE = "website"
    PAGE = "page"
    BROUGHT = "brought"


class Origin(Value):
    """Where the pages of a source come from, and where they are published; what it is read by itself, if ever.

    `every` is in seconds; with 0 it is read only when somebody says so. `macros` are the words that its build puts in
    the place of names in braces.
    """

    kind: SourceKind
    address: str
    base_url: str = ""
    every: int = 0
    macros: Mapping[str, str] = Field(default_factory=dict[str, str])

    def overlaps(self, other: Origin) -> bool:
        """Return whether one of the two is the place of the other, or in it, so that both hold the same pages."""
        ports = (re.sub(r"^(https?://[^/#]*):", r"\1;", each.address) for each in (self, other))  # which are no folders
        here, there = (re.sub(r"[/#:]+", "/", f"{each}/") for each in ports)
        return here.startswith(there) or there.startswith(here)


class SyncReport(Value):
    """What came of reading a source, the last time that it could be read to its end: `read_at`, if ever.

    `problem` says why it could not be read when that was last `tried_at`; the counts are then those of before.
    `macros` are names in its pages for which only its build has words.
    """

    tried_at: datetime
    read_at: datetime | None = None
    pages: int = 0
    skipped: int = 0
    failed: int = 0
    failures: tuple[Unreadable, ...] = ()
    macros: tuple[str, ...] = ()
    problem: str = ""


class SourceRecord(Value):
    """What is known of a source; without an `audience` it belongs to the first community that was allowed."""

    name: str
    audience: Audience | None = None
    origin: Origin | None = None
    last: SyncReport | None = None

    def updated(self, news: SourceRecord) -> SourceRecord:
        """Return it with what the *news* say; what they leave open stays."""
        said = {name: value for name in type(self).model_fields if (value := getattr(news, name)) is not None}
        return self.model_copy(update=said)


class Readership(Value):
    """Who reads an answer: everybody who does is known to be a member of each of the `communities`.

    `has_strangers` says that guests, or people of other companies, read along, of whom that is not true; it `is_unsure`
    where they only may, or where somebody may be a member of more, as the platform has not said so yet, and will not
    for `wait` seconds where that is known.
    """

    communities: frozenset[WorkspaceRef] = frozenset()
    has_strangers: bool = False
    is_unsure: bool = False
    wait: float | None = None


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
    changed_on: str = ""

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


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What an index is asked: the words, their vector (None: search by words alone), and what may be searched."""

    text: str
    vector: Vector | None
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What an index found: the cosine in `dense` and the share of words in `lexical`; None where it has no vector.

    The share is the BM25 sum, divided by that of a passage that fits each word of the query as well as the one does
    that fits it best; a word that no passage has counts too, as a very rare one. `held` is the share of the words that
    are there at all, however often and in however long a passage, and `named` that of those in the page's title.
    """

    passage: Passage
    dense: float | None = None
    lexical: float | None = None
    held: float = 0.0
    named: float = 0.0

    @property
    def words(self) -> float:
        """How much of the query's words it has, for a score: a long passage that has them all once holds an answer."""
        return ((self.lexical or 0.0) + self.held) / 2


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its calibrated relevance: 0.5 is the boundary between relevant and not."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best passages for a query, best first; `lexical_only` when the embedder was down.

    `nearest` are those of the highest relevance among all that was found, which need not be the best. Where nothing
    was found, `has_documents` says whether there is anything to search at all.
    """

    query: str
    hits: tuple[Hit, ...]
    total_count: int
    query_time_ms: float
    search_time_ms: float
    total_time_ms: float
    lexical_only: bool = False
    nearest: tuple[Hit, ...] = ()
    has_documents: bool = True


BOUNDARY = 0.5  # the relevance at which relevant and not are equally likely


@dataclass(frozen=True, slots=True)
class Calibration:
    """A curve from what speaks for a passage to a relevance between 0 and 1: two halves of logistic ones.

    What speaks for it is its cosine, and `words` times its share of the query's words. At the `midpoint` relevant and
    not are equally likely, so that 0.5 is the boundary; `slope` is how fast doubt grows below it, and `rise` how fast
    certainty does above. They are measured per embedder, by `python -m bench.calibration`.
    """

    midpoint: float
    slope: float
    rise: float | None = None
    words: float = 0.0

    def evidence(self, cosine: float, words: float = 0.0) -> float:
        """Return what speaks for a passage by its cosine and its share of the words."""
        return cosine + self.words * words

    def relevance(self, evidence: float) -> float:
        """Return the relevance."""
        beyond = evidence - self.midpoint
        steepness = self.slope if beyond < 0 or self.rise is None else self.rise
        return 1.0 / (1.0 + math.exp(-steepness * beyond))

    def evidence_of(self, relevance: float) -> float:
        """Return what has spoken for a passage of a relevance."""
        within = min(max(relevance, 1e-9), 1 - 1e-9)
        steepness = self.slope if within < BOUNDARY or self.rise is None else self.rise
        return self.midpoint + math.log(within / (1 - within)) / steepness
