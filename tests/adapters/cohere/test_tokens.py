"""How tokens are counted without a tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.cohere.embedder import count_tokens, cut
from adapters.minilm.embedder import WordPieces
from tests.portion import examples

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("abcXYZ 19_\n-")), max_size=60)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("robot", 1),
        ("robots", 2),
        ("camelCase", 2),
        ("HTTPServer", 4),
        ("URDF", 2),
        ("3.14", 4),
        ("snake_case", 3),
        ("Café", 2),
        ("я", 1),
        ("机", 2),
        ("🤖", 2),
    ],
)
def test_tokens_are_counted_by_letters_digits_and_marks(text: str, count: int) -> None:
    """Five letters are a token, two capitals, every other mark."""
    assert count_tokens(text) == count


@settings(max_examples=examples(100), deadline=None)
@given(TEXTS, TEXTS)
def test_a_whole_is_no_less_than_each_part_and_no_more_than_both(one: str, other: str) -> None:
    """More text never counts less, and joining never counts more."""
    together = count_tokens(one + other)

    assert max(count_tokens(one), count_tokens(other)) <= together <= count_tokens(one) + count_tokens(other)


@settings(max_examples=examples(100), deadline=None)
@given(TEXTS, st.integers(min_value=0, max_value=40))
def test_what_is_cut_is_a_beginning_that_fits(text: str, room: int) -> None:
    """What fits is left as it is."""
    kept = cut(text, room)

    assert text.startswith(kept)
    assert count_tokens(kept) <= room
    assert (kept == text) or count_tokens(text) > room


def test_real_passages_are_rarely_counted_too_low(shared_data: Path) -> None:
    """In at least 95 of 100 pieces of real pages the estimate is no lower than the count of BERT's word pieces."""
    pages = sorted((shared_data / "course-physical-ai" / "lessons").rglob("*.md*"))
    pieces = [text[at : at + 1_500] for text in (page.read_text("utf-8") for page in pages) for at in (0, 3_000)]
    exact = WordPieces()

    enough = [count_tokens(piece) >= len(exact.tokens(piece)) for piece in pieces]

    assert sum(enough) >= 0.95 * len(enough) > 0
