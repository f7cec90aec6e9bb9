"""How a passage lies in Qdrant, in process or on a server: the label of its vectors, words, payload and filters."""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from uuid import UUID

from core.model import Candidate, Passage, Scope

if TYPE_CHECKING:
    from qdrant_edge import Bm25, Filter


FORMAT = 2  # of ids, payloads and vectors; with another one, all documents have to be ingested again


@dataclass(frozen=True, slots=True)
class Label:
    """The embedder, the dimensions of its vectors, and the format in which they are stored."""

    embedder: str
    dimension: int
    format: int = FORMAT

    def unlike(self, found: Label) -> str:
        """Return why what was made with another label cannot be used."""
        if (found.embedder, found.dimension) == (self.embedder, self.dimension):
            return f"was made by another version of Footnote (format {found.format}; this one needs {self.format})"
        old, new = (f"{each.embedder} ({each.dimension} dimensions, format {each.format})" for each in (found, self))
        return f"was made with {old}, but now the embedder is {new}. Vectors of two embedders cannot be mixed"

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that differ from label to label."""
        return hashlib.sha256(f"{self.embedder}\n{self.dimension}\n{self.format}".encode()).hexdigest()[:8]

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self | None:
        """Read it back; None if something else is written there."""
        match written:
            case {"embedder": str(embedder), "dimension": int(dimension), "format": int(form)}:
                return cls(embedder, dimension, form)
            case _:
                return None


AVERAGE_LENGTH = 120.0  # tokens of a passage after stop words; see `python -m bench.retrieval --lengths`
_IDENTIFIER = re.compile(r"\b(?=\w*(?:[a-z][A-Z]|_\w))[A-Za-z_]\w{3,60}\b")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


QUESTION_WORDS = set(
    {"how", "what", "why", "which", "where", "when", "who", "does", "do", "did", "can", "could", "should", "would"}
    | {"explain", "describe", "tell", "give", "name", "own", "words", "please", "using", "use", "between", "your"}
)


def lexical_encoder() -> Bm25:
    """Return what weighs words, stemmed and without stop words, of a text `with_parts`."""
    from qdrant_edge import Bm25, Bm25Config, Language, StopwordsSet, TokenizerType

    return Bm25(
        Bm25Config(
            avg_len=AVERAGE_LENGTH,
            tokenizer=TokenizerType.Word,
            language="english",
            lowercase=True,
            ascii_folding=True,
            stopwords=StopwordsSet(languages={Language.English}, custom=QUESTION_WORDS),
        )
    )


def with_parts(text: str) -> str:
    """Put the parts of `camelCase` and `snake_case` names behind the text, so that a part finds the whole."""
    parts = [part for name in _IDENTIFIER.findall(text) for part in _PARTS.findall(name)]
    return f"{text}\n{' '.join(parts)}" if parts else text


FULLEST = 1.7  # times its rarity is what a word adds to a passage that has it a few times


def unseen(passages: int) -> float:
    """Return what a word weighs that none of so many passages has: as one that is rarer than any other."""
    return FULLEST * math.log(2 * passages + 2)


@lru_cache(maxsize=10_000)
def _words_of(lexical: Bm25, title: str) -> frozenset[int]:
    return frozenset(lexical.embed_document(with_parts(title)).indices)


class Worded(NamedTuple):
    """A passage, and the words that it consists of."""

    passage: Passage
    words: Sequence[int]


def to_worded(payload: Mapping[str, Any], vectors: Any) -> Worded:
    """Return what a payload and the *vectors* read with it hold; that of words is missing where there are none."""
    return Worded(to_passage(payload), array("I", vectors[SPARSE].indices if SPARSE in vectors else ()))


def to_candidate(
    read: Worded, dense: float | None, words: float, weights: Mapping[int, float], lexical: Bm25
) -> Candidate:
    """Return a passage with its scores, as shares of what the words of a query weigh."""
    if not words:  # nor does its title have any of them
        return Candidate(read.passage, dense, 0.0)
    most, title = sum(weights.values()) or 1.0, _words_of(lexical, read.passage.page_title)
    held, named = (sum(map(weights.__getitem__, weights.keys() & some)) for some in (read.words, title))
    return Candidate(read.passage, dense, min(words / most, 1.0), held / most, named / most)


BREADTH = 128  # candidates kept while walking the graph; it finds 91 of 100 passages that reading all would find
DENSE = "dense"
SPARSE = "sparse"
VECTORS = "vectors"  # in a payload, what was read with it
OPENS_AT = "opens_at"
STORED_AT = "stored_at"  # on a server, when a page was replaced: tells its new passages from those about to be deleted
KEYWORDS = ("source", "chapter", "page_url")


def point_id(passage_id: str) -> int:
    """Return the number that a passage lies under; the engine hands numbers out far more quickly than UUIDs."""
    return UUID(passage_id).int & ((1 << 63) - 1)


def to_payload(passage: Passage) -> dict[str, Any]:
    """Return the fields as JSON; the release date as seconds, so that a range can filter it."""
    payload = asdict(passage)
    opens_at = payload.pop(OPENS_AT)
    if not passage.changed_on:  # as versions stored it that knew no such field
        del payload["changed_on"]
    return payload if opens_at is None else {**payload, OPENS_AT: opens_at.timestamp()}


def to_passage(payload: Mapping[str, Any]) -> Passage:
    """Return the passage that a payload holds."""
    fields = dict(payload)
    for beside in (STORED_AT, VECTORS):
        fields.pop(beside, None)
    if OPENS_AT in fields:
        fields[OPENS_AT] = datetime.fromtimestamp(payload[OPENS_AT], UTC)
    return Passage(**fields)


def scope_filter(scope: Scope, models: Any, in_range: Callable[..., Any]) -> Any:
    """Return the filter for the passages that may be found, of an engine's *models*; None if all may."""
    must = [
        models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))
        for key, values in (("source", scope.sources), ("chapter", scope.chapters or None))
        if values is not None
    ]
    must_not: list[Any] = []
    if scope.open_at is not None:
        must_not = [models.FieldCondition(key=OPENS_AT, range=in_range(gt=scope.open_at.timestamp()))]
    return models.Filter(must=must or None, must_not=must_not or None) if must or must_not else None


def page_filter(url: str, source: str | None, *, but: Iterable[str] = ()) -> Filter:
    """Choose the passages that a source has of one page, of any source for None, but for those with the given ids."""
    from qdrant_edge import FieldCondition, Filter, HasIdCondition, MatchValue

    kept = {point_id(passage_id) for passage_id in but}
    chosen = {"page_url": url, "source": source}
    of_page = [FieldCondition(key=key, match=MatchValue(value=value)) for key, value in chosen.items() if value]
    return Filter(must=[*of_page], must_not=[HasIdCondition(set(kept))] if kept else [])


def complete_pages(payloads: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the hash of each page of which every passage is there, and no passage of another version."""
    seen: dict[str, list[tuple[str, int]]] = {}
    for payload in payloads:
        seen.setdefault(payload["page_url"], []).append((payload["content_hash"], payload["page_length"]))
    return {url: found[0][0] for url, found in seen.items() if len(set(found)) == 1 and len(found) == found[0][1]}
