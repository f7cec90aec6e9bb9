"""A website as a source of documents: which of its pages are read, at which pace, and what is known of each."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from adapters.documents.links import Hints, Site, hints_in, listed, locations
from adapters.documents.made_of import readers
from adapters.documents.page import NotReadable
from adapters.documents.reader import ReadRequest
from adapters.documents.reading import DEFAULT_LIMITS, ReadingProcess
from adapters.fetching import AGENT, Fetched, Fetcher, FetchFailed, FetchRefused, FetchRules, ask, fetcher
from adapters.retry import SITE, RetryPolicy
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
OK, NOT_MODIFIED, FIRST_REFUSAL, TOO_MANY, FIRST_FAILURE = 200, 304, 400, 429, 500
GONE, CLOSED = (404, 410), (401, 402, 403, 451)
DOWN = "{} {} Nothing was removed; it will be tried again later."
ERROR, NOT_OPEN = "answers with an error ({}).", "is not open to everybody ({})."
TOO_MANY_PAGES = f"has more than {MOST_PAGES:,} pages; name a folder of it."
FORBIDDEN, AGAIN, ELSEWHERE, HIDDEN = "forbidden by robots.txt", "under another address", "elsewhere", "hidden"


@dataclass(slots=True)
class _Visit:
    """One walk through a site: what there is to read, and what is known by now."""

    site: Site
    fetch: Fetcher
    robots: Protego | None
    seen: Mapping[str, tuple[str, str, str]]
    reading: ReadingProcess
    folder: Path
    links: dict[str, None] = field(default_factory=dict[str, None])
    done: set[str] = field(default_factory=set[str])
    failures: int = 0


class Website:
    """The pages below an address, or with *alone* the page at it."""

    def __init__(
        self,
        address: str,
        *,
        name: str,
        alone: bool = False,
        rules: FetchRules | None = None,
        pace: float = PACE,
        retries: RetryPolicy = SITE,
    ) -> None:
        """Ask for at most one page in so many seconds, the *pace*."""
        self.name = name
        self._address = address
        self._alone = alone
        self._rules = rules
        self._pace = pace
        self._retries = retries

    async def size(self) -> int | None:
        """Nobody knows how many pages there are before the last one."""
        return None

    async def documents(self, seen: Mapping[str, str] = NOTHING_SEEN) -> AsyncGenerator[Found]:
        """Read one page after the other; one that is as it was costs a request and nothing else."""
        async with AsyncExitStack() as stack:
            fetch = await stack.enter_async_context(fetcher(self._rules))
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="footnote-")))
            reading = ReadingProcess(DEFAULT_LIMITS)
            stack.push_async_callback(reading.aclose)
            site = Site.of(self._address)
            known = {stamp[1]: (url, stamp[2], stamp[3]) for url, text in seen.items() if (stamp := _stamp(text))}
            visit = _Visit(site, fetch, await self._robots(fetch, site), known, reading, folder)
            async with aclosing(self._walk(visit)) as walked:
                async for found in walked:
                    yield found

    async def _walk(self, visit: _Visit) -> AsyncGenerator[Found]:
        first = visit.site.page(self._address, self._address) or self._address
        pages: Iterable[str] = [] if self._alone else await self._pages(visit)
        waiting = dict.fromkeys([first, *pages])
        follows = not self._alone and len(waiting) == 1
        if follows:  # pages that are as they were do not say again where they lead
            waiting |= dict.fromkeys(asked for asked in visit.seen if visit.site.page(asked, asked))
        asked = set[str]()
        while waiting:
            url = next(iter(waiting))
            del waiting[url]
            if len(asked) >= MOST_PAGES:
                yield Unreadable(name=self._address, reason=TOO_MANY_PAGES)
                return
            asked.add(url)
            visit.links.clear()
            yield await self._page(visit, url, is_first=len(asked) == 1)
            if follows:
                waiting |= {link: None for link in visit.links if link not in asked}

    async def _robots(self, fetch: Fetcher, site: Site) -> Protego | None:
        """Return what the site asks of robots; None where it asks nothing. Raises as `documents`."""
        from protego import Protego

        got = await self._required(fetch, f"{site.origin}/robots.txt")
        if got.status >= FIRST_FAILURE or got.status == TOO_MANY:
            raise SourceUnavailable(DOWN.format(self._address, ERROR.format(got.status)))
        return Protego.parse(got.body[:500_000].decode(errors="replace")) if got.status == OK else None

    async def _pages(self, visit: _Visit) -> list[str]:
        """Return the pages that the site lists, by its sitemaps or else for machines that read."""
        site, named = visit.site, list(visit.robots.sitemaps) if visit.robots else []
        waiting = named or list(dict.fromkeys((f"{site.address}sitemap.xml", f"{site.origin}/sitemap.xml")))
        found, asked = dict[str, None](), list[str]()
        while waiting and len(asked) < MOST_SITEMAPS and len(found) <= MOST_PAGES:
            asked.append(waiting.pop(0))
            got = await self._required(visit.fetch, asked[-1])
            if got.status >= FIRST_FAILURE or got.status == TOO_MANY:
                raise SourceUnavailable(DOWN.format(asked[-1], ERROR.format(got.status)))
            addresses, is_index = locations(got.body) if got.status == OK else ([], False)
            if is_index:
                waiting += [each for each in addresses if each.startswith(site.origin) and each not in asked]
            else:
                found |= {page: None for each in addresses if (page := site.page(each, site.address))}
        if not found:
            got = await self._required(visit.fetch, f"{site.address}llms.txt")
            if got.status == OK and not got.headers.get("content-type", "").startswith("text/html"):
                found |= dict.fromkeys(listed(got.body.decode(errors="replace"), got.url, site))
        return list(found)

    async def _required(self, fetch: Fetcher, url: str) -> Fetched:
        """Fetch what the list of pages hangs on. Raises `InvalidInput`, or `SourceUnavailable`."""
        try:
            return await self._asked(fetch, url)
        except FetchRefused as error:
            raise InvalidInput(f"{url} {error}", field="source") from error
        except FetchFailed as error:
            raise SourceUnavailable(DOWN.format(url, error)) from error

    async def _asked(self, fetch: Fetcher, url: str, headers: Mapping[str, str] | None = None) -> Fetched:
        return await ask(lambda: fetch.get(url, headers), self._retries)

    async def _page(self, visit: _Visit, url: str, *, is_first: bool) -> Found:
        """Read one page. Raises `SourceUnavailable` where the site is down, or wants to be left alone."""
        if visit.robots is not None and not visit.robots.can_fetch(url, AGENT):
            if is_first and self._alone:
                raise InvalidInput(f"{url} is {FORBIDDEN}.", field="source")
            return LeftOut(name=url, why=FORBIDDEN)
        await asyncio.sleep(self._wait(visit))
        known = visit.seen.get(url)
        headers = {"If-None-Match": known[1], "If-Modified-Since": known[2]} if known else {}
        try:
            got = await self._asked(visit.fetch, url, {name: value for name, value in headers.items() if value})
        except (FetchRefused, FetchFailed) as error:
            return self._failed(visit, url, str(error), is_down=isinstance(error, FetchFailed))
        return await self._answered(visit, url, got)

    async def _answered(self, visit: _Visit, url: str, got: Fetched) -> Found:
        known = visit.seen.get(url)
        if got.status == TOO_MANY:
            raise SourceUnavailable(DOWN.format(self._address, "asks to be left alone for now."))
        if got.status >= FIRST_FAILURE:
            return self._failed(visit, url, ERROR.format(got.status), is_down=True)
        visit.failures = 0
        if got.status == NOT_MODIFIED and known:
            again = known[0] in visit.done
            visit.done.add(known[0])
            return LeftOut(name=url, why=AGAIN) if again else Unchanged(url=known[0], name=url)
        if got.status in GONE:
            return LeftOut(name=url, why="gone")
        if got.status != OK:
            is_closed = got.status in CLOSED
            return self._failed(visit, url, (NOT_OPEN if is_closed else ERROR).format(got.status), is_down=False)
        return await self._read(visit, url, got)

    def _wait(self, visit: _Visit) -> float:
        delay = visit.robots.crawl_delay(AGENT) if visit.robots else None
        return min(max(self._pace, delay or 0.0), LONGEST_PACE) if self._pace else 0.0

    def _failed(self, visit: _Visit, url: str, reason: str, *, is_down: bool) -> Unreadable:
        visit.failures += is_down
        if visit.failures >= MOST_FAILURES:
            raise SourceUnavailable(DOWN.format(self._address, f"has stopped answering: {url} {reason}"))
        known = visit.seen.get(url)
        return Unreadable(name=url, reason=reason, url=known[0] if known else url)

    async def _read(self, visit: _Visit, asked: str, got: Fetched) -> Found:
        """Have a page read in another process, and find where it leads."""
        kind = got.headers.get("content-type", "").partition(";")[0].strip().lower()
        suffix = KINDS.get(kind, "")
        if suffix == ".txt" and (ending := Path(urlsplit(got.url).path).suffix.lower()) in (".md", ".markdown", ".rst"):
            suffix = ending
        here = visit.site.page(got.url, got.url) or (got.url if self._alone else None)
        if not suffix or here is None:
            return LeftOut(name=asked, why=ELSEWHERE if suffix else kind or "of no kind")
        hints = Hints()
        if suffix == ".html":
            hints = await asyncio.to_thread(hints_in, got.body.decode(errors="replace"), here, visit.site)
        visit.links.update(dict.fromkeys(hints.links))
        if hints.is_hidden or "noindex" in got.headers.get("x-robots-tag", "").lower():
            return LeftOut(name=asked, why=HIDDEN)
        url = hints.canonical or here
        if url in visit.done:
            return LeftOut(name=asked, why=AGAIN)
        found = await self._parsed(visit, asked, got, suffix)
        if isinstance(found, Document):
            validators = (got.headers.get("etag", ""), got.headers.get("last-modified", ""))
            stamp = " ".join((readers(), asked, *map(_quoted, validators))) if any(validators) else ""
            update = {"url": url, "name": asked, "chapter": visit.site.chapter(url), "stamp": stamp}
            visit.done.add(url)
            return found.model_copy(update=update)
        return found.model_copy(update={"name": asked, "url": url}) if isinstance(found, Unreadable) else found

    async def _parsed(self, visit: _Visit, asked: str, got: Fetched, suffix: str) -> Found:
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


def _quoted(text: str) -> str:
    """Return a header's value without blanks, so that several can stand in a line."""
    return text.replace("%", "%25").replace(" ", "%20")


def _stamp(text: str) -> tuple[str, ...] | None:
    """Return what a stamp says, as long as pages are still read in the same way."""
    parts = tuple(map(unquote, text.split(" ")))
    expected = 4
    return parts if len(parts) == expected and parts[0] == readers() else None
