"""A website: pages with ETag and Last-Modified, robots.txt and a sitemap if it has them, and every way to refuse."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from aiohttp import web

from tests.servers.service import Received, Reply, Service

MODIFIED = "Wed, 21 Oct 2026 07:28:00 GMT"


class WebSite(Service):
    """Serves `pages` by path: HTML, or what their `types` say. `at` has other answers for single paths.

    With `validators`, what has not changed is answered with 304 and nothing else.
    """

    def __init__(self, pages: Mapping[str, str | bytes] | None = None) -> None:
        super().__init__()
        self.pages: dict[str, str | bytes] = dict(pages or {})
        self.types: dict[str, str] = {"/robots.txt": "text/plain", "/sitemap.xml": "application/xml"}
        self.at: dict[str, Reply] = {}
        self.validators: tuple[str, ...] = ("ETag", "Last-Modified")

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [each.path for each in self.received]

    def list(self, *paths: str) -> None:
        """Have a sitemap with these pages."""
        places = "".join(f"<url><loc>{self.url}{path}</loc></url>" for path in paths)
        self.pages["/sitemap.xml"] = f'<?xml version="1.0"?><urlset>{places}</urlset>'

    async def answer(self, request: web.Request, received: Received) -> web.StreamResponse:
        """Answer as a website does."""
        if (other := self.at.get(request.path)) is not None:
            return web.Response(status=other.status, body=other.payload, headers=dict(other.headers))
        if (content := self.pages.get(request.path)) is None:
            return web.Response(status=404, text="<h1>Not found</h1>", content_type="text/html")
        body = content.encode() if isinstance(content, str) else content
        tag = f'"{hashlib.sha256(body).hexdigest()[:8]}"'
        said = {name: value for name, value in (("ETag", tag), ("Last-Modified", MODIFIED)) if name in self.validators}
        asked = request.headers.get("If-None-Match"), request.headers.get("If-Modified-Since")
        if ("ETag" in said and asked[0] == tag) or ("ETag" not in said and "Last-Modified" in said and asked[1]):
            return web.Response(status=304, headers=said)
        kind = self.types.get(request.path, "text/html")
        return web.Response(body=body, headers={"Content-Type": kind, **said})


def html(title: str, *words: str, head: str = "", links: tuple[str, ...] = ()) -> str:
    """Write a page."""
    paragraphs = "".join(f"<p>{each}</p>" for each in words)
    menu = "".join(f'<a href="{link}">Go</a>' for link in links)
    return (
        f"<!doctype html><html><head><title>{title} | Site</title>{head}</head><body><nav>{menu}</nav>"
        f'<main><h1 id="top">{title}</h1>{paragraphs}</main><footer>Foot</footer></body></html>'
    )
