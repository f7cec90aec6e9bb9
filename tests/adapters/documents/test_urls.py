"""Addresses of pages, by the rules of Docusaurus."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from adapters.documents.docusaurus import address, unnumbered

BASE = "https://book.example/docs"


def under_base(place: str, **meta: Any) -> str:
    """Give the address without its base."""
    url = address(Path(place), PurePosixPath(place), meta, BASE)
    assert url.startswith(f"{BASE}/")
    return url.removeprefix(f"{BASE}/")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("01-intro", "intro"),
        ("001 --- My Doc", "My Doc"),
        ("1. foo", "foo"),
        ("1_foo", "foo"),
        ("2021-11-foo", "2021-11-foo"),
        ("31.01.2021 - Doc", "31.01.2021 - Doc"),
        ("7.0-foo", "7.0-foo"),
        ("14_2_16", "14_2_16"),
        ("2021", "2021"),
        ("a1-My Doc", "a1-My Doc"),
        ("My Doc - 1", "My Doc - 1"),
    ],
)
def test_a_number_for_sorting_is_taken_off_but_dates_and_versions_stay(name: str, shown: str) -> None:
    """Prefixes are read as the site generator reads them."""
    assert unnumbered(name) == shown


@pytest.mark.promise("deep-links")
@pytest.mark.parametrize(
    ("place", "meta", "path"),
    [
        ("intro.md", {}, "intro"),
        ("01-start/02-first_page.mdx", {}, "start/first_page"),
        ("01-start/02-page.md", {"parse_number_prefixes": False}, "01-start/02-page"),
        ("module-1/index.md", {}, "module-1/"),
        ("module-1/README.md", {}, "module-1/"),
        ("guide/Guide.md", {}, "guide/"),
        ("README.md", {}, ""),
        ("module-1/page.md", {"id": "other"}, "module-1/other"),
        ("module-1/page.md", {"slug": "/x/y"}, "x/y"),
        ("module-1/index.md", {"slug": "short", "id": "long"}, "module-1/short"),
        ("a/b/page.md", {"slug": "../up/./here"}, "a/up/here"),
        ("a/page.md", {"slug": "../../../../etc"}, "etc"),
        ("page.md", {"slug": "/"}, ""),
        ("dir with späce/hey $1?.md", {}, "dir%20with%20sp%C3%A4ce/hey%20$1%3F"),
        ("a/b.rst", {}, "a/b.html"),
        ("01-a/b.html", {}, "01-a/b.html"),
        ("a/index.html", {}, "a/"),
        ("01-a/02-b#1.pdf", {}, "01-a/02-b%231.pdf"),
    ],
)
def test_a_page_has_the_address_that_the_site_gives_it(place: str, meta: dict[str, Any], path: str) -> None:
    """Folders, names and front matter make the path under the base URL."""
    assert under_base(place, **meta) == path


def test_without_a_base_url_the_file_itself_is_the_address(tmp_path: Path) -> None:
    """A link that works on this machine is better than none."""
    file = tmp_path / "a b.md"

    assert address(file, PurePosixPath("a b.md"), {"slug": "/x"}, None) == file.resolve().as_uri()
