"""What pages say about themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.documents.frontmatter import is_hidden, opening, split
from adapters.documents.page import NotReadable
from tests.portion import examples


@pytest.mark.parametrize(
    ("block", "meta"),
    [
        ("title: A\nslug: /b\n", {"title": "A", "slug": "/b"}),
        ("title: Broken: by a colon\ndraft: true\n", {"title": "Broken: by a colon", "draft": True}),
        ("tags: [a, b\ntitle: 'X'\n", {"tags": "[a, b", "title": "X"}),
        ("opens_at: 2026-13-45\n", {"opens_at": "2026-13-45"}),
        ("[" * 20_000 + "\ntitle: deep\n", {"title": "deep"}),
        ("- " * 100_000 + "\ntitle: deep\n", {"title": "deep"}),
        ("", {}),
    ],
)
def test_front_matter_is_read_and_a_broken_one_gives_what_its_lines_say(block: str, meta: dict[str, Any]) -> None:
    """No page loses its text or its title to a slip in its front matter."""
    assert split(f"---\n{block}---\n\n# Text\n") == (meta, "\n# Text\n")


def test_toml_front_matter_is_read_too() -> None:
    """Hugo writes TOML between plus signs."""
    assert split('+++\ntitle = "A"\n+++\nText') == ({"title": "A"}, "Text")


@pytest.mark.parametrize("text", ["Text\n---\nmore\n---\n", "---\n\nA line between rules\n\n---\nText", "--- no\n"])
def test_thematic_breaks_are_not_front_matter(text: str) -> None:
    """Rules between paragraphs leave the text whole."""
    assert split(text) == ({}, text)


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2027-01-31", datetime(2027, 1, 31, tzinfo=UTC)),
        ("2027-01-31 08:30:00", datetime(2027, 1, 31, 8, 30, tzinfo=UTC)),
        ("'2027-01-31T08:30:00+02:00'", datetime(2027, 1, 31, 8, 30, tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_a_release_date_is_read_as_utc_unless_it_names_a_zone(written: str, moment: datetime) -> None:
    """Dates, times and texts all work."""
    assert opening(split(f"---\nopens_at: {written}\n---\n")[0]) == moment


def test_a_release_date_that_cannot_be_read_refuses_the_page() -> None:
    """Showing a page too early is worse than not showing it."""
    with pytest.raises(NotReadable, match="write it as 2027-01-31"):
        opening({"release": "next spring"})


@pytest.mark.promise("drafts-hidden")
def test_drafts_and_unlisted_pages_are_hidden() -> None:
    """Only the plain word counts."""
    shown = [is_hidden(meta) for meta in ({"draft": True}, {"unlisted": True}, {"draft": False}, {"draft": "no"}, {})]

    assert shown == [True, True, False, False, False]


@settings(max_examples=examples(150), deadline=None)
@given(st.text(alphabet="abc:-[]{}'\"#&*!|> \n\t0", max_size=80))
def test_any_front_matter_leaves_the_text_behind_it(block: str) -> None:
    """Whatever stands in the block, the page's text survives."""
    assert split(f"---\n{block}\n---\nThe text stays.")[1].endswith("The text stays.")
