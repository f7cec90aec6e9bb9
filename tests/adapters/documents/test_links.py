"""What a website says of itself is found in time, and means only what is below its address."""

from __future__ import annotations

import pytest

from adapters.documents.links import Site, hints_in


def test_what_a_page_says_to_machines_takes_no_longer_than_it_is() -> None:
    """However it is written: tags without end, a million links, and what leads out of the site in some form."""
    site = Site.of("https://x.example/docs/")
    far = [
        "//y.example/docs/",
        "https://x.example@y.example/docs/",
        "http://x.example/docs/",
        "/docs/../up",
        "/docs/" + "a/" * 50,
    ]
    text = "".join(f'<a href="{each}">' for each in far) + "<a href=" * 50_000 + '<a href="in">' + "<!--" * 50_000

    assert hints_in(text, site.address, site).links == (f"{site.address}in",)


@pytest.mark.parametrize(
    ("address", "folder"),
    [
        ("https://x.example", "https://x.example/"),
        ("https://x.example/docs", "https://x.example/docs/"),
        ("https://x.example/docs/", "https://x.example/docs/"),
        ("https://x.example/docs/index.html", "https://x.example/docs/"),
    ],
)
def test_a_site_is_the_folder_of_an_address(address: str, folder: str) -> None:
    """What has an ending is a page in it."""
    assert Site.of(address).address == folder
