"""How a passage lies in Qdrant: payload, vectors and filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.model import Passage, Scope

if TYPE_CHECKING:
    from qdrant_edge import Filter

DENSE = "dense"
SPARSE = "sparse"
OPENS_AT = "opens_at"
KEYWORDS = ("source", "chapter", "page_url")


def point_id(passage_id: str) -> int:
    """Give the number that a passage lies under; the engine hands numbers out far more quickly than UUIDs."""
    return UUID(passage_id).int & ((1 << 63) - 1)


def to_payload(passage: Passage) -> dict[str, Any]:
    """Give the fields as JSON; the release date as seconds, so that a range can filter it."""
    payload = asdict(passage)
    opens_at = payload.pop(OPENS_AT)
    return payload if opens_at is None else {**payload, OPENS_AT: opens_at.timestamp()}


def to_passage(payload: Mapping[str, Any]) -> Passage:
    """Read a passage back."""
    if OPENS_AT not in payload:
        return Passage(**payload)
    released: Any = datetime.fromtimestamp(payload[OPENS_AT], UTC)
    return Passage(**{**payload, OPENS_AT: released})


def scope_filter(scope: Scope) -> Filter | None:
    """Say which passages may be found."""
    from qdrant_edge import FieldCondition, Filter, MatchAny, RangeFloat

    must: list[Any] = []
    for key, values in (("source", scope.sources), ("chapter", scope.chapters)):
        if values:
            must.append(FieldCondition(key=key, match=MatchAny(any=list(values))))
    must_not: list[Any] = []
    if scope.open_at is not None:
        must_not.append(FieldCondition(key=OPENS_AT, range=RangeFloat(gt=scope.open_at.timestamp())))
    return Filter(must=must, must_not=must_not) if must or must_not else None


def page_filter(url: str, *, but: Iterable[str] = ()) -> Filter:
    """Choose the passages of one page, but for those with the given ids."""
    from qdrant_edge import FieldCondition, Filter, HasIdCondition, MatchValue

    kept = {point_id(passage_id) for passage_id in but}
    of_page = FieldCondition(key="page_url", match=MatchValue(value=url))
    return Filter(must=[of_page], must_not=[HasIdCondition(set(kept))] if kept else [])


def complete_pages(payloads: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Give the hash of each page of which every passage is there, and no passage of another version."""
    seen: dict[str, list[tuple[str, int]]] = {}
    for payload in payloads:
        seen.setdefault(payload["page_url"], []).append((payload["content_hash"], payload["page_length"]))
    return {url: found[0][0] for url, found in seen.items() if len(set(found)) == 1 and len(found) == found[0][1]}
