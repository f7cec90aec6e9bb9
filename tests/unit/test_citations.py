"""Footnote marks: what the reader sees of what the model wrote."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.citations import CitationStream, with_literal_marks, without_marks
from core.model import Hit
from core.sources import Sources
from tests.builders import passage
from tests.portion import examples


def make_sources() -> Sources:
    """Five sections; the third is named twice, and one passage mentions an address."""
    sources = Sources()
    for n in (1, 2, 3, 4):
        sources.add(Hit(passage(url=f"https://docs.example/page{n}#part", text=f"Text {n}."), 0.9 - n / 10))
    sources.add(Hit(passage(url="https://docs.example/page5", text="See https://tools.example/get (or not)."), 0.5))
    return sources


def rewrite(*pieces: str) -> str:
    """Stream the pieces and give all that is shown."""
    stream = CitationStream(make_sources())
    return "".join(stream.feed(piece) for piece in pieces) + stream.finish()


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Robots sense [2] and act [1].", "Robots sense [1] and act [2]."),
        ("Twice [3], the same [3].", "Twice [1], the same [1]."),
        ("Both [4][2].", "Both [1][2]."),
        ("Both [4] [2].", "Both [1][2]."),
        ("Both [4, 2].", "Both [1][2]."),
        ("All [1-3].", "All [1][2][3]."),
        ("All [1\N{EN DASH}3; 5].", "All [1][2][3][4]."),
        ("Doubled [1][1].", "Doubled [1]."),
        ("Doubled [1][2][1].", "Doubled [1][2]."),
        ("Footnote style [^2].", "Footnote style [1]."),
        ("Lenticular \u30102\u2020source\u3011.", "Lenticular [1]."),
        ("Unknown [9].", "Unknown."),
        ("Unknown [0] and [77] here.", "Unknown and here."),
        ("Half known [2, 9].", "Half known [1]."),
        ("A huge range [1-9999].", "A huge range [1][2][3][4][5]."),
        ("Backwards [3-1].", "Backwards."),
        ("In code `a[1]` and ``b`[2]`` stay.", "In code `a[1]` and ``b`[2]`` stay."),
        ("```py\nx[1] = y[2]\n```\nThen [2].", "```py\nx[1] = y[2]\n```\nThen [1]."),
        ("~~~\n[1]\n```\n[2]\n~~~\n[3]", "~~~\n[1]\n```\n[2]\n~~~\n[1]"),
        ("An open fence\n```\nx[9]", "An open fence\n```\nx[9]"),
        ("One ` backtick [9] only.", "One ` backtick only."),
        ("One ` backtick\n\nnext [9] ` paragraph.", "One ` backtick\n\nnext ` paragraph."),
        ("Escaped \\[1] stays.", "Escaped \\[1] stays."),
        ("A task [ ] and [x] and [name].", "A task [ ] and [x] and [name]."),
        ("Go to https://evil.example/x?q=1.", "Go to."),
        ("Go to www.evil.example now.", "Go to now."),
        ("See [the page](https://evil.example).", "See the page."),
        ("See [https://evil.example](https://evil.example).", "See ."),
        ("See ![a picture](https://evil.example/p.png).", "See a picture."),
        ("See ![known](https://docs.example/page1).", "See known."),
        ("See <https://evil.example/a>.", "See."),
        ("See [1](https://evil.example).", "See [1]."),
        ("See [this](javascript:alert) and [that](/etc/passwd).", "See this and that."),
        ("See [it](https://docs.example/page1#part).", "See [it](https://docs.example/page1#part)."),
        ("See https://docs.example/page1#part, now.", "See https://docs.example/page1#part, now."),
        ("Get it at https://tools.example/get.", "Get it at https://tools.example/get."),
        ("Text.\n[1]: https://evil.example\nMore.", "Text.\nMore."),
        ("[1]: robots act.", "[1] : robots act."),
        ("Says [1]: robots act.", "Says [1]: robots act."),
        ('<a href="https://evil.example">x</a>', '<a href="">x</a>'),
        ("a < b and 1 <2", "a < b and 1 <2"),
        ("", ""),
    ],
)
def test_what_the_model_writes_becomes_footnotes(written: str, shown: str) -> None:
    """Marks are renumbered in order of use; unknown numbers and addresses disappear; code is left alone."""
    assert rewrite(written) == shown
    assert rewrite(*written) == shown


@pytest.mark.promise("numbers-in-order")
def test_footnotes_lead_to_the_sections_in_the_order_of_use() -> None:
    """The footnotes carry the shown numbers and the sections' own addresses and scores."""
    stream = CitationStream(make_sources())

    stream.feed("B [2], then A [1].")
    stream.finish()

    assert [(c.number, c.url, c.relevance_score) for c in stream.citations] == [
        (1, "https://docs.example/page2#part", 0.7),
        (2, "https://docs.example/page1#part", 0.8),
    ]


def test_removed_addresses_are_counted() -> None:
    """How many addresses were taken out is known, so that it can be logged."""
    stream = CitationStream(make_sources())

    stream.feed("https://evil.example [x](https://evil.example) <https://evil.example>")
    stream.finish()

    assert stream.removed_urls == 3


def test_text_is_shown_as_soon_as_it_is_certain() -> None:
    """Plain words do not wait for the end of the text."""
    stream = CitationStream(make_sources())

    assert [stream.feed("Robots "), stream.feed("sense [1"), stream.feed("], and "), stream.feed("act")] == [
        "Robots",
        " sense",
        " [1], and",
        "",
    ]


SNIPPETS = """[1] [2,3] [1-3] [9] [ ] ( ) ` `` ``` ~~~ \\ ! < > https://evil.example/a www.a.b http :// : x word é [a]
    【1】 † ^ , - . ** 1 [l](https://evil.example) [1]: //e.example https://docs.example/page1#part"""
PARTS = st.sampled_from([*SNIPPETS.split(), " ", "  ", "    ", "\n", "\n\n", "\t"])
MARKDOWN = st.one_of(st.lists(PARTS, max_size=24).map("".join), st.text(max_size=60))


@pytest.mark.promise("streaming-is-exact")
@given(text=MARKDOWN, cuts=st.lists(st.integers(0, 400), max_size=30))
@settings(max_examples=examples(300), deadline=None)
def test_streaming_shows_exactly_what_writing_at_once_shows(text: str, cuts: list[int]) -> None:
    """However the text is cut into pieces, the reader sees the same."""
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    pieces = [text[a:b] for a, b in pairwise(edges)]

    assert rewrite(*pieces) == rewrite(text)
    assert rewrite(*text) == rewrite(text)


@pytest.mark.promise("no-invented-links")
@given(text=MARKDOWN)
@settings(max_examples=examples(250), deadline=None)
def test_no_unknown_address_is_ever_a_link(text: str) -> None:
    """Whatever the model writes, a Markdown reader finds no link or picture that the index did not supply."""
    sources = make_sources()
    tokens = MarkdownIt("commonmark").parse(rewrite(text))
    inline = [child for token in tokens for child in token.children or ()]

    found = [str(token.attrs.get("href") or token.attrs.get("src")) for token in inline if token.attrs]

    assert [url for url in found if "//" in url and not sources.knows_url(url)] == []


def test_an_old_answer_is_read_again_without_its_marks() -> None:
    """Marks of an earlier answer would be taken for passages of this one."""
    assert without_marks("A [1][2] and `x[1]`, https://docs.example [3].") == "A and `x[1]`, https://docs.example."


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("As shown in [2], and [1](https://docs.example).", "As shown in \\[2], and \\[1](https://docs.example)."),
        ("Lenticular \u30101\u3011.", "Lenticular \\[1]."),
        ("In code `x[1]` and [a](https://docs.example) nothing changes.",) * 2,
    ],
)
def test_numbers_of_a_quoted_text_stay_text(text: str, quoted: str) -> None:
    """Only what could be read as a footnote is escaped."""
    assert with_literal_marks(text) == quoted


@pytest.mark.promise("footnotes")
@given(text=MARKDOWN)
@settings(max_examples=examples(300), deadline=None)
def test_no_number_of_a_quoted_text_becomes_a_footnote(text: str) -> None:
    """Whatever a page says, quoting it names no source that the quote does not come from."""
    stream = CitationStream(make_sources())
    stream.feed(with_literal_marks(text))
    stream.finish()

    assert stream.citations == ()
