"""What goes wrong between the index and a Qdrant server, and in which words it is told."""

from __future__ import annotations

import asyncio
import traceback
from uuid import UUID

import pytest

from adapters.qdrant.connection import (
    BUSY,
    FOREIGN,
    KEY,
    REFUSED,
    RIGHTS,
    SLOW,
    STRANGER,
    UNREACHABLE,
    QdrantConnection,
)
from core.errors import FootnoteError, Misconfigured, RetrievalUnavailable
from core.events import Event, Retried
from core.model import IndexQuery
from tests.adapters.qdrant.shelf import CALM, HASTE, TWICE, opened, page, put, texts
from tests.servers.qdrant import QdrantServer
from tests.servers.service import Fault, Hang, Reply, Reset, Trickle
from tests.waiting import wait_until

SECRET = "key-that-nobody-may-see"
HTML = Reply(200, "<html>Welcome to nginx!</html>", {"Content-Type": "text/html"})

PASSING: dict[str, tuple[Fault, str]] = {
    "reset": (Reset(), "no connection"),
    "hang": (Hang(), "no answer in time"),
    "408": (Reply(408, {}), "status 408"),
    "429": (Reply(429, {}), "status 429"),
    "429-retry-after": (Reply(429, {}, {"Retry-After": "0"}), "status 429"),
    "429-retry-after-in-words": (Reply(429, {}, {"Retry-After": "soon"}), "status 429"),
    "500": (Reply(500, {"status": {"error": "Service internal error"}}), "status 500"),
    "502-html": (Reply(502, "<html>Bad Gateway</html>"), "status 502"),
    "503": (Reply(503, {}), "status 503"),
}

LASTING: dict[str, tuple[Fault, int, str]] = {
    "reset": (Reset(), 3, UNREACHABLE),
    "hang": (Hang(), 3, SLOW),
    "429": (Reply(429, {}), 3, BUSY),
    "429-retry-after": (Reply(429, {}, {"Retry-After": "0"}), 3, BUSY),
    "429-retry-after-long": (Reply(429, {}, {"Retry-After": "3600"}), 1, BUSY),
    "500": (Reply(500, {}), 3, BUSY),
    "503": (Reply(503, {}), 3, BUSY),
    "400": (Reply(400, {"status": {"error": "Wrong input"}}), 1, REFUSED),
    "401": (Reply(401, "Invalid API key or JWT"), 1, KEY),
    "403": (Reply(403, {"status": {"error": "Forbidden"}}), 1, RIGHTS),
    "404-no-such-path": (Reply(404, "<html>Not Found</html>"), 1, STRANGER),
    "200-html": (HTML, 1, STRANGER),
    "200-nothing": (Reply(200, ""), 1, STRANGER),
    "200-half": (Reply(200, '{"result": {"ali'), 1, STRANGER),
    "200-json-of-another": (Reply(200, {"result": {"hello": "world"}}), 1, STRANGER),
}


@pytest.mark.parametrize("name", PASSING)
async def test_a_fault_that_passes_is_survived(name: str) -> None:
    """The call is made again, for reads and writes alike, and an observer is told why."""
    fault, reason = PASSING[name]
    seen: list[Event] = []
    timeouts = HASTE if isinstance(fault, Hang) else CALM
    async with QdrantServer() as server, opened(server.url, timeouts=timeouts, observer=seen.append) as index:
        server.faults.append(fault)
        await put(index, page("a", "Robots act."))
        server.faults.append(fault)

        assert await texts(index) == {"Robots act."}
        assert seen == [Retried("index", 1, reason)] * 2


@pytest.mark.parametrize("name", LASTING)
async def test_a_fault_that_lasts_is_told_in_words(name: str) -> None:
    """After the retries, where they make sense, one sentence says what to do; afterwards everything works again."""
    fault, tries, sentence = LASTING[name]
    timeouts = HASTE if isinstance(fault, Hang) else CALM
    async with QdrantServer() as server, opened(server.url, timeouts=timeouts) as index:
        await put(index, page("a", "Robots act."))
        assert await texts(index) == {"Robots act."}
        server.received.clear()
        server.broken = fault

        with pytest.raises(RetrievalUnavailable) as caught:
            await texts(index)
        assert (str(caught.value), len(server.received)) == (sentence, tries)

        server.broken = None
        assert await texts(index) == {"Robots act."}


@pytest.mark.parametrize(
    "result",
    [
        [],
        [{"points": []}],
        [{"points": [{"id": 1, "version": 1, "score": 1.0, "payload": {"text": "Buy."}}]}, {"points": []}],
        [{"points": [{"id": str(UUID(int=1)), "version": 1, "score": 1.0, "payload": None}]}, {"points": []}],
    ],
    ids=["no lists", "too few lists", "a payload of another", "an id of another"],
)
async def test_what_another_has_written_is_no_answer(result: object) -> None:
    """A collection may be written to by anybody who has the key; the sentence says how to get out of the way."""
    async with QdrantServer() as server, opened(server.url, timeouts=CALM) as index:
        await put(index, page("a", "Robots act."))
        assert await texts(index) == {"Robots act."}
        server.broken = Reply(200, {"result": result, "status": "ok", "time": 0.1})

        with pytest.raises(RetrievalUnavailable) as caught:
            await texts(index)

    assert str(caught.value) == FOREIGN


async def test_a_body_that_trickles_is_given_up() -> None:
    """The limit is for the whole of a try, and not for each byte."""
    async with QdrantServer() as server, opened(server.url, timeouts=HASTE) as index:
        server.broken = Trickle()
        with pytest.raises(RetrievalUnavailable) as caught:
            await texts(index)

    assert (str(caught.value), len(server.received)) == (SLOW, 3)


async def test_a_server_that_was_away_is_used_again() -> None:
    """No restart is needed, and what was written is there."""
    async with QdrantServer() as server, opened(server.url) as index:
        await put(index, page("a", "Robots act."))
        await server.down()
        for ask in (lambda: texts(index), lambda: put(index, page("b", "Robots rest.")), lambda: index.pages("docs")):
            with pytest.raises(RetrievalUnavailable) as caught:
                await ask()
            assert str(caught.value) == UNREACHABLE
        await server.up()

        await put(index, page("b", "Robots rest."))
        assert await texts(index) == {"Robots act.", "Robots rest."}


async def test_who_gives_up_waiting_hangs_up() -> None:
    """Cancelling a search closes its connection at once."""
    async with QdrantServer() as server, opened(server.url) as index:
        server.broken = Hang()
        search = asyncio.create_task(index.candidates(IndexQuery("robots", None), limit=1))
        await wait_until(lambda: bool(server.received), what="the search")
        search.cancel()

        async with asyncio.timeout(1):
            await server.hung_up.wait()
        with pytest.raises(asyncio.CancelledError):
            await search


async def test_a_key_that_may_only_read_is_enough_to_search() -> None:
    """Writing with it is refused in words that name the setting."""
    async with (
        QdrantServer(api_key=SECRET) as server,
        opened(server.url, api_key=SECRET) as owner,
        opened(server.url, api_key="read") as reader,
    ):
        server.read_only_key = "read"
        await put(owner, page("a", "Robots act."))

        assert await texts(reader) == {"Robots act."}
        with pytest.raises(RetrievalUnavailable) as caught:
            await put(reader, page("b", "Robots rest."))
        assert str(caught.value) == RIGHTS


# -- The check of an operator ------------------------------------------------------------------------------------------


async def test_the_check_names_server_version_and_pages() -> None:
    """One line, with the address as it is used."""
    async with QdrantServer(api_key=SECRET) as server:
        place = server.url.removeprefix("http://")
        async with opened(server.url, api_key=SECRET) as index:
            empty = await index.check()
            await put(index, page("a", "Robots act.", "Robots rest."))
            full = await index.check()

    assert empty == (
        f"Qdrant 1.20.0 at {place}, collection documents: empty. Read documents first: footnote ingest FOLDER"
    )
    assert full == f"Qdrant 1.20.0 at {place}, collection documents: 1 page"


@pytest.mark.parametrize(
    ("fault", "error", "sentence"),
    [
        (Reply(401, "Invalid API key or JWT"), Misconfigured, KEY),
        (HTML, Misconfigured, STRANGER),
        (Reply(503, {}), RetrievalUnavailable, BUSY),
        (Reset(), RetrievalUnavailable, UNREACHABLE),
    ],
)
async def test_the_check_says_what_to_do(fault: Fault, error: type[FootnoteError], sentence: str) -> None:
    """What an operator must change is told apart from what may pass."""
    async with QdrantServer() as server, opened(server.url) as index:
        server.broken = fault
        with pytest.raises(error) as caught:
            await index.check()

    assert str(caught.value) == sentence


async def test_a_wrong_key_is_found_by_the_check() -> None:
    """The version is told to everybody, so that it alone would not show it."""
    async with QdrantServer(api_key=SECRET) as server, opened(server.url, api_key="another") as index:
        with pytest.raises(Misconfigured, match="QDRANT_API_KEY"):
            await index.check()


async def test_a_server_that_is_too_old_is_refused_by_the_check() -> None:
    """It would forget what a collection was made with."""
    async with QdrantServer(version="1.15.5") as server, opened(server.url) as index:
        with pytest.raises(Misconfigured, match=r"version 1\.15\.5; Footnote needs 1\.16 or newer"):
            await index.check()


# -- Secrets, and the environment --------------------------------------------------------------------------------------


@pytest.mark.promise("plain-errors")
@pytest.mark.parametrize(
    "fault",
    [
        Reset(),
        Hang(),
        HTML,
        Reply(401, f"The key {SECRET} is wrong"),
        Reply(500, {"status": {"error": f"What is {SECRET}?"}}),
        *(Reply(400, f"{'x' * length}{SECRET}") for length in (170, 175, 180, 490)),
        Reply(429, {"status": {"error": f"Slowly, {SECRET}"}}, {"Retry-After": "0"}),
    ],
)
async def test_no_secret_is_told(fault: Fault) -> None:
    """The key is in no error, in none of its causes, and not in the index itself."""
    async with (
        QdrantServer(api_key=SECRET) as server,
        opened(server.url, api_key=SECRET, timeouts=HASTE) as index,
    ):
        server.broken = fault
        for ask in (lambda: texts(index), index.check):
            with pytest.raises(FootnoteError) as caught:
                await ask()
            told = "".join(traceback.format_exception(caught.value)) + repr(index) + repr(caught.value.args)
            assert SECRET[:8] not in told, "a half of it"


async def test_the_environment_is_not_listened_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that is set for other programs is not used."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with QdrantServer() as server, opened(server.url) as index:
        assert "empty" in await index.check()


@pytest.mark.parametrize(
    ("url", "key", "shown"),
    [
        ("http://qdrant.example", SECRET, True),
        ("http://localhost:6333", SECRET, False),
        ("http://qdrant.example", None, False),
        ("https://qdrant.example", SECRET, False),
    ],
)
def test_an_unencrypted_key_is_pointed_out(url: str, key: str | None, *, shown: bool) -> None:
    """On the way to another machine everybody could read it."""
    connection = QdrantConnection(url, key or "", TWICE, HASTE)

    assert connection.shows_key == shown
