"""Anchors: the links that a published page really has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.documents.sections import Slugger, plain_text, read_page, slug


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("What is VLA?", "what-is-vla"),
        ("1. Why This Matters", "1-why-this-matters"),
        ("A — B", "a--b"),
        ("a - b", "a---b"),
        ("snake_case & C++", "snake_case--c"),
        ("exchange.bind(exchange, [, callback])", "exchangebindexchange--callback"),
        ("I ♥ unicode", "i--unicode"),
        ("😄 emoji", "-emoji"),
        ("Größe, Профили, 你好", "größe-профили-你好"),
        ("apostrophe’s", "apostrophes"),
        ("½ of Ⅳ", "-of-ⅳ"),
        ("!", ""),
    ],
)
def test_letters_digits_and_hyphens_stay(heading: str, anchor: str) -> None:
    """Punctuation and symbols go, whatever the script of the letters."""
    assert slug(heading) == anchor


def test_the_same_heading_gets_a_number() -> None:
    """Numbers avoid anchors that another heading already has."""
    slugger = Slugger()
    headings = ["Echo", "Echo", "Echo 1", "Echo-1", "Echo", "Foo-1", "Foo", "Foo"]

    assert [slugger.read(heading)[1] for heading in headings] == [
        *("echo", "echo-1", "echo-1-1", "echo-1-2"),
        *("echo-2", "foo-1", "foo", "foo-2"),
    ]


def test_an_explicit_anchor_wins() -> None:
    """It is not shown, and it takes no part in the numbering."""
    slugger = Slugger()

    assert slugger.read("Eyes {#Cameras}") == ("Eyes", "Cameras")
    assert slugger.read("Eyes") == ("Eyes", "eyes")
    assert slugger.read("Sets {1, 2}") == ("Sets {1, 2}", "sets-1-2")


def test_a_heading_without_an_anchor_leads_to_the_section_around_it() -> None:
    """Or to the page, where no section around it has one."""
    page = read_page("## Name {#}\n\na\n\n## Setup {#setup}\n\nb\n\n### Note {#}\n\nc\n\n#### More {#}\n\nd", "Page")

    assert [(each.path, each.anchor) for each in page.sections[1:]] == [
        (("Name",), ""),
        (("Setup",), "setup"),
        (("Setup", "Note"), "setup"),
        (("Setup", "Note", "More"), "setup"),
    ]


@pytest.mark.parametrize(
    "entries",
    ["**Arm**\n: a\nb\n\n**Leg (L)**\n: c", "- **Arm**: a\n- **Leg (L)** - b", "**Arm:** a\n\n__Leg (L)__ — b"],
)
def test_each_term_of_a_glossary_is_a_section(entries: str) -> None:
    """It is asked for alone, and says little beside the others; a definition list is one wherever it stands."""
    page = read_page(f"Words.\n\n## A\n\n{entries}", "Glossary")

    assert [(each.path, each.anchor) for each in page.sections if each.blocks] == [
        ((), ""),
        (("A", "Arm"), "a"),
        (("A", "Leg (L)"), "a"),
    ]
    assert len(read_page(f"## A\n\n{entries}", "Parts").sections) == (4 if "\n: " in entries else 2)


def test_an_explicit_anchor_is_no_markdown() -> None:
    """Its underscores are no emphasis, and those of a name in code none either."""
    [_, section] = read_page("###### `A.__init__` {#A.__init__}\n\nMakes.", "Page").sections

    assert (section.path, section.anchor) == (("A.__init__",), "A.__init__")


def test_inline_marks_are_reduced_to_text() -> None:
    """A heading reads as people see it."""
    (inline,) = MarkdownIt("commonmark").parseInline("**Use** `a_b` in [the *guide*](x)\n![logo](y) <b>now</b>")

    assert plain_text(inline.children or []) == "Use a_b in the guide\nlogo now"


@given(st.lists(st.sampled_from(["a", "a-1", "a-1-1", "A", "a 1", "b"]) | st.text(max_size=4), max_size=12))
def test_no_two_headings_share_an_anchor(headings: list[str]) -> None:
    """Every anchor of a page leads to one place."""
    slugger = Slugger()
    anchors = [slugger.read(heading)[1] for heading in headings if "{#" not in heading]

    assert len(set(anchors)) == len(anchors)
