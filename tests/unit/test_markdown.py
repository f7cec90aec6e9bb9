"""Splitting: every piece stands by itself, and together they are the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.markdown import split, units
from tests.portion import examples


def bare(text: str) -> str:
    """Give a text without white space and the marks that a repair may add."""
    return re.sub(r"[\s`*~]+", "", text)


def open_fences(text: str) -> list[str]:
    """Give the fences of a text that run to its end without being closed."""
    lines = text.split("\n")
    fences = [token for token in MarkdownIt("commonmark").parse(text) if token.type == "fence" and token.map]
    return [f.content for f in fences if f.map and (f.map[1] - f.map[0] < 2 or lines[f.map[1] - 1].strip(" >`~"))]


@pytest.mark.parametrize("text", ["", " \n "])
def test_nothing_gives_no_piece(text: str) -> None:
    """A platform refuses blank messages."""
    assert split(text, 40) == []


def test_what_fits_stays_as_it_is() -> None:
    """There is nothing to repair in one piece."""
    assert split("**Bold** and\n\n```py\ncode\n```", 40) == ["**Bold** and\n\n```py\ncode\n```"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (
            "One two three four.\nFive.\n\nSix seven eight nine ten.",
            ["One two three four.\nFive.", "Six seven eight nine ten."],
        ),
        (
            "One two three four five.\n  - Six seven eight nine.",
            ["One two three four five.", "  - Six seven eight nine."],
        ),
        ("One two three four five. Six seven eight nine.", ["One two three four five.", "Six seven eight nine."]),
        ("One two three four five six seven eight nine", ["One two three four five six seven eight", "nine"]),
        ("x" * 100, ["x" * 40, "x" * 40, "x" * 20]),
    ],
)
def test_the_widest_break_is_taken(text: str, pieces: list[str]) -> None:
    """Paragraphs before lines, lines before sentences, sentences before words, and words if there is no other way."""
    assert split(text, 40) == pieces


def test_a_fence_is_closed_and_opened_again() -> None:
    """Code stays code in every piece, in its language."""
    text = "Run:\n\n```py\nfirst_line()\nsecond_line()\n\nthird_line()\n```\nDone."

    assert split(text, 42) == [
        "Run:\n\n```py\nfirst_line()\nsecond_line()\n```",
        "```py\nthird_line()\n```\nDone.",
    ]


def test_a_fence_in_a_quote_is_opened_again_in_the_quote() -> None:
    """Its marks stand behind the marks of the quote."""
    assert split("> ```\n> one_line()\n> two_lines()\n> three_lines()\n> ```", 40) == [
        "> ```\n> one_line()\n> two_lines()\n> ```",
        "> ```\n> three_lines()\n> ```",
    ]


def test_a_fence_that_was_left_open_is_closed() -> None:
    """What follows the message must not become code."""
    assert split("```py\nrun()", 40) == ["```py\nrun()\n```"]


def test_a_cut_at_the_end_of_a_fence_opens_nothing() -> None:
    """An empty fence would be shown as one."""
    text = "```py\n" + "x" * 30 + "\n```\nAnd more text behind the fence."

    assert split(text, 40) == ["```py\n" + "x" * 30 + "\n```", "And more text behind the fence."]


@pytest.mark.parametrize("mark", ["**", "*", "~~", "`", "***"])
def test_an_inline_mark_is_closed_and_opened_again(mark: str) -> None:
    """What is bold stays bold in both pieces."""
    text = f"Robots {mark}sense and think and act and move{mark} around."

    first, second = split(text, 40)

    assert first.endswith(mark)
    assert first.count(mark) == second.count(mark) == 2
    assert second.startswith(mark)


def test_marks_that_mark_nothing_stay_alone() -> None:
    """A product, a bullet or an escaped star is no emphasis."""
    text = "* one times 2 * 3 and \\*this and a * and b and c and d"

    assert " ".join(split(text, 40)) == text


def test_marks_that_would_take_half_a_piece_are_not_repeated() -> None:
    """A long info string is no reason to write next to nothing into a piece."""
    text = "```a very long info string\n" + "code " * 16 + "\n```"

    pieces = split(text, 40)

    assert len(pieces) == 3
    assert bare("".join(pieces)) == bare(text)


def test_crossing_marks_are_repaired_as_far_as_they_are_closed() -> None:
    """A mark that is opened within another and never closed is only a character."""
    assert split("Robots **sense *and think and act and move** around.", 40) == [
        "Robots **sense *and think and act and**",
        "**move** around.",
    ]


def test_footnote_marks_and_links_stay_whole() -> None:
    """A footnote that is cut in two leads nowhere."""
    assert split("Robots sense and think and then they act [12].", 43) == [
        "Robots sense and think and then they act",
        "[12].",
    ]
    link = "[the whole guide (new)](https://x.example/a_(b))"
    assert split(f"Here it says what {link} says.", 60) == ["Here it says what", f"{link} says."]


def test_a_limit_without_room_is_refused() -> None:
    """No platform has one."""
    with pytest.raises(ValueError, match="at least 40"):
        split("x", 39)


TEXT = st.lists(
    st.sampled_from(
        [
            *(
                "word",
                "Sentence.",
                "[1]",
                "[guide](https://x.example/page)",
                "**bold text**",
                "*it*",
                "`a b`",
                "``x`y``",
            ),
            *(
                "~~gone~~",
                "**",
                "*",
                "`",
                "\\*",
                "~~",
                "\n",
                "\n\n",
                "  ",
                "\n- ",
                "> ",
                "longer_words_" * 5,
                "é",
                "。",
            ),
            *(
                "\n```\ncode here\n\nmore\n```\n",
                "\n~~~\n```\n~~~\n",
                "\n```\n",
                "\n> ```\n> x\n> ```\n",
                "\n````\n```\n````\n",
            ),
        ]
    ),
    max_size=40,
).map(" ".join)


@given(text=TEXT, limit=st.integers(40, 120))
@settings(deadline=None, max_examples=examples(200))
def test_pieces_fit_and_join_to_the_text(text: str, limit: int) -> None:
    """For every text and limit: no piece is too long or blank, and nothing but repairs is added or taken."""
    pieces = split(text, limit)

    assert bare("".join(pieces)).replace(">", "") == bare(text).replace(">", "")
    assert [piece for piece in pieces if len(piece) > limit or not piece.strip()] == []


CODE = st.lists(st.text(alphabet="abc (){}*[]", min_size=1, max_size=50), min_size=1, max_size=20).map("\n".join)


@given(code=CODE, before=st.text(alphabet="abc. \n", max_size=200), limit=st.integers(40, 120))
@settings(deadline=None, max_examples=examples(100))
def test_every_piece_closes_its_fences(code: str, before: str, limit: int) -> None:
    """Wherever the cuts fall, code is code in every piece and text is text."""
    pieces = split(f"{before}\n\n```py\n{code}\n```\n\nbehind", limit)

    assert [piece for piece in pieces if open_fences(piece)] == []
    inside = "".join(t.content for p in pieces for t in MarkdownIt("commonmark").parse(p) if t.type == "fence")
    assert re.sub(r"\s", "", inside) == re.sub(r"\s", "", code)


@pytest.mark.parametrize(
    "text", ["*" * 5_000, "`" * 5_000, "[" * 5_000, "```x\n" * 2_000, "> " * 3_000, "\n" * 5_000 + "x"]
)
def test_hostile_texts_are_split_like_others(text: str) -> None:
    """A model that stammers does not stop the bot."""
    assert [piece for piece in split(text, 100) if len(piece) > 100] == []


def test_real_pages_are_split_into_messages(shared_data: Path) -> None:
    """A whole page fits into messages without losing a character or leaving a fence open."""
    for path in sorted((shared_data / "docusaurus-textbook").rglob("*.md"))[:12]:
        text = path.read_text(encoding="utf-8")
        pieces = split(text, 2_000)
        infos = r"```\w.*"
        assert bare(re.sub(infos, "", "\n".join(pieces))) == bare(re.sub(infos, "", text))
        assert [piece for piece in pieces if len(piece) > 2_000 or open_fences(piece)] == []


@pytest.mark.parametrize("character", ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "❤️", "e\u0301", "क्ष", "각", "🏴\U000e0067\U000e007f"])
def test_characters_of_several_code_points_stay_whole(character: str) -> None:
    """A family, a flag or an accent is never torn apart, and no piece is longer than the strictest count allows."""
    pieces = split(character * 60, 40)

    assert [piece.replace(character, "") for piece in pieces] == [""] * len(pieces)
    assert [piece for piece in pieces if units(piece) > 40] == []


def test_a_character_without_an_end_is_cut() -> None:
    """A thousand accents on one letter are no character that anybody wrote."""
    assert "".join(split("e" + "\u0301" * 1_000, 40)) == "e" + "\u0301" * 1_000


def test_a_link_is_not_cut_between_the_sentences_of_its_label() -> None:
    """A label may hold a full stop."""
    assert split("Here it says what you want. [One. Two](https://x.example/a)", 50) == [
        "Here it says what you want.",
        "[One. Two](https://x.example/a)",
    ]


def test_a_heading_stays_with_what_follows() -> None:
    """A message does not end with a heading; a comment in code is none."""
    assert split("Some words before.\n\n## Heading\n\nOne two three four five.", 40) == [
        "Some words before.",
        "## Heading\n\nOne two three four five.",
    ]
    assert split("```py\nfirst_line()\n# comment\nsecond_line()\n```", 40) == [
        "```py\nfirst_line()\n# comment\n```",
        "```py\nsecond_line()\n```",
    ]


def test_a_footnote_that_is_a_link_stays_whole() -> None:
    """Its brackets in brackets belong together."""
    mark = "[[1]](<https://x.example/a>)"

    assert split(f"{'x' * 30}{mark}", 40) == ["x" * 30, mark]
