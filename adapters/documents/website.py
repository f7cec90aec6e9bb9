"""A website as a source of documents: which of its pages are read, at which pace, and what is known of each."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

from adapters.documents.links import Hints, Known, Site, Visit, hints_in, listed, locations, origin, shown
from adapters.documents.page import NotReadable
from adapters.documents.reader import ReadRequest
from adapters.documents.reading import DEFAULT_LIMITS, ReadingProcess
from adapters.fetching import AGENT, DOWN, REDIRECTS, Fetched, FetchFailed, FetchRefused, FetchRules, ask, fetcher
from adapters.retry import SITE, RetryPolicy
from adapters.unix import scratch
from core.errors import InvalidInput, SourceUnavailable
from core.model import Document, LeftOut, Unchanged, Unreadable
from core.ports import NOTHING_SEEN, Found

if TYPE_CHECKING:
    from protego import Protego

PACE = 0.2  # seconds between two requests, unless the site wants more
LONGEST_PACE = 30.0
MOST_PAGES, MOST_SITEMAPS = 5_000, 50
MOST_FAILURES = 5  # pages in a row, after which the site counts as down
KINDS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/plain": ".txt",
    "application/pdf": ".pdf",
}
OK, NOT_MODIFIED, TOO_MANY, NOT_THERE = 200, 304, 429, (404, 410)
TOO_MANY_PAGES = "has more than {:,} pages; name a folder of it."
NO_SITEMAP = "is not a sitemap."
BEYOND = f"is beyond the {MOST_SITEMAPS} sitemaps that are read; name a folder of the site."
LED = "{} redirects to {}, so nothing could be read. If the pages are there now, add that address as a source."
CLOSED_NOW = "leads to a login or to another place, so what was read of it before is kept."
FORBIDDEN, AGAIN, ELSEWHERE, HIDDEN = "forbidden by robots.txt", "under another address", "elsewhere", "hidden"
LOGIN, NOWHERE = "behind a login", "like a page that does not exist"
NOTHING = "-"
MADE_UP = "footnote-asks-for-a-page-that-does-not-exist"


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """How many *pages* of a site are asked for at most, one in so many seconds, the *pace*, and when again.

    It is *now* what the clock says.
    """

    pages: int = MOST_PAGES
    pace: float = PACE
    retries: RetryPolicy = SITE
    now: Callable[[], datetime] = partial(datetime.now, UTC)


LIMITS = SiteLimits()


class Website:
    """The pages below an address, or with *alone* the page at it."""

    def __init__(
        self,
        address: str,
        *,
        name: str,
        home: Path,
        alone: bool = False,
        rules: FetchRules | None = None,
        limits: SiteLimits = LIMITS,
    ) -> None:
        """Have each page at *home* while it is read."""
        self.name = name
        self._home = home
        self._address = address
        self._alone = alone
        self._rules = rules
        self._limits = limits
        self._size = 1 if alone else None

    async def size(self) -> int | None:
        """Return how many pages the site lists, as soon as that was read; None before, and where links are followed."""
        return self._size

    async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
        """Read one page after the other; one that is as it was costs a request and nothing else."""
        async with AsyncExitStack() as stack:
            fetch = await stack.enter_async_context(fetcher(self._rules))
            folder = stack.enter_context(scratch(self._home))
            reading = ReadingProcess(DEFAULT_LIMITS)
            stack.push_async_callback(reading.aclose)
            site = Site.of(self._address)
            known = {page.asked: page for page in (Known.of(url, text) for url, text in seen.items())}
            first = site.page(self._address, self._address) or self._address
            visit = Visit(site, fetch, known, reading, folder, first)
            visit.robots = await self._robots(visit)
            async with aclosing(self._walk(visit)) as walked:
                async for found in walked:
                    yield found

    async def _walk(self, visit: Visit) -> AsyncGenerator[Found]:
        pages = [] if self._alone else await self._pages(visit)
        told = [Unreadable(name=url, reason=why, url=url) for url, why in visit.missing.items() if why]
        for each in told:
            yield each
        follows = not self._alone and {*pages} <= {visit.first}
        if follows or (visit.missing and not self._alone):  # what is as it was does not say again where it leads
            pages += [asked for asked in visit.seen if visit.site.page(asked, asked)]
        visit.new[visit.first] = None
        visit.wait_for(pages)
        visit.known = dict.fromkeys(sorted(visit.known, key=lambda each: visit.seen[visit.owners[each]].day))
        most = self._limits.pages
        self._size = None if follows else len(told) + min(len(visit.new) + len(visit.known), most + 1)
        while visit.new or visit.known:
            has_room = len(visit.asked) + len(visit.known) < most
            queue = visit.new if visit.new and has_room else visit.known
            if not queue or len(visit.asked) >= most:
                yield Unreadable(name=self._address, reason=TOO_MANY_PAGES.format(most))
                return
            url = next(iter(queue))
            del queue[url]
            visit.asked.add(url)
            visit.links.clear()
            found = await self._page(visit, url)
            if isinstance(found, LeftOut) and found.why != AGAIN:
                visit.leave_out(url)
            yield found
            if follows:
                visit.wait_for(visit.links)
        self._check(visit)

    def _check(self, visit: Visit) -> None:
        """Raise `InvalidInput` where the site has moved as a whole, or `SourceUnavailable` where no page answered."""
        if visit.led and not visit.done:
            raise InvalidInput(LED.format(self._address, visit.led), field="source")
        if visit.down is not None and not visit.done:
            raise SourceUnavailable(DOWN.format(*visit.down, self.name))

    async def _robots(self, visit: Visit) -> Protego | None:
        """Return what the site asks of robots; None where it asks nothing. Raises as `documents`."""
        from protego import Protego

        got = await self._list(visit, url := f"{visit.site.origin}/robots.txt", is_named=False)
        return Protego.parse(got.body[:500_000].decode(errors="replace")) if url not in visit.missing and got else None

    async def _list(self, visit: Visit, url: str, *, is_named: bool) -> Fetched | None:
        """Return a list of what there is, if there is one; the visit knows of one that is not open or is gone.

        Raises `InvalidInput`, and `SourceUnavailable` where the site is down.
        """
        got = await self._required(visit, url)
        if got.is_down:
            raise SourceUnavailable(DOWN.format(url, got.refusal, self.name))
        if got.status == OK:
            return got
        if is_named or got.status not in NOT_THERE:
            visit.missing[url] = got.refusal if is_named else ""
        return None

    async def _pages(self, visit: Visit) -> list[str]:
        """Return the pages that the site lists, by its sitemaps or else for machines that read."""
        site, named = visit.site, list(visit.robots.sitemaps) if visit.robots else []
        guessed = () if named else (f"{site.address}sitemap.xml", f"{site.origin}/sitemap.xml")
        waiting, found, asked = dict.fromkeys(named or guessed), dict[str, None](), set[str]()
        while waiting and len(asked) < MOST_SITEMAPS and len(found) <= self._limits.pages:
            url = next(iter(waiting))
            del waiting[url]
            asked.add(url)
            await asyncio.sleep(self._wait(visit))
            if (got := await self._list(visit, url, is_named=url not in guessed)) is None:
                continue
            if (sitemap := locations(got.body)) is None:
                visit.missing[url] = "" if url in guessed else NO_SITEMAP
            elif sitemap[1]:
                waiting |= {each: None for each in sitemap[0] if origin(each) == site.origin and each not in asked}
            else:
                found |= {page: None for each in sitemap[0] if (page := site.page(each, site.address))}
        visit.missing |= dict.fromkeys(list(waiting)[:1], BEYOND)
        if not found:
            got = await self._required(visit, f"{site.address}llms.txt")
            if got.status == OK and not got.headers.get("content-type", "").startswith("text/html"):
                found |= dict.fromkeys(listed(got.body.decode(errors="replace"), got.url, site))
        return list(found)

    async def _required(self, visit: Visit, url: str) -> Fetched:
        """Fetch what the list of pages hangs on. Raises `InvalidInput`, or `SourceUnavailable`."""
        try:
            return await self._asked(visit, url)
        except FetchRefused as error:
            raise InvalidInput(f"{url} {error}", field="source") from error
        except FetchFailed as error:
            raise SourceUnavailable(DOWN.format(url, error, self.name)) from error

    async def _asked(
        self, visit: Visit, url: str, headers: Mapping[str, str] | None = None, known: Collection[str] = ()
    ) -> Fetched:
        return await ask(lambda: visit.fetch.get(url, headers, known), self._limits.retries)

    async def _page(self, visit: Visit, url: str) -> Found:
        """Read one page. Raises `SourceUnavailable` where the site is down, or wants to be left alone."""
        if visit.robots is not None and not visit.robots.can_fetch(url, AGENT):
            if self._alone:
                raise InvalidInput(f"{url} is {FORBIDDEN}.", field="source")
            return LeftOut(name=url, why=FORBIDDEN)
        if url in visit.reached:  # a redirect led here
            return self._closed(visit, url) if url in visit.closed else LeftOut(name=url, why=AGAIN)
        await asyncio.sleep(self._wait(visit))
        known = visit.seen.get(url)
        headers = {"If-None-Match": known.tag, "If-Modified-Since": known.modified} if known else {}
        headers = {name: value for name, value in headers.items() if value}
        try:
            place, apart = known.moved if known and known.moved else url, visit.apart(url)
            got = await self._asked(visit, place, headers, apart)
            if got.status in NOT_THERE and known and known.moved:  # perhaps it is elsewhere by now
                got = await self._asked(visit, url, None, apart)
        except (FetchRefused, FetchFailed) as error:
            return self._failed(visit, url, str(error), is_down=isinstance(error, FetchFailed))
        found = await self._answered(visit, url, got)
        if got.status in (OK, NOT_MODIFIED) and not (isinstance(found, LeftOut) and found.why == AGAIN):
            visit.reached |= {url, got.url}  # but for one that left its page to another, which may lead back here
            visit.closed |= {got.url} if isinstance(found, Unreadable) else set()
        return found

    async def _answered(self, visit: Visit, url: str, got: Fetched) -> Found:
        known = visit.seen.get(url)
        if got.status == TOO_MANY:
            raise SourceUnavailable(DOWN.format(self._address, "asks to be left alone for now.", self.name))
        if got.is_down:
            return self._failed(visit, url, got.refusal, is_down=True)
        visit.failures = 0
        if got.status in REDIRECTS and got.url in visit.apart(url):
            return self._closed(visit, url) if got.url in visit.closed else LeftOut(name=url, why=AGAIN)
        if got.status == NOT_MODIFIED and known:
            again = known.url in visit.done
            visit.done.add(known.url)
            stamp = known._replace(day=self._today).stamp
            return LeftOut(name=url, why=AGAIN) if again else Unchanged(url=known.url, name=url, stamp=stamp)
        if got.status in NOT_THERE:
            return LeftOut(name=url, why="gone", was_all=self._alone)
        if got.status != OK:
            return self._failed(visit, url, got.refusal, is_down=False)
        return await self._read(visit, url, got)

    def _wait(self, visit: Visit) -> float:
        delay = visit.robots.crawl_delay(AGENT) if visit.robots else None
        return min(max(self._limits.pace, delay or 0.0), LONGEST_PACE) if self._limits.pace else 0.0

    @property
    def _today(self) -> str:
        return self._limits.now().date().isoformat()

    def _failed(self, visit: Visit, url: str, reason: str, *, is_down: bool) -> Unreadable:
        if is_down:
            visit.failures, visit.down = visit.failures + 1, visit.down or (url, reason)
        if visit.failures >= MOST_FAILURES:
            raise SourceUnavailable(DOWN.format(self._address, f"has stopped answering: {url} {reason}", self.name))
        known = visit.seen.get(url)
        return Unreadable(name=url, reason=reason, url=known.url if known else url)

    def _closed(self, visit: Visit, url: str) -> Found:
        """Keep what was read before of a page that shows something else to those who are not logged in."""
        known = visit.seen.get(url)
        return Unreadable(name=url, reason=CLOSED_NOW, url=known.url) if known else LeftOut(name=url, why=LOGIN)

    async def _read(self, visit: Visit, asked: str, got: Fetched) -> Found:
        """Have a page read in another process, and find where it leads."""
        kind = got.headers.get("content-type", "").partition(";")[0].strip().lower()
        suffix = KINDS.get(kind, "")
        if suffix == ".txt" and (ending := Path(urlsplit(got.url).path).suffix.lower()) in (".md", ".markdown", ".rst"):
            suffix = ending
        here = visit.site.page(got.url, got.url) or (got.url if self._alone else None)
        if here is None:
            if got.is_for_now and asked in visit.seen:
                return self._closed(visit, asked)
            visit.led = visit.led or (got.url if asked == visit.first else "")
            return LeftOut(name=asked, why=ELSEWHERE)
        if not suffix:
            return LeftOut(name=asked, why=kind or "of no kind")
        hints = Hints()
        if suffix == ".html":
            hints = await asyncio.to_thread(hints_in, got.body.decode(errors="replace"), here, visit.site)
        if got.is_for_now and hints.asks_password:
            visit.closed.add(got.url)
            return self._closed(visit, asked)
        visit.links.update(dict.fromkeys(hints.links))
        if hints.is_hidden or "noindex" in got.headers.get("x-robots-tag", "").lower():
            return LeftOut(name=asked, why=HIDDEN)
        found = await self._parsed(visit, asked, got, suffix)
        instead = await self._instead(visit, asked, found, hints) if isinstance(found, Document) else None
        proper = here if hints.canonical in visit.dead else hints.canonical or here
        return instead or self._named(visit, asked, got, found, proper)

    def _named(self, visit: Visit, asked: str, got: Fetched, found: Found, url: str) -> Found:
        """Give what was read the address that it has on the web, and a stamp, unless another address gave it."""
        owner = visit.owners.get(url, "")
        if has_turn := asked not in visit.owners and owner in visit.known:
            visit.yielded.setdefault(owner, []).append(asked)
        if url in visit.done or has_turn:
            return LeftOut(name=asked, why=AGAIN)
        if not isinstance(found, Document):
            return found.model_copy(update={"name": asked, "url": url}) if isinstance(found, Unreadable) else found
        visit.done.add(url)
        moved = got.url if got.url != asked and not got.is_for_now else ""
        tag, modified = got.headers.get("etag", ""), got.headers.get("last-modified", "")
        stamp = Known(url, asked, tag, modified, moved, self._today).stamp
        return found.model_copy(update={"url": url, "name": asked, "chapter": visit.site.chapter(url), "stamp": stamp})

    async def _instead(self, visit: Visit, asked: str, found: Document, hints: Hints) -> Found | None:
        """Return what a page is that shows what the site shows where nothing is: closed, or gone; None for others.

        Where the first page does so too, nobody can tell which of the two, and what was read before is kept.
        """
        if asked not in visit.seen and (self._alone or not found.text.strip()):
            return None
        made_up = urljoin(visit.first if self._alone else visit.site.address, MADE_UP)
        if visit.nowhere is None:
            visit.nowhere = await self._nowhere(visit, made_up)
        if shown(found.text, asked, made_up) != shown(visit.nowhere, asked, made_up):
            return None
        if asked == visit.first:
            visit.is_lost = True
            return self._closed(visit, asked) if hints.asks_password and asked in visit.seen else None
        visit.links.clear()
        is_closed = asked in visit.seen and (hints.asks_password or visit.is_lost)
        return self._closed(visit, asked) if is_closed else LeftOut(name=asked, why=NOWHERE)

    async def _nowhere(self, visit: Visit, url: str) -> str:
        """Return what the site shows at an address that nobody has, or a dash where it says that there is nothing."""
        if visit.robots is None or visit.robots.can_fetch(url, AGENT):
            await asyncio.sleep(self._wait(visit))
            with suppress(FetchRefused, FetchFailed):
                got = await self._asked(visit, url)
                if got.status == OK and got.headers.get("content-type", "").lower().startswith("text/html"):
                    found = await self._parsed(visit, url, got, ".html")
                    return found.text if isinstance(found, Document) else NOTHING
        return NOTHING

    async def _parsed(self, visit: Visit, asked: str, got: Fetched, suffix: str) -> Found:
        file = visit.folder / f"page{suffix}"
        await asyncio.to_thread(file.write_bytes, got.body)
        stem = re.sub(r"[^\w .-]", "", unquote(urlsplit(asked).path.rstrip("/").rpartition("/")[2])) or "page"
        seconds = DEFAULT_LIMITS.time_for(len(got.body))
        relative = f"{Path(stem).stem}{suffix}"
        request = ReadRequest(str(file), relative, "", self.name, None, seconds, str(visit.folder))
        try:
            return await visit.reading.read(request) or LeftOut(name=asked, why=HIDDEN)
        except NotReadable as error:
            return Unreadable(name=asked, reason=str(error), url=asked)
