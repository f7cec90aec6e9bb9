"""What a website says of itself: where its pages are, which of them are one, and what is known of them by now.

Nothing is parsed here: addresses are picked out of what a site sent by patterns that take no longer than it is.
"""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

from adapters.documents.made_of import readers

if TYPE_CHECKING:
    from pathlib import Path

    from protego import Protego

    from adapters.documents.reading import ReadingProcess
    from adapters.fetching import Fetcher

TAG = re.compile(r"<(a|link|meta|base|input)\s([^<>]{0,4000})>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""([a-zA-Z-]{1,40})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
LOCATION = re.compile(r"<loc>([^<]{1,4000})</loc>", re.IGNORECASE)
LISTED = re.compile(r"\]\(([^()\s]{1,2000})\)")
COMMENTS_AND_SCRIPTS = re.compile(r"<!--.*?(?:-->|\Z)|<script\b.*?(?:</script\s*>|\Z)", re.DOTALL | re.IGNORECASE)
DEEPEST, LONGEST = 20, 2_000  # segments of a path, and characters of an address: what has more is made by a machine
LARGEST_LIST = 50_000_000  # bytes, unpacked


def origin(address: str) -> str:
    """Return the scheme, host and port of an address, as two of them can be compared; nothing where it has none."""
    with suppress(ValueError):
        parts = urlsplit(address)
        usual = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
        return f"{parts.scheme}://{parts.netloc.lower().removesuffix(usual)}"
    return ""


@dataclass(frozen=True, slots=True)
class Site:
    """The part of a website that is read: what is below the folder of an address."""

    origin: str
    folder: str

    @classmethod
    def of(cls, address: str) -> Site:
        """Return the site of an address; what follows the last slash is a page unless it has no ending."""
        parts = urlsplit(address)
        folder, _, page = (parts.path or "/").rpartition("/")
        return cls(origin(address), f"{folder}/" if "." in page or not page else f"{folder}/{page}/")

    @property
    def address(self) -> str:
        """The address of its folder."""
        return self.origin + self.folder

    def page(self, target: str, base: str) -> str | None:
        """Return the address of a page of this site that is meant from another one; None for what is elsewhere."""
        with suppress(ValueError):
            address = urldefrag(urljoin(base, html.unescape(target).strip())).url
            parts = urlsplit(address)
            is_inside = f"{parts.path}/".startswith(self.folder) and parts.path.count("/") <= DEEPEST
            if origin(address) == self.origin and is_inside and len(address) <= LONGEST:
                return urlunsplit(parts._replace(netloc=self.origin.partition("://")[2], path=parts.path or "/"))
        return None

    def chapter(self, address: str) -> str:
        """Return the first folder below the site's own."""
        below = urlsplit(address).path.removeprefix(self.folder).split("/")
        return below[0] if len(below) > 1 else ""


@dataclass(frozen=True, slots=True)
class Hints:
    """What a page says to machines: other pages, its proper address, and whether it wants to be read at all."""

    links: tuple[str, ...] = ()
    canonical: str | None = None
    is_hidden: bool = False
    asks_password: bool = False


def hints_in(text: str, address: str, site: Site) -> Hints:
    """Return what the HTML at an address says to machines."""
    base, links, canonical, rules, asks = address, dict[str, None](), None, "", False
    for match in TAG.finditer(COMMENTS_AND_SCRIPTS.sub("", text)):
        said = {name.lower(): a or b or c for name, a, b, c in ATTRIBUTE.findall(match[2])}
        target = said.get("href", "")
        match match[1].lower():
            case "base" if target:
                base = urljoin(address, target)
            case "input":
                asks = asks or said.get("type", "").lower() == "password"
            case "meta" if said.get("name", "").lower() in ("robots", "footnote"):
                rules += said.get("content", "").lower()
            case "link" if "canonical" in said.get("rel", "").lower().split():
                canonical = site.page(target, base)
            case "a" if target and "nofollow" not in said.get("rel", "").lower():
                page = site.page(target, base)
                if page is not None and "?" not in page:  # what is behind a question has often no end
                    links[page] = None
            case _:
                pass
    return Hints(() if "nofollow" in rules else tuple(links), canonical, "noindex" in rules, asks)


def locations(body: bytes) -> tuple[list[str], bool] | None:
    """Return the addresses in a sitemap, which may be packed, and whether these are sitemaps; None for what is none."""
    if body.startswith(b"\x1f\x8b"):
        with suppress(zlib.error):
            body = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(body, LARGEST_LIST)
    text = body.decode(errors="replace")
    found, head = [html.unescape(each).strip() for each in LOCATION.findall(text)], text[:2_000].lower()
    return (found, "<sitemapindex" in head) if found or "<urlset" in head or "<sitemapindex" in head else None


def listed(text: str, address: str, site: Site) -> Iterator[str]:
    """Yield the pages that a list for machines in Markdown, `llms.txt`, names."""
    for target in LISTED.findall(text):
        if (page := site.page(target, address)) is not None:
            yield page


def shown(text: str, *urls: str) -> str:
    """Return the words of a page without any of these addresses: many repeat theirs where they have nothing to show."""
    paths = [unquote(urlsplit(url).path).rstrip("/") for url in urls]
    for path in filter(None, paths):
        text = re.sub(rf"{re.escape(path)}/?(?![\w-])", "", text)
    names = {path.rpartition("/")[2] for path in paths}
    return " ".join(word for word in text.split() if word.strip("/.,:;!?\"'`()[]") not in names)


class Known(NamedTuple):
    """What is known of a page: its address, where it was asked for, how it was then, and where it has moved.

    `day` is when it was last looked at; nothing where an earlier version did.
    """

    url: str
    asked: str
    tag: str = ""
    modified: str = ""
    moved: str = ""
    day: str = ""

    @classmethod
    def of(cls, url: str, stamp: str) -> Self:
        """Return what a stamp says of the page at an address, as long as pages are still read in the same way."""
        how, *said = map(unquote, stamp.split(" "))
        return cls(url, *said) if how == readers() and len(said) in (4, 5) else cls(url, url)

    @property
    def stamp(self) -> str:
        """The same in a line, in which no value has blanks."""
        return " ".join((readers(), *(each.replace("%", "%25").replace(" ", "%20") for each in self[1:])))


@dataclass(slots=True)
class Visit:
    """One walk through a site: what there is to read, and what is known by now.

    What is `new` comes before what was `known`, so that a walk that is broken off again and again has read all once.
    New ones that are versions of a known one have `yielded` to it, and have another turn where it proves `dead`.
    Lists that are `missing` may name any of what was known, with why if that has to be told.
    """

    site: Site
    fetch: Fetcher
    seen: Mapping[str, Known]
    reading: ReadingProcess
    folder: Path
    first: str
    robots: Protego | None = None
    missing: dict[str, str] = field(default_factory=dict[str, str])
    new: dict[str, None] = field(default_factory=dict[str, None])
    known: dict[str, None] = field(default_factory=dict[str, None])
    asked: set[str] = field(default_factory=set[str])
    owners: dict[str, str] = field(init=False)
    links: dict[str, None] = field(default_factory=dict[str, None])
    done: set[str] = field(default_factory=set[str])
    reached: set[str] = field(default_factory=set[str])
    closed: set[str] = field(default_factory=set[str])
    yielded: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    dead: set[str] = field(default_factory=set[str])
    failures: int = 0
    down: tuple[str, str] | None = None
    led: str = ""
    nowhere: str | None = None
    is_lost: bool = False

    def __post_init__(self) -> None:
        self.owners = {address: asked for asked, page in self.seen.items() for address in (page.moved, page.url, asked)}

    def wait_for(self, urls: Iterable[str]) -> None:
        """Give each page a turn, once."""
        for url in urls:
            if url not in self.asked and url not in self.new:
                (self.known if url in self.owners else self.new)[url] = None

    def leave_out(self, url: str) -> None:
        """Have those that have yielded to a page be read after all, none of them as that page."""
        if (known := self.seen.get(url)) is not None:
            self.dead.add(known.url)
        for each in self.yielded.pop(url, ()):
            self.asked.discard(each)
            self.new[each] = None

    def apart(self, url: str) -> Collection[str]:
        """Return the addresses that had a turn of their own, or where this one is new, that will have one."""
        if url in self.owners:
            return self.reached
        return self.reached | self.known.keys() | {self.seen[each].url for each in self.known if each in self.seen}
