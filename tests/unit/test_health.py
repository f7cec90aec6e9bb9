"""Signs of life over HTTP: what lives, what is ready, what is missing, and the figures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from adapters.redis.failure import UNREACHABLE
from bot.health import NO_ANSWER, NO_COMMANDS, CachedCheck, Health, Noted
from bot.metrics import Metrics
from bot.settings import Settings
from bot.wiring import Advice
from bot.wiring.stores import open_stores
from core.errors import Misconfigured, RetrievalUnavailable, StoreUnavailable
from core.events import (
    CommandsFailed,
    CommandsRegistered,
    CommunityBack,
    CommunityLost,
    Connected,
    ConnectionLost,
    PlatformFailed,
    ServiceBack,
    ServiceSkipped,
)
from core.model import Backlog
from tests.builders import NOON
from tests.servers.valkey import alone

HOST = "127.0.0.1"


@dataclass
class Counted:
    """Implements `Backlogged`: counts how often it was asked, and fails with `failure` if there is one."""

    failure: Exception | None = None
    asked: int = 0

    async def backlog(self) -> Backlog:
        """Give what there is to do."""
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return Backlog(waiting=3)


class Visitor:
    """Somebody who asks a process how it is."""

    def __init__(self, session: ClientSession, port: int) -> None:
        self._session = session
        self.port = port

    async def __call__(self, path: str, **headers: str) -> tuple[int, list[str]]:
        """Give the status and the lines of a page."""
        async with self._session.get(f"http://{HOST}:{self.port}{path}", headers=headers) as answer:
            return answer.status, (await answer.text()).splitlines()


@asynccontextmanager
async def visited(health: Health) -> AsyncGenerator[Visitor]:
    """Let it answer at a port."""
    async with health.served(HOST, 0) as port, ClientSession() as session:
        yield Visitor(session, port)


@pytest.mark.promise("tells-how-it-is")
async def test_a_process_is_ready_once_everything_is_there_and_until_it_stops() -> None:
    """Each missing thing has a line, in the order in which it is waited for; it lives all the while."""
    health = Health()
    async with visited(health) as get:
        told = [await get("/ready")]
        health.begin(Counted(), heard=["Discord", "Slack"], entered=["Discord"])
        told.append(await get("/ready"))
        health.observe(Connected("Slack", "a server at port 3000"))
        health.observe(Connected("Discord", "Footnote#0000"))
        told.append(await get("/ready"))
        health.entered("Discord")
        told.append(await get("/ready"))
        health.stop()
        told.append(await get("/ready"))
        lives = await get("/live")

    assert told == [
        (503, ["It is starting."]),
        (503, ["Discord: not connected yet.", "Slack: not connected yet.", "Discord: not logged in yet."]),
        (503, ["Discord: not logged in yet."]),
        (200, ["ok"]),
        (503, ["It is stopping."]),
    ]
    assert lives == (200, ["ok"])


@pytest.mark.promise("tells-how-it-is")
async def test_a_platform_that_is_gone_is_missing_until_it_is_back() -> None:
    """Whether it was there before, was never heard, or refused the bot; each has one line, with the last reason."""
    health, told = Health(now=lambda: NOON), list[list[str]]()
    health.begin(Counted(), heard=["Discord"], entered=[])
    for event in (
        ConnectionLost("Discord", "HTTP 503"),
        Connected("Discord", "Footnote#0000"),
        ConnectionLost("Discord", "shard 0 was disconnected"),
        PlatformFailed("Discord", "The token is wrong."),
        Connected("Discord", "Footnote#0000"),
    ):
        health.observe(event)
        told.append(await health.missing())

    assert told == [
        ["Discord: no connection since 12:00 UTC (HTTP 503)."],
        [],
        ["Discord: no connection since 12:00 UTC (shard 0 was disconnected)."],
        ["Discord: The token is wrong."],
        [],
    ]


@pytest.mark.promise("tells-how-it-is")
async def test_a_community_that_refuses_the_bot_is_told_and_the_others_are_served() -> None:
    """The process is ready all the same, as no host can do anything about it."""
    health = Health(now=lambda: NOON)
    health.begin(Counted(), heard=[], entered=[])
    lost = CommunityLost("Slack", "slack:T1", "slack:T1 (Robots)", "the token is refused")
    health.observe(lost)
    missing, told = await health.missing(), str(await health.look())
    health.observe(CommunityBack("Slack", "slack:T1", "slack:T1 (Robots)"))

    assert missing == []
    assert told.endswith(". Slack has refused the bot in slack:T1 (Robots) since 12:00 UTC (the token is refused).")
    assert "Robots" not in await health.look()


@pytest.mark.promise("tells-how-it-is")
async def test_a_worker_is_ready_once_a_platform_has_taken_it_that_refused_it() -> None:
    """It listens to none, so nothing else tells that the platform is back."""
    health = Health()
    health.begin(Counted(), heard=[], entered=["Discord"])
    health.observe(PlatformFailed("Discord", "The token is wrong."))
    refused = await health.missing()
    health.entered("Discord")

    assert (refused, await health.missing()) == (["Discord: The token is wrong."], [])


@pytest.mark.promise("tells-how-it-is")
async def test_a_platform_that_takes_answers_again_is_missing_until_it_is_heard() -> None:
    """Who listens to it needs both."""
    health = Health(now=lambda: NOON)
    health.begin(Counted(), heard=["Discord"], entered=["Discord"])
    health.observe(ConnectionLost("Discord", "HTTP 503"))
    health.entered("Discord")

    assert await health.missing() == ["Discord: no connection since 12:00 UTC (HTTP 503)."]


@pytest.mark.promise("failing-services-are-skipped")
@pytest.mark.parametrize(
    ("event", "told", "end"),
    [
        (
            CommandsFailed("Discord", "code 50001"),
            NO_COMMANDS.format("Discord", "code 50001"),
            CommandsRegistered("Discord"),
        ),
        (
            ServiceSkipped("embedder", "status 503"),
            "The embedder failed again and again (status 503), so it is skipped until a call goes through.",
            ServiceBack("embedder"),
        ),
    ],
)
async def test_what_the_bot_can_do_without_is_told_until_it_is_there(event: Noted, told: str, end: Noted) -> None:
    """To whoever looks at the bot, which is ready all the same."""
    health = Health()
    health.begin(Counted(), heard=[], entered=[])
    health.observe(event)
    async with visited(health) as get:
        before = await get("/ready"), await health.look()
        health.observe(end)
        after = await get("/ready"), await health.look()

    assert (before[0], isinstance(before[1], Advice)) == ((200, ["ok", told]), True)
    assert (after[0], isinstance(after[1], Advice)) == ((200, ["ok"]), False)
    assert before[1].endswith(told)


@pytest.mark.promise("tells-how-it-is")
@pytest.mark.promise("no-secrets")
async def test_what_does_not_work_is_told_without_a_secret() -> None:
    """Our own sentences are told as they are; of all other errors only the kind; what a platform refuses stays."""
    health = Health()
    health.begin(Counted(StoreUnavailable(UNREACHABLE)), heard=["Discord"], entered=["Discord"])
    health.needs(_failing(ValueError("redis://:hunter2@secret.example")), kept=0.0)
    health.needs(_failing(RetrievalUnavailable("The index is away.")), kept=0.0)
    health.observe(PlatformFailed("Discord", "The token is wrong."))

    assert await health.missing() == [
        "Discord: The token is wrong.",
        UNREACHABLE,
        "The documents cannot be used (ValueError).",
        "The index is away.",
    ]


async def test_a_hint_is_told_though_nothing_is_missing() -> None:
    """A bot without documents is ready, and says what it lacks."""

    async def look() -> str:
        return "There are no documents yet."

    health = Health()
    health.begin(Counted(), heard=[], entered=[])
    health.needs(look, kept=0.0)
    async with visited(health) as get:
        assert await get("/ready") == (200, ["ok", "There are no documents yet."])


def _failing(error: Exception) -> Callable[[], Awaitable[None]]:
    async def look() -> None:
        raise error

    return look


async def test_a_part_that_does_not_answer_is_not_waited_for() -> None:
    """It counts as missing."""

    async def never() -> Backlog:
        return await asyncio.Future[Backlog]()

    assert await CachedCheck("index", never, timeout=0.01)() == (None, NO_ANSWER.format("index", 0.01))


async def test_probes_cost_nothing() -> None:
    """Many at once, and those that come soon after, have the store asked once."""
    inbox = Counted()
    recent = CachedCheck("data store", inbox.backlog, kept=60.0)

    found = await asyncio.gather(*(recent() for _ in range(20)), recent())

    assert (inbox.asked, set(found)) == (1, {(Backlog(waiting=3), None)})


async def test_a_probe_that_is_broken_off_stands_in_nobodys_way() -> None:
    """The next one looks by itself."""
    free, looks = asyncio.Event(), list[int]()

    async def look() -> int:
        looks.append(1)
        await free.wait()
        return len(looks)

    recent = CachedCheck("data store", look)
    broken_off = asyncio.create_task(recent())
    await asyncio.sleep(0)
    broken_off.cancel()
    free.set()

    assert await recent() == (2, None)


async def test_what_is_old_is_looked_at_again() -> None:
    """So that a store that comes back is noticed."""
    inbox = Counted(StoreUnavailable(UNREACHABLE))
    recent = CachedCheck("data store", inbox.backlog, kept=0.0)
    away = await recent()
    inbox.failure = None

    assert (away, await recent()) == ((None, UNREACHABLE), (Backlog(waiting=3), None))


@pytest.mark.promise("tells-how-it-is")
async def test_a_store_that_dies_is_noticed_and_so_is_its_return(tmp_path: Path) -> None:
    """With a real server."""
    health = Health()
    with alone(tmp_path / "redis") as node:
        values: dict[str, Any] = {"FOOTNOTE_DATA_DIR": str(tmp_path), "REDIS_URL": f"redis://{node.host}"}
        async with open_stores(Settings(**values)) as stores, stores.inbox() as inbox, visited(health) as get:
            node.kill()
            health.begin(inbox, heard=(), entered=())
            gone = await get("/ready")
            node.start()
            async with asyncio.timeout(10):
                while (back := await get("/ready"))[0] != 200:  # noqa: ASYNC110 - a page tells nobody of its changes
                    await asyncio.sleep(0.02)

    assert (gone, back) == ((503, [UNREACHABLE]), (200, ["ok"]))


async def test_figures_are_given_where_they_are_counted() -> None:
    """In the form that the reader asks for, with what is known of the inbox; without counters there are none."""
    counting, plain = Health(Metrics()), Health()
    counting.begin(Counted(), heard=(), entered=())
    async with visited(counting) as get:
        text = await get("/metrics")
        open_metrics = await get("/metrics", Accept="application/openmetrics-text")
    async with visited(plain) as get:
        missing = await get("/metrics")

    assert (text[0], "footnote_questions_waiting 3.0" in text[1]) == (200, True)
    assert (open_metrics[0], open_metrics[1][-1]) == (200, "# EOF")
    assert missing[0] == 404


@pytest.mark.promise("says-what-to-do")
async def test_a_port_that_is_taken_is_told() -> None:
    """In words."""
    health = Health()
    async with visited(health) as get:
        with pytest.raises(Misconfigured, match=r"Set FOOTNOTE_HEALTH_HOST .* and FOOTNOTE_HEALTH_PORT"):
            async with Health().served(HOST, get.port):
                pass
