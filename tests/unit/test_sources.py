"""The sources of one answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.answering.citations import Footnotes, Remembered, Sources, cite, selected_text, trim_url
from core.model import Citation
from tests.builders import hit
from tests.portion import examples


def test_sections_are_numbered_in_the_order_they_come() -> None:
    """A section that comes again keeps its number."""
    sources = Sources()

    numbers = [sources.add(hit(url=f"https://docs.example/{name}")) for name in "abac"]

    assert (numbers, list(sources.citations)) == ([1, 2, 1, 3], [1, 2, 3])


def test_a_footnote_is_given_under_the_number_that_is_shown() -> None:
    """Its own number is not the reader's."""
    sources = Sources()
    sources.add(hit(0.7, url="https://docs.example/a"))
    sources.add(hit(0.8, url="https://docs.example/b"))

    notes = Footnotes(sources)
    [footnote] = notes.read("[2]")

    assert (footnote.number, footnote.url) == (1, "https://docs.example/b")
    assert tuple(notes.shown.values()) == (cite(hit(0.8, url="https://docs.example/b"), 1),)
    assert tuple(sources.citations.values()) == (
        cite(hit(0.7, url="https://docs.example/a"), 1),
        cite(hit(0.8, url="https://docs.example/b"), 2),
    )


def test_the_best_score_of_a_section_is_kept() -> None:
    """Whichever passage of it comes first."""
    sources = Sources()
    for score in (0.6, 0.91239, 0.7):
        sources.add(hit(score))

    assert [citation.relevance_score for citation in sources.citations.values()] == [0.9124]


def test_two_sections_with_one_address_are_named_by_what_both_are_under() -> None:
    """Such as two terms of a glossary, whose links lead to their letter."""
    sources = Sources()
    for section in ("S › Sensor › Kinds", "S › Sensor", "S › Servo"):
        sources.add(hit(section_title=section))

    assert sources.citations[1].section == "S"


def test_what_another_tool_has_found_can_be_cited_too() -> None:
    """It is numbered with the sections."""
    sources = Sources()
    sources.add(hit())
    event = Citation(number=0, chapter="", section="", title="Fair", url="https://fair.example", relevance_score=1.0)

    assert sources.add(event) == 2
    assert sources.citations[2] == event.model_copy(update={"number": 2})


def test_only_what_the_index_returned_can_be_a_link() -> None:
    """The section and its page; what a passage names may be written, and everything else may not."""
    sources = Sources()
    sources.add(hit(text="Get it (https://tools.example/get_(all)) or at www.tools.example."))

    urls = [
        "https://docs.example/robots#what",
        "https://docs.example/robots",
        "https://tools.example/get_(all)",
        "www.tools.example",
        "https://tools.example",
    ]
    assert [url in sources.urls for url in urls] == [True, True, False, False, False]
    assert [sources.names(url) for url in urls] == [False, False, True, True, False]


def test_a_selection_is_one_source_without_address() -> None:
    """The addresses that it names may be written."""
    sources = selected_text("See https://docs.example/a.")

    assert tuple(sources.citations.values()) == (
        Citation(number=1, chapter="", section="", title="The selected text", url="", relevance_score=1.0),
    )
    assert [sources.names(url) for url in ("https://docs.example/a", "https://docs.example/b")] == [True, False]
    assert "https://docs.example/a" not in sources.urls


def test_a_remembered_answer_keeps_its_footnotes() -> None:
    """It leads where they lead, and nowhere else."""
    sources = Remembered([cite(hit(), 1)])

    assert (list(sources.citations), "https://docs.example/robots#what" in sources.urls) == ([1], True)
    assert ("https://evil.example" in sources.urls, sources.names("https://evil.example")) == (False, True)


@pytest.mark.parametrize(
    ("url", "trimmed"),
    [
        ("https://a.example/x.", "https://a.example/x"),
        ("https://a.example/x),", "https://a.example/x"),
        ("https://a.example/f(x)", "https://a.example/f(x)"),
        ("https://a.example/?q=1!?", "https://a.example/?q=1"),
        ("...", ""),
    ],
)
def test_the_sentences_own_punctuation_is_no_part_of_an_address(url: str, trimmed: str) -> None:
    """A bracket belongs to it only if it was opened inside."""
    assert trim_url(url) == trimmed


@given(url=st.text(alphabet="a/.:;()!?*_~", max_size=30))
@settings(max_examples=examples(200), deadline=None)
def test_trimming_twice_is_trimming_once(url: str) -> None:
    """And only the end is ever cut."""
    assert trim_url(trim_url(url)) == trim_url(url)
    assert url.startswith(trim_url(url))
