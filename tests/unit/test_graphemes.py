"""Where a reader sees one character, there is no place to cut."""

from __future__ import annotations

import pytest

from adapters.chat.pager import boundary


@pytest.mark.parametrize(
    "character",
    [
        "a",
        "e\u0301",
        "👩‍👩‍👧‍👦",
        "👍🏽",
        "❤️",
        "🇩🇪",
        "1\ufe0f\u20e3",
        "क्ष",
        "\u1100\u1161\u11a8",
        "🏴\U000e0067\U000e007f",
    ],
)
def test_the_only_places_are_between_characters(character: str) -> None:
    """Accents, families, skin tones, flags, keys, joined letters and syllables are one character each."""
    text = character * 3
    width = len(character)

    places = [boundary(text, at) for at in range(width, len(text) + 1)]
    assert places == [at - at % width for at in range(width, len(text) + 1)]


def test_a_text_without_a_place_is_cut_where_it_has_to_be() -> None:
    """An accent too many is no reason to send nothing."""
    assert boundary("e" + "\u0301" * 200, 150) == 150
