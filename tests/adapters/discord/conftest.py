"""A server with a guild, a channel and somebody in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from tests.adapters.discord.office import Office
from tests.servers.discord import Channel, DiscordServer, Guild, User


@dataclass(frozen=True, slots=True)
class Place:
    """Where a test happens."""

    guild: Guild
    channel: Channel
    ada: User


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    """A server that does as it is told."""
    async with DiscordServer() as server:
        yield server


@pytest.fixture
def place(server: DiscordServer) -> Place:
    """A guild that the bot is in, with a channel and a member."""
    guild = server.add_guild()
    return Place(guild, server.add_channel(guild), server.add_member(guild))


@pytest.fixture
def office(server: DiscordServer) -> Office:
    """What stands behind the commands, and the clients that have them."""
    return Office(server)
