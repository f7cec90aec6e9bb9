"""Websites: which pages are read, how often they are asked for, and what a site may do without any harm."""

from __future__ import annotations

import gzip
import ipaddress
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.documents.website import MADE_UP, MOST_FAILURES, SiteLimits, Website
from adapters.fetching import FetchRules
from adapters.retry import SITE
from bench.ingestion import unchanged_site
from core.errors import InvalidInput, SourceUnavailable
from core.model import Document, LeftOut, Unchanged, Unreadable
from core.ports import Found
from tests.servers.service import Reply, Reset
from tests.servers.website import WebSite, html

RULES = FetchRules(networks=[ipaddress.ip_network("127.0.0.1/32")])


class Naps:
    """Sleeps no time at all, and keeps how long it should have."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        """Sleep."""
        self.slept.append(seconds)


class Site(WebSite):
    """A website, and where its pages are while they are read."""

    def __init__(self, pages: Mapping[str, str | bytes], home: Path) -> None:
        super().__init__(pages)
        self.home = home


@pytest.fixture(name="site")
async def _site(tmp_path: Path) -> AsyncGenerator[Site]:
    """Run a site of three pages that lead to each other, and one that is elsewhere."""
    pages = {
        "/docs/": html(
            "Start", "Welcome.", links=("a", "/docs/b/", "#top", "/other", "mailto:x@y", "https://x.example")
        ),
        "/docs/a": html("A", "Goats eat thistles.", links=("/docs/",)),
        "/docs/b/": html("B", "Hens eat corn.", links=("c?page=1",)),
        "/other": html("Other", "Elsewhere."),
    }
    async with Site(pages, tmp_path) as site:
        yield site


def source(site: Site, path: str = "/docs/", *, alone: bool = False, limits: SiteLimits | None = None) -> Website:
    """Give the site as a source; nobody sleeps here."""
    limits = limits or SiteLimits(pace=0.0, retries=replace(SITE, sleep=Naps()))
    return Website(site.url + path, name="docs", home=site.home, alone=alone, rules=RULES, limits=limits)


async def read(
    site: Site, path: str = "/docs/", *, seen: dict[str, str] | None = None, alone: bool = False
) -> list[Found]:
    """Read it to the end."""
    return [found async for found in source(site, path, alone=alone).documents(seen or {})]


def urls(site: Site, found: list[Found]) -> list[str]:
    """Give the paths of what was read."""
    return [each.url.removeprefix(site.url) for each in found if isinstance(each, Document)]


def stamps(found: list[Found]) -> dict[str, str]:
    """Give the stamps by address, as an index would keep them."""
    return {each.url: each.stamp for each in found if isinstance(each, Document)}


@pytest.mark.promise("websites")
async def test_the_pages_below_an_address_are_read(site: Site) -> None:
    """Where nothing lists them, links are followed; what is elsewhere is not asked for."""
    found = await read(site)

    assert urls(site, found) == ["/docs/", "/docs/a", "/docs/b/"]
    first = found[0]
    assert isinstance(first, Document)
    assert (first.title, first.text, first.source, first.chapter) == (
        "Start",
        "# Start {#top}\n\nWelcome.\n",
        "docs",
        "",
    )
    assert [each.chapter for each in found if isinstance(each, Document)] == ["", "", "b"]
    lists = ["/robots.txt", "/docs/sitemap.xml", "/sitemap.xml", "/docs/llms.txt"]
    assert Counter(site.asked) == Counter([*lists, "/docs/", "/docs/a", "/docs/b/", f"/docs/{MADE_UP}"])


async def test_a_sitemap_names_the_pages(site: Site) -> None:
    """Also packed, and in several files; of those that it names, the ones of the folder count."""
    site.pages["/docs/lone"] = html("Lone", "Nobody leads here.")
    site.list("/docs/lone", "/other", "/docs/a")
    whole = site.pages.pop("/sitemap.xml")
    assert isinstance(whole, str)
    site.pages["/maps/1.xml.gz"] = gzip.compress(whole.encode())
    site.pages["/maps.xml"] = f"<sitemapindex><sitemap><loc>{site.url}/maps/1.xml.gz</loc></sitemap></sitemapindex>"
    site.pages["/robots.txt"] = f"User-agent: *\nSitemap: {site.url}/maps.xml\n"

    assert urls(site, await read(site)) == ["/docs/", "/docs/lone", "/docs/a"]
    assert "/docs/b/" not in site.asked


async def test_a_list_for_machines_names_the_pages(site: Site) -> None:
    """And what it names is read as Markdown or text where it is that."""
    site.pages["/docs/llms.txt"] = f"# Docs\n\n- [A]({site.url}/docs/a.md)\n- [Away](https://x.example/)\n"
    site.pages["/docs/a.md"] = "# Goats\n\nGoats eat thistles.\n"
    site.types |= {"/docs/llms.txt": "text/plain", "/docs/a.md": "text/plain"}

    found = await read(site)

    assert urls(site, found) == ["/docs/", "/docs/a.md"]
    assert [each.title for each in found if isinstance(each, Document)] == ["Start", "Goats"]


async def test_a_page_can_be_read_alone(site: Site) -> None:
    """With nothing asked but that and what robots may."""
    assert urls(site, await read(site, "/docs/a", alone=True)) == ["/docs/a"]
    assert site.asked == ["/robots.txt", "/docs/a"]


@pytest.mark.promise("websites")
async def test_what_robots_may_not_read_is_not_asked_for(site: Site) -> None:
    """By the rules for all, or those for us alone; and a page may say so of itself."""
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /docs/a\n"
    site.pages["/docs/b/"] = html("B", "Hidden.", head='<meta name="robots" content="noindex">')

    found = await read(site)

    assert urls(site, found) == ["/docs/"]
    assert "/docs/a" not in site.asked
    assert [each.why for each in found if isinstance(each, LeftOut)] == ["forbidden by robots.txt", "hidden"]
    with pytest.raises(InvalidInput, match=r"forbidden by robots\.txt"):
        await read(site, "/docs/a", alone=True)


@pytest.mark.promise("websites")
@pytest.mark.parametrize("validators", [("ETag", "Last-Modified"), ("Last-Modified",)])
async def test_a_page_that_is_as_it_was_costs_a_request(site: Site, validators: tuple[str, ...]) -> None:
    """It is not sent again, and not read; what has changed is, and what has gone is not there."""
    site.validators = validators
    seen = stamps(await read(site))
    site.received.clear()

    again = await read(site, seen=seen)

    assert [type(each) for each in again] == [Unchanged] * 3
    assert [asked for asked in site.asked if asked in ("/docs/", "/docs/a", "/docs/b/")] == [
        "/docs/",
        "/docs/a",
        "/docs/b/",
    ]
    del site.pages["/docs/b/"]
    assert [each.name for each in await read(site, seen=seen) if isinstance(each, LeftOut) and each.why == "gone"] == [
        f"{site.url}/docs/b/"
    ]


@pytest.mark.promise("incremental")
@pytest.mark.parametrize("validators", [("ETag", "Last-Modified"), ("Last-Modified",), ()])
async def test_an_unchanged_site_costs_one_request_a_page_and_no_embedding(validators: tuple[str, ...]) -> None:
    """Also one that does not say what has changed; the command that measures it for 1,000 pages counts the same."""
    rows = await unchanged_site(20, *validators)

    assert [row.held for row in rows if row.bar] == [True] * 3


async def test_a_page_that_has_changed_is_read_again(site: Site) -> None:
    """And where it leads now."""
    seen = stamps(await read(site))
    site.pages |= {"/docs/a": html("A", "New.", links=("/docs/new",)), "/docs/new": html("New", "Here.")}

    again = await read(site, seen=seen)

    assert urls(site, again) == ["/docs/a", "/docs/new"]


async def test_pages_with_a_proper_address_are_one(site: Site) -> None:
    """The first one stands for both, under the address that they name, unless that is elsewhere."""
    site.pages["/docs/a"] = html("B", "Hens.", head='<link rel="canonical" href="/docs/b/">')
    site.pages["/docs/"] = html(
        "Start", "Hi.", head='<link href="https://evil.example/" rel=canonical>', links=("a", "b/")
    )

    found = await read(site)

    assert urls(site, found) == ["/docs/", "/docs/b/"]
    assert [each.why for each in found if isinstance(each, LeftOut)] == ["under another address"]


@pytest.mark.promise("incremental")
async def test_a_page_that_has_moved_for_good_costs_a_request(site: Site) -> None:
    """It is asked for where it is, whichever of its addresses is listed; a redirect for now is asked again."""
    site.pages |= {"/docs/c/": html("C", "Cats eat mice."), "/docs/d/": html("D", "Dogs eat bones.")}
    site.at["/docs/b"] = Reply(301, b"", {"Location": "/docs/b/"})
    site.at["/docs/c"] = Reply(302, b"", {"Location": "/docs/c/"})
    site.at["/docs/d"] = Reply(308, b"", {"Location": "/docs/d/"})
    site.list("/docs/b", "/docs/b/", "/docs/c", "/docs/d/", "/docs/d")
    first = await read(site)
    assert urls(site, first) == ["/docs/", "/docs/b/", "/docs/c/", "/docs/d/"]
    site.received.clear()

    again = await read(site, seen=stamps(first))

    assert [each for each in again if isinstance(each, Document)] == []
    pages = [asked for asked in site.asked if asked.startswith("/docs/") and asked != "/docs/sitemap.xml"]
    assert pages == ["/docs/", "/docs/d", "/docs/b/", "/docs/c", "/docs/c/", "/docs/d/"]
    del site.pages["/docs/b/"]
    site.at["/docs/b"] = Reply(301, b"", {"Location": "/docs/a"})
    assert urls(site, await read(site, seen=stamps(first))) == ["/docs/a"]


LOGIN = html("Sign in", "A member reads a page, b or not.", head='<input type="password">')


@pytest.mark.promise("websites")
@pytest.mark.parametrize(
    "closed",
    [
        Reply(302, b"", {"Location": "/docs/login"}),
        Reply(303, b"", {"Location": "/login"}),
        Reply(200, LOGIN.encode(), {"Content-Type": "text/html"}),
    ],
)
@pytest.mark.parametrize("paths", [("/docs/", "/docs/a", "/docs/b/"), ("/docs/a", "/docs/b/")])
@pytest.mark.parametrize("validators", [("ETag",), ()])
async def test_nothing_is_removed_that_is_behind_a_login_now(
    site: Site, closed: Reply, paths: tuple[str, ...], validators: tuple[str, ...]
) -> None:
    """Be it the whole site or a part; the login is no page, and what was read before stays as it was."""
    site.validators = validators
    seen = stamps(await read(site))
    site.pages |= {"/login": LOGIN, "/docs/login": LOGIN}
    site.at |= dict.fromkeys((*paths, f"/docs/{MADE_UP}"), closed)

    again = await read(site, seen=seen)

    kept = {each.url for each in again if isinstance(each, Unreadable)}
    assert kept == {site.url + path for path in paths}
    assert set(urls(site, again)) <= {"/docs/"} - set(paths)


@pytest.mark.promise("websites")
async def test_a_page_that_does_not_exist_is_none_whatever_the_site_says(site: Site) -> None:
    """A site may show the same for all that it does not have, and call that a success."""
    seen = stamps(await read(site))
    site.pages["/docs/"] = html("Start", "Welcome.", links=("a", "b/", "c"))
    nothing = html("Sorry", "There is no page {}.")
    for name in ("b/", "c", MADE_UP):
        site.at[f"/docs/{name}"] = Reply(200, nothing.format(name).encode(), {"Content-Type": "text/html"})

    again = await read(site, seen=seen)

    assert [each.why for each in again if isinstance(each, LeftOut)] == ["like a page that does not exist"] * 2
    assert [type(each) for each in again if not isinstance(each, LeftOut)] == [Document, Unchanged]


async def test_a_site_that_shows_its_start_for_everything_is_read(site: Site) -> None:
    """What its start shows at the address of a known page says nothing of that page."""
    start = site.pages["/docs/"]
    assert isinstance(start, str)
    seen = stamps(await read(site))
    site.pages |= dict.fromkeys(("/docs/b/", f"/docs/{MADE_UP}"), start)
    seen.pop(f"{site.url}/docs/")

    again = await read(site, seen=seen)

    assert [type(each) for each in again] == [Document, Unchanged, Unreadable]


async def test_a_site_that_has_moved_says_where(site: Site) -> None:
    """Nothing below its old address can be read any more."""
    site.at |= {path: Reply(301, b"", {"Location": f"/new{path}"}) for path in ("/docs/", "/docs/a", "/docs/b/")}
    site.pages["/new/docs/"] = html("Start", "Welcome.")

    with pytest.raises(InvalidInput, match=f"redirects to {site.url}/new/docs/, so nothing could be read"):
        await read(site)


@pytest.mark.promise("websites")
@pytest.mark.parametrize("status", [500, 502, 503, 429])
@pytest.mark.parametrize("path", ["/robots.txt", "/sitemap.xml"])
async def test_a_site_that_is_down_is_told(site: Site, path: str, status: int) -> None:
    """Nobody knows which pages it has, so that none of them has gone."""
    site.at[path] = Reply(status, b"")

    with pytest.raises(SourceUnavailable, match="Nothing was removed"):
        await read(site)


async def test_a_site_that_does_not_answer_is_told(site: Site) -> None:
    """The same."""
    await site.down()

    with pytest.raises(SourceUnavailable, match="cannot be reached"):
        await read(site)


@pytest.mark.parametrize("reply", [Reply(500, b""), Reply(200, b"<html>", {"Content-Encoding": "gzip"})])
async def test_a_site_that_stops_to_answer_is_told(site: Site, reply: Reply) -> None:
    """After so many pages in a row, also where they break off."""
    paths = [f"/docs/{number}" for number in range(MOST_FAILURES + 3)]
    site.list(*paths)
    site.at |= dict.fromkeys(paths, reply)

    with pytest.raises(SourceUnavailable, match="has stopped answering"):
        await read(site)
    assert [path for path in site.asked if path in paths] == paths[:MOST_FAILURES]


async def test_a_site_that_wants_to_be_left_alone_is_left_alone(site: Site) -> None:
    """For as long as it says; then it is asked again, and after three times not at all."""
    naps = Naps()
    site.at["/docs/a"] = Reply(429, b"", {"Retry-After": "7"})

    async def reading() -> None:
        limits = SiteLimits(pace=0.0, retries=replace(SITE, sleep=naps))
        [each async for each in source(site, limits=limits).documents()]

    with pytest.raises(SourceUnavailable, match="asks to be left alone for now"):
        await reading()

    assert site.asked.count("/docs/a") == 3
    assert naps.slept == [7.0, 7.0]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "is not open to everybody (401)."),
        (403, "is not open to everybody (403)."),
        (418, "answers with an error (418)."),
    ],
)
async def test_a_page_that_is_refused_is_named_and_stays(site: Site, status: int, reason: str) -> None:
    """What was read of it before is kept; the others are read."""
    site.at["/docs/a"] = Reply(status, b"")

    found = await read(site)

    assert [each for each in found if isinstance(each, Unreadable)] == [
        Unreadable(name=f"{site.url}/docs/a", reason=reason, url=f"{site.url}/docs/a")
    ]
    assert urls(site, found) == ["/docs/", "/docs/b/"]


async def test_what_leads_elsewhere_or_is_no_page_is_left_out(site: Site) -> None:
    """A redirect out of the folder, a picture, and what is not public at all."""
    site.at["/docs/a"] = Reply(302, b"", {"Location": "/other"})
    site.at["/docs/b/"] = Reply(200, b"PNG", {"Content-Type": "image/png"})
    site.pages["/docs/"] = html("Start", "Hi.", links=("a", "b/", "c"))
    site.at["/docs/c"] = Reply(302, b"", {"Location": "http://169.254.169.254/latest/"})

    found = await read(site)

    assert urls(site, found) == ["/docs/"]
    assert [each.why for each in found if isinstance(each, LeftOut)] == ["elsewhere", "image/png"]
    assert [each.reason for each in found if isinstance(each, Unreadable)] == [
        "is at an address that is not public. To allow it, set FOOTNOTE_FETCH_NETWORKS."
    ]


@pytest.mark.promise("safe-fetching")
async def test_a_site_of_this_machine_is_refused(site: Site) -> None:
    """Unless the operator allows it; nothing is asked."""
    with pytest.raises(InvalidInput, match="FOOTNOTE_FETCH_NETWORKS"):
        [found async for found in Website(f"{site.url}/", name="docs", home=site.home).documents()]

    assert site.asked == []


async def test_a_line_that_is_cut_costs_one_page(site: Site) -> None:
    """The others are read."""
    site.list("/docs/a", "/docs/b/")
    found: list[Found] = []
    async for each in source(site).documents():
        found.append(each)
        if len(found) == 1:
            site.faults.extend(
                [Reset(), Reset()]
            )  # the client asks again itself, once, where a line that it had is cut

    assert [type(each) for each in found] == [Document, Unreadable, Document]
