"""Whoever runs the bot hears of places that are closed to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from bot.settings import Settings
from bot.wiring.discord import DiscordPlatform
from core.events import Event, Passed, PlaceRefused
from tests.fakes.index import MemoryIndex
from tests.fakes.removals import MemoryRemovals
from tests.on_discord import OnDiscord, on_discord
from tests.platforms import ANSWER, progress


@pytest.fixture(name="discord")
async def _discord() -> AsyncIterator[OnDiscord]:
    async with on_discord(OnDiscord) as discord:
        yield discord


@pytest.mark.promise("refusals-end")
async def test_a_place_that_is_closed_to_the_bot_is_told_to_whoever_runs_it(discord: OnDiscord) -> None:
    """By the event of a bot that is put together from settings; it holds no words."""
    values: dict[str, Any] = {"discord_token": discord.server.token, "discord_api_url": discord.server.api_url}
    stores: Any = SimpleNamespace(removals=MemoryRemovals())
    inbox: Any = discord.notes
    events = list[Event]()
    claim = await discord.asks()
    discord.forbids(claim)

    async with DiscordPlatform(Settings(**values), events.append, MemoryIndex()).client(stores, inbox) as client:
        await client.log_in()
        await client.surface.reply(claim, progress(ANSWER))

    assert [event for event in events if not isinstance(event, Passed)] == [PlaceRefused(claim.message)]
