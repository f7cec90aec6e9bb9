"""What is peculiar to accepting questions in Redis: what nobody waits for any more is never written."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import cast

import pytest
from redis.asyncio import Redis

from adapters.redis.connection import ScriptRunner, connect
from adapters.redis.inbox_store import PREFIX, InboxStore
from adapters.redis.secrets import Seal
from core.errors import StoreUnavailable
from core.events import Event, Passed, Step
from core.model import Asked
from tests.fixtures.redis import Place, clean, place, say
from tests.inboxes import SECRET, asked

SHORT = 0.5  # seconds
LONG = 1.5  # seconds, as those who ask are let wait
LIVE = 5.0  # seconds
MANY = 40
LATE = 20  # milliseconds between two views of the same clock
WAITING = "footnote:inbox:{inbox}:waiting"


@pytest.fixture(name="where", params=["redis", "sentinel", "cluster"])
def _where(request: pytest.FixtureRequest) -> Place:
    return place(request.param, request)


@asynccontextmanager
async def opened(url: str, *, patience: float | None = None) -> AsyncGenerator[InboxStore]:
    """Open what an inbox writes into."""
    client = connect(url) if patience is None else connect(url, timeout=patience)
    try:
        yield InboxStore(client, seal=Seal([SECRET]))
    finally:
        await client.aclose()


def used(number: int) -> Asked:
    """Somebody asks by a command."""
    return asked(str(number), in_thread=str(number))


async def frozen_for(where: Place, seconds: float) -> None:
    """Let all servers do nothing for a while."""
    for server in where.servers:
        server.freeze()
    await asyncio.sleep(seconds)
    for server in where.servers:
        server.thaw()


@pytest.mark.promise("asked-once")
async def test_a_server_that_was_frozen_writes_nothing_that_nobody_waits_for(where: Place) -> None:
    """Whoever asked has been told that there will be no answer, so nobody may give one later."""
    async with clean(where.url) as client, opened(where.url) as store:
        await store.accept(used(MANY), within=LIVE)
        accepting = {number: asyncio.create_task(store.accept(used(number), within=LONG)) for number in range(MANY)}
        await asyncio.sleep(0)  # by now all have begun
        latest = time.time() + LONG
        await asyncio.wait(accepting.values(), return_when=asyncio.FIRST_COMPLETED)
        await frozen_for(where, 2 * LONG)
        await asyncio.wait(accepting.values())
        await asyncio.sleep(SHORT)
        written = cast("list[tuple[bytes, float]]", await say(client, "ZRANGE", WAITING, "0", "-1", "WITHSCORES"))
        times = {ref.decode(): since for ref, since in written}

        kept = {str(used(number).message) for number, task in accepting.items() if task.exception() is None}
        assert 0 < len(kept) < MANY
        assert kept <= set(times)
        assert max(times.values()) <= latest * 1000 + LATE


@pytest.mark.promise("asked-once")
async def test_what_arrives_too_late_is_not_written(where: Place) -> None:
    """A server that was frozen carries out what it was told before; what it has written already, it gives."""
    async with clean(where.url) as client:
        accept = partial(ScriptRunner(client, "inbox", "signals"), "accept", PREFIX)
        words = {
            "ref": "a:b:c:d:e",
            "platform": "a",
            "person": "p",
            "home": "a:b",
            "text": "t",
            "address": "",
            "interaction": "",
        }
        given = {**words, "left": 1, "lease": 1000}
        tried = [await accept(**given, latest=latest) for latest in (0, 1 << 50, 0)]
        other = await accept(**{**given, "text": "u"}, latest=1 << 50)

    assert (tried, other) == ([-1, 1, 1], 0)


async def test_a_server_that_stands_still_for_a_moment_costs_nothing(where: Place) -> None:
    """It is written once it goes on, and known as one's own where the first try has arrived."""
    async with clean(where.url), opened(where.url, patience=SHORT) as store:
        await store.accept(used(1), within=LIVE)
        freezing = asyncio.create_task(frozen_for(where, 2 * SHORT))
        await asyncio.sleep(0)
        is_new = await store.accept(used(2), within=LIVE)
        await freezing

        assert is_new
        assert (await store.knows(used(1).message), await store.waiting()) == (True, 2)


async def test_nobody_waits_longer_than_said() -> None:
    """Also where no server is."""
    async with opened("redis://127.0.0.1:1/0") as store:
        began = time.monotonic()
        with pytest.raises(StoreUnavailable):
            await store.accept(used(1), within=SHORT)

        assert time.monotonic() - began < LIVE


async def test_that_a_question_is_accepted_is_told_once(redis_client: Redis) -> None:
    """By whoever has written it down."""
    told: list[Event] = []
    store = InboxStore(redis_client, seal=Seal([SECRET]), observer=told.append)
    accepted = [await store.accept(asked(), within=LIVE) for _ in range(2)]

    assert (accepted, told) == ([True, False], [Passed(asked().message, Step.ACCEPTED)])
