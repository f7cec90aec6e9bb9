"""Cuts a passage down to the window of whole sentences that fits a query best."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import fsum

from core.words import sentence_spans, stems


def excerpt(text: str, query: str, *, limit: int) -> str:
    """Give at most *limit* characters of *text*: the run of whole sentences that shares most with *query*.

    A sentence counts once for each different word of the query, rare words of the passage more; of equal windows the
    first wins. A sentence longer than the limit is cut between words.
    """
    if len(text) <= limit:
        return text
    sentences = _sentences(text, limit)
    if not sentences:
        return ""
    spans = [span for span, _ in sentences]
    wanted = set(stems(query))
    found = [wanted & words for _, words in sentences]
    frequency = Counter(word for words in found for word in words)
    best = (-1.0, 0, 0)
    for first in range(len(spans)):
        seen: set[str] = set()
        score = 0.0
        for last in range(first, len(spans)):
            if spans[last][1] - spans[first][0] > limit:
                break
            if not found[last] <= seen:
                seen |= found[last]
                score = fsum(1 / frequency[word] for word in seen)  # exact, so that the order of a set does not matter
            if score > best[0] or (score == best[0] and first == best[1]):
                best = (score, first, last)
    _, first, last = best
    return text[spans[first][0] : spans[last][1]]


@lru_cache(256)  # the searches of one question, and the questions of a day, find many of the same passages
def _sentences(text: str, limit: int) -> tuple[tuple[tuple[int, int], frozenset[str]], ...]:
    """Give each sentence's place in the text, none longer than *limit*, and its words."""
    return tuple(((start, end), frozenset(stems(text[start:end]))) for start, end in _spans(text, limit))


def _spans(text: str, limit: int) -> list[tuple[int, int]]:
    """Give the sentences' places in the text, none longer than *limit*."""
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        here = start
        while end - here > limit:
            cut = text.rfind(" ", here + 1, here + limit + 1)
            cut = cut if cut > here else here + limit
            spans.append((here, cut))
            here = cut
        spans.append((here, end))
    return spans
