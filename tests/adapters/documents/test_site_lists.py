"""What a website lists, what may be wrong with that, and sites that have no end."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web

from adapters.documents.links import Site
from adapters.documents.website import SiteLimits, Website
from adapters.fetching import FetchRules
from adapters.retry import SITE
from core.documents.ingest import Ingestion, Summary
from tests.fakes.embedder import HashEmbedder
from tests.fakes.index import MemoryIndex
from tests.servers.service import Received, Reply
from tests.servers.website import WebSite, html

PATHS = tuple(f"/docs/{number}" for number in range(4))
LOGIN = Reply(200, b"<h1>Sign in</h1>", {"Content-Type": "text/html"})


def page(number: str, *links: str) -> str:
    """Write a page that differs from all others."""
    return html(f"Page {number}", f"This is page {number}.", links=links)


@pytest.fixture(name="site")
async def _site() -> AsyncGenerator[WebSite]:
    """Run a site whose index of sitemaps names two of two pages each."""
    async with WebSite({path: page(path) for path in ("/docs/", *PATHS)}) as site:
        for name, paths in (("one", PATHS[:2]), ("two", PATHS[2:])):
            site.pages[f"/{name}.xml"] = listing("url", *(site.url + path for path in paths))
        site.pages["/sitemap.xml"] = listing("sitemap", f"{site.url}/one.xml", f"{site.url}/two.xml")
        yield site


def listing(kind: str, *addresses: str) -> str:
    """Write a sitemap, or an index of sitemaps."""
    root = "urlset" if kind == "url" else "sitemapindex"
    return f"<{root}>{''.join(f'<{kind}><loc>{each}</loc></{kind}>' for each in addresses)}</{root}>"


class Reader:
    """Reads a site into an index, time and again."""

    def __init__(self, site: WebSite, home: Path, *, pages: int = 100) -> None:
        rules = FetchRules(networks=[ipaddress.ip_network("127.0.0.1/32")])
        self.day = 1
        limits = SiteLimits(pages, 0.0, replace(SITE, attempts=1), lambda: datetime(2027, 1, self.day, tzinfo=UTC))
        self.index = MemoryIndex()
        self.source = Website(f"{site.url}/docs/", name="docs", home=home, rules=rules, limits=limits)
        self.sizes: list[int | None] = []
        self.site = site

    async def __call__(self, *, steps: int | None = None) -> Summary:
        """Read it to its end, or break off after so many steps."""
        summary = Summary()
        self.sizes = [await self.source.size()]
        self.site.received.clear()
        async with aclosing(Ingestion(self.index, HashEmbedder()).run(self.source)) as reading:
            async for step in reading:
                self.sizes.append(await self.source.size())
                summary = step if isinstance(step, Summary) else summary
                if len(self.sizes) - 1 == steps:
                    break
        return summary

    @property
    def asked(self) -> list[str]:
        """The pages that were asked for, in order."""
        return [path for path in self.site.asked if path.startswith("/docs/") and path[6:7].isdigit()]

    async def kept(self) -> set[str]:
        """The paths of what the index holds."""
        return {url.removeprefix(self.site.url) for url in await self.index.pages("docs")}


@pytest.mark.promise("websites")
@pytest.mark.parametrize("status", [401, 403, 404, 410, 418])
async def test_a_sitemap_that_is_refused_loses_no_page(site: WebSite, tmp_path: Path, status: int) -> None:
    """What it may have named is asked for; what is gone by its own word goes, and the list that failed is told."""
    read = Reader(site, tmp_path)
    await read()
    site.at["/two.xml"] = Reply(status, b"")
    del site.pages["/docs/3"]

    summary = await read()

    assert await read.kept() == {"/docs/", *PATHS[:3]}
    assert [each.name for each in summary.failed] == [f"{site.url}/two.xml"]
    assert str(status) in summary.failed[0].reason


@pytest.mark.promise("websites")
async def test_a_login_in_place_of_a_list_loses_no_page(site: WebSite, tmp_path: Path) -> None:
    """Be it of a sitemap, of one that was only guessed, or of the rules for robots, which name another."""
    read = Reader(site, tmp_path)
    site.pages["/robots.txt"] = f"Sitemap: {site.url}/sitemap.xml\n"
    await read()
    everything = await read.kept()
    site.at["/two.xml"] = LOGIN
    told = [len((await read()).failed)]
    site.at = {"/robots.txt": Reply(403, b""), "/docs/sitemap.xml": LOGIN}
    site.pages["/sitemap.xml"] = listing("url", f"{site.url}/docs/0", f"{site.url}/docs/1")
    told.append(len((await read()).failed))

    assert (len(everything), await read.kept() == everything, told) == (5, True, [1, 0])


@pytest.mark.promise("websites")
async def test_more_sitemaps_than_are_read_lose_no_page(site: WebSite, tmp_path: Path) -> None:
    """The first one that is not read is named."""
    read = Reader(site, tmp_path)
    await read()
    more = [f"{site.url}/more/{number}.xml" for number in range(60)]
    site.pages |= {each.removeprefix(site.url): listing("url") for each in more}
    site.pages["/sitemap.xml"] = listing("sitemap", f"{site.url}/one.xml", *more, f"{site.url}/two.xml")

    summary = await read()

    assert await read.kept() == {"/docs/", *PATHS}
    assert [each.reason[:13] for each in summary.failed] == ["is beyond the"]


@pytest.mark.promise("websites")
async def test_an_index_that_names_itself_ends(site: WebSite, tmp_path: Path) -> None:
    """Each sitemap is asked for once, however often it is named, and those of other sites are not."""
    own = f"{site.url}/sitemap.xml"
    evil = f"{site.url}.evil.example/x.xml", f"{site.url}0/x.xml"
    site.pages["/sitemap.xml"] = listing("sitemap", own, own, *evil, *[f"{site.url}/one.xml"] * 3)
    site.pages["/one.xml"] = listing("sitemap", own, f"{site.url}/one.xml", f"{site.url}/two.xml")

    summary = await Reader(site, tmp_path)()

    assert ([site.asked.count(path) for path in ("/sitemap.xml", "/one.xml", "/two.xml")], summary.failed) == (
        [1, 1, 1],
        (),
    )


@pytest.mark.promise("resumable")
async def test_a_walk_that_is_broken_off_again_and_again_comes_to_its_end(site: WebSite, tmp_path: Path) -> None:
    """What is new is read before what was read already."""
    read, found = Reader(site, tmp_path), list[list[str]]()
    for _ in range(3):
        await read(steps=3)
        found.append(read.asked)
    summary = await read()

    assert found == [["/docs/0", "/docs/1"], ["/docs/2", "/docs/3"], ["/docs/0", "/docs/1"]]
    assert (summary.pages, summary.unchanged, await read.kept()) == (5, 5, {"/docs/", *PATHS})


@pytest.mark.promise("websites")
@pytest.mark.parametrize("moved", [301, 302, None])
async def test_what_is_new_takes_nothing_from_what_is_known(site: WebSite, tmp_path: Path, moved: int | None) -> None:
    """A page that leads to a known one, or names it as its proper address, comes before it and is not read for it."""
    read = Reader(site, tmp_path)
    await read()
    target, new = f"{site.url}/docs/1", f"{site.url}/docs/9"
    site.pages["/docs/9"] = html("Old", "An older edition.", head=f'<link rel="canonical" href="{target}">')
    site.at |= {"/docs/9": Reply(moved, b"", {"Location": target})} if moved else {}
    site.pages["/one.xml"] = listing("url", f"{site.url}/docs/0", target, new)

    summary = await read()

    assert (read.asked, summary.unchanged, summary.skipped) == (
        ["/docs/9", *PATHS],
        5,
        {"under another address": 1},
    )


@pytest.mark.promise("websites")
@pytest.mark.parametrize(("status", "kept"), [(404, "/docs/9"), (410, "/docs/9"), (503, "/docs/1")])
async def test_a_new_page_takes_the_place_of_one_that_proves_gone(
    site: WebSite, tmp_path: Path, status: int, kept: str
) -> None:
    """In the same reading and under its own address; where that one is only down, it waits."""
    read = Reader(site, tmp_path)
    await read()
    proper = f'<link rel="canonical" href="{site.url}/docs/1">'
    site.pages["/docs/9"] = html("New", "A newer edition.", head=proper)
    site.at["/docs/1"] = Reply(status, b"")
    site.pages["/one.xml"] = listing("url", *(site.url + path for path in ("/docs/0", "/docs/1", "/docs/9")))

    await read()

    assert await read.kept() == {"/docs/", "/docs/0", kept, *PATHS[2:]}


@pytest.mark.promise("websites")
@pytest.mark.parametrize("validators", [("ETag",), ()])
async def test_of_pages_that_were_read_those_come_first_that_were_looked_at_longest_ago(
    site: WebSite, tmp_path: Path, validators: tuple[str, ...]
) -> None:
    """So none of a site that is never read to its end stays as it was for ever, whether its pages change or not."""
    site.validators = validators
    read, found = Reader(site, tmp_path), list[list[str]]()
    await read()
    for day in range(2, 5):
        read.day = day
        await read(steps=3)
        found.append(read.asked)

    assert found == [["/docs/0", "/docs/1"], ["/docs/2", "/docs/3"], ["/docs/0", "/docs/1"]]


async def test_a_page_that_redirects_to_one_that_names_it_stays(site: WebSite, tmp_path: Path) -> None:
    """As where a site has changed its addresses, and not yet what each page says of its own."""
    read = Reader(site, tmp_path)
    await read()
    canonical = f'<link rel="canonical" href="{site.url}{PATHS[0]}">'
    site.pages["/docs/new"] = html("Page 0", "This is page 0.", head=canonical)
    site.pages["/one.xml"] = listing("url", *(site.url + path for path in ("/docs/new", *PATHS[:2])))
    site.at[PATHS[0]] = Reply(301, b"", {"Location": "/docs/new"})

    again = await read()

    assert again.removed == 0
    assert f"{site.url}{PATHS[0]}" in await read.index.pages("docs")


async def test_the_size_is_known_once_the_list_is_read(site: WebSite, tmp_path: Path) -> None:
    """Not where links are followed."""
    read = Reader(site, tmp_path)
    await read()
    listed = read.sizes
    del site.pages["/sitemap.xml"]
    await (other := Reader(site, tmp_path))()

    assert (listed, {*other.sizes}) == ([None, *[5] * 6], {None})


class Endless(WebSite):
    """A site each of whose pages leads to another one that nobody has seen."""

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Answer any page of it."""
        name = request.path.removeprefix("/docs/")
        if name == "" or name.isdigit():
            following = int(name or 0) + 1
            self.pages[request.path] = page(name, f"/docs/{following}", f"/docs/{following}?sort=up")
        return await super().answer(request, received)


@pytest.mark.promise("websites")
async def test_a_site_without_end_stops_at_the_bound_and_loses_nothing(tmp_path: Path) -> None:
    """Nor the next time, when pages that are as they were do not say where they lead."""
    async with Endless() as site:
        read = Reader(site, tmp_path, pages=7)
        first = await read()
        kept = await read.kept()
        again = await read()

    assert [each.reason for each in first.failed] == ["has more than 7 pages; name a folder of it."]
    assert (len(kept), await read.kept() == kept, again.removed) == (7, True, 0)


@pytest.mark.parametrize(
    ("address", "target", "page"),
    [
        ("https://Docs.Example:443/a/", "https://docs.example/a/b", "https://docs.example/a/b"),
        ("https://docs.example/a/", "https://DOCS.example:443/a/b", "https://docs.example/a/b"),
        ("https://docs.example/a/", "https://docs.example.evil.example/a/b", None),
        ("https://docs.example/a/", "https://docs.example:8443/a/b", None),
        ("https://docs.example/a/", "https://docs.example@evil.example/a/b", None),
        ("https://docs.example/a/", "http://docs.example/a/b", None),
        ("https://docs.example/a/", "https://docs.example/ab", None),
    ],
)
def test_a_page_belongs_to_a_site_by_its_scheme_host_and_port(address: str, target: str, page: str | None) -> None:
    """However these are written."""
    assert Site.of(address).page(target, address) == page
