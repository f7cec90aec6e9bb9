"""Sources of which nothing can be read any more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator

import pytest

from bot.commands.ingest import OPEN
from tests.fixtures.commands import Footnote
from tests.fixtures.redis import clean
from tests.servers.service import Reply
from tests.servers.website import WebSite, html


@pytest.fixture(name="url")
async def _url(redis_url: str) -> AsyncGenerator[str]:
    """Give a store that knows of no community."""
    async with clean(redis_url):
        yield redis_url


LOGIN = html("Sign in", "Please.", head='<input type="password">')
NOTHING = f"Nothing in it could be read ({{}}), so nothing was changed. {OPEN}To remove what was read before: "


@pytest.mark.promise("says-what-to-do")
@pytest.mark.promise("websites")
@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (
            Reply(503, b"", {"Retry-After": "0"}),
            3,
            "an error (503). Nothing was removed. Try again later: ",
        ),
        (Reply(403, b""), 2, NOTHING.format("2 failed")),
        (Reply(302, b"", {"Location": "/login"}), 2, NOTHING.format("2 failed")),
        (Reply(404, b""), 2, NOTHING.format("2 gone")),
        (Reply(200, b"", {"Content-Type": "image/png"}), 2, NOTHING.format("2 image/png")),
        (Reply(200, b"", {"Content-Type": "text/html"}), 2, NOTHING.format("2 without text")),
    ],
)
async def test_a_site_of_which_nothing_can_be_read_says_why_and_what_to_do(
    footnote: Footnote, url: str, answer: Reply, code: int, said: str
) -> None:
    """In a sentence that `show` has too; it loses nothing."""
    pages = {"/": html("Farm", "Hello.", links=("/goats",)), "/goats": html("Goats", "Goats eat thistles.")}
    env = {"REDIS_URL": url, "FOOTNOTE_FETCH_NETWORKS": "127.0.0.1"}
    async with WebSite(pages) as site:
        await asyncio.to_thread(footnote, "sources", "add", site.url, "--name", "farm", **env)
        site.pages["/login"] = LOGIN
        site.at = dict.fromkeys(pages, answer)
        synced = await asyncio.to_thread(footnote, "sources", "sync", "farm", **env)
        told = synced.err.splitlines()[-1]
        facts = json.loads((await asyncio.to_thread(footnote, "sources", "show", "farm", "--json", **env)).out)

        both = await asyncio.to_thread(footnote, "sources", "sync", "farm", "zoo", **env)

    assert (synced.code, said in told, both.code) == (code, True, code)
    assert told.startswith(facts["last"]["problem"])
    assert facts["pages"] == 2
