"""Discord refuses an address or a token altogether: nothing is sent until it may be, and no question is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest
from aiohttp import ClientSession
from discord import AutoShardedClient

from adapters.chat.delivery import PlatformSurface
from adapters.chat.lease import traced
from adapters.chat.live_message import Pace
from adapters.discord.connection import connect, log_in
from adapters.discord.limits import Throttle, admit, judge
from adapters.discord.platform import DiscordChat
from adapters.retry import CONNECTING, RetryPolicy
from core.errors import RateLimited, ShutOut
from core.events import Event, PlaceRefused
from core.model import Progress
from tests.fakes.clock import Clock
from tests.fakes.surface import drafted
from tests.on_discord import OnDiscord, on_discord
from tests.platforms import ANSWER, progress
from tests.servers.discord import Reply

LONG = 600.0  # seconds
BANNED = Reply(429, "error code: 1015", {"Retry-After": str(int(LONG)), "Content-Type": "text/plain"})


@dataclass
class Speaker:
    """What answers on Discord, by a clock that stands."""

    discord: OnDiscord
    clock: Clock = field(default_factory=Clock)
    throttle: Throttle = field(default_factory=Throttle)
    events: list[Event] = field(default_factory=list[Event])
    retries: RetryPolicy = CONNECTING

    def __post_init__(self) -> None:
        """Look at the clock."""
        self.throttle.gate.clock = self.clock

    @asynccontextmanager
    async def surface(self) -> AsyncGenerator[PlatformSurface]:
        """Log a client in."""
        server = self.discord.server
        addresses: dict[str, Any] = {"api_url": server.api_url, "gateway_url": server.gateway_url}
        client = connect(AutoShardedClient, message_content=False, throttle=self.throttle, **addresses)
        await log_in(client, server.token, self.retries)
        try:
            shared: dict[str, Any] = {"deliveries": self.discord.notes, "observer": self.events.append}
            yield PlatformSurface(DiscordChat(client), pace=Pace(endurance=0.0), gate=self.throttle.gate, **shared)
        finally:
            await client.close()


@pytest.fixture(name="speaker")
async def _speaker() -> AsyncIterator[Speaker]:
    async with on_discord(OnDiscord) as discord:
        yield Speaker(discord)


@pytest.mark.promise("bans-are-waited-out")
async def test_who_logs_in_meanwhile_waits_for_what_is_left_of_the_time(speaker: Speaker) -> None:
    """And no longer, although nobody is asked again."""
    waits = list[float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        speaker.clock.advance(LONG / 3 if seconds == LONG else seconds)  # something else may have it tried sooner

    speaker.retries = replace(CONNECTING, sleep=sleep)
    speaker.discord.server.faults.add("GET /users/@me", BANNED)
    async with speaker.surface():
        assert waits == [LONG, 2 * LONG / 3]


@pytest.mark.promise("bans-are-waited-out")
async def test_a_banned_address_is_left_alone_for_as_long_as_it_was_said(speaker: Speaker) -> None:
    """By whatever speaks for the bot: only the first request is refused, and no model is asked in vain."""
    discord, asked = speaker.discord, list[str]()

    async def asking() -> AsyncGenerator[Progress]:
        asked.append("a model")
        async for item in progress(ANSWER):
            yield item

    async with speaker.surface() as one, speaker.surface() as other:
        discord.server.faults.break_("*", BANNED)
        claim, before = await discord.asks(), len(discord.server.requests)
        with pytest.raises(RateLimited) as first:
            await one.reply(claim, progress(ANSWER))
        with pytest.raises(ShutOut) as second:
            await other.reply(claim, asking())
        assert (first.value.wait, second.value.wait, asked) == (LONG, LONG, [])
        assert len(discord.server.requests) - before == 1

        discord.server.faults.mend()
        speaker.clock.advance(LONG)
        await other.reply(claim, progress(ANSWER))
        assert len(discord.stands(claim)) == 1


@pytest.mark.promise("bans-are-waited-out")
@pytest.mark.timeout(10)
async def test_nothing_more_is_written_that_nobody_can_be_shown_for_long(speaker: Speaker) -> None:
    """The model is stopped at the first request that is refused, not when it has written everything."""
    discord, is_stopped = speaker.discord, False

    async def writing() -> AsyncGenerator[Progress]:
        nonlocal is_stopped
        try:
            discord.server.faults.break_("*", BANNED)
            yield drafted("Robots are machines. They ")
            await asyncio.Event().wait()
        finally:
            is_stopped = True

    async with speaker.surface() as surface:
        claim = await discord.asks()
        with pytest.raises(ShutOut) as caught:
            await surface.reply(claim, writing())
    assert (caught.value.wait, is_stopped) == (LONG, True)


@pytest.mark.promise("bans-are-waited-out")
async def test_a_token_that_is_refused_is_tried_again_until_it_is_good(speaker: Speaker) -> None:
    """More and more rarely, whatever is sent without it, and nobody is told that the place is closed."""
    discord, gate, waits = speaker.discord, speaker.throttle.gate, list[float]()
    good, trace = discord.server.token, traced(before=partial(admit, gate), after=partial(judge, gate))
    async with speaker.surface() as surface, ClientSession(trace_configs=[trace]) as without_token:
        discord.server.token = "another one"
        claim = await discord.asks()
        for _ in range(4):
            with pytest.raises(ShutOut):
                await surface.reply(claim, progress(ANSWER))
            with pytest.raises(ShutOut) as caught:
                gate.check()
            waits.append(caught.value.wait)
            await without_token.get(discord.server.api_url)
            speaker.clock.advance(caught.value.wait)
        assert (waits, [each for each in speaker.events if isinstance(each, PlaceRefused)]) == (
            [1.0, 2.0, 4.0, 8.0],
            [],
        )
        assert [each.status for each in discord.server.requests].count(401) == 4

        discord.server.token = good
        await surface.reply(claim, progress(ANSWER))
        assert len(discord.stands(claim)) == 1
        gate.check()
