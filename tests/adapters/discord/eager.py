"""The real client, as tests use it: it connects without the waits of the real platform, and keeps what it hears."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import discord

from adapters.discord.connection import connect
from tests.servers.discord import DiscordServer


class EagerClient(discord.AutoShardedClient):
    """Keeps what it hears; each of the queues is read by the test that waits for it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(guild_ready_timeout=0.05, **options)
        self.messages: asyncio.Queue[discord.Message] = asyncio.Queue()
        self.edits: asyncio.Queue[discord.RawMessageUpdateEvent] = asyncio.Queue()
        self.interactions: asyncio.Queue[discord.Interaction[Any]] = asyncio.Queue()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Identify at once: the five seconds between two are the real platform's."""

    async def on_message(self, message: discord.Message) -> None:
        """Keep what others wrote."""
        if message.author.id != self.application_id:
            self.messages.put_nowait(message)

    async def on_raw_message_edit(self, edit: discord.RawMessageUpdateEvent) -> None:
        """Keep every update."""
        self.edits.put_nowait(edit)

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """Keep what somebody used."""
        self.interactions.put_nowait(interaction)

    def text_channel(self, channel_id: int) -> discord.TextChannel | discord.Thread:
        """Give a channel or thread that the client knows."""
        channel = self.get_channel(channel_id)
        assert isinstance(channel, discord.TextChannel | discord.Thread)
        return channel


def client_of(server: DiscordServer, *, message_content: bool = True, **options: Any) -> EagerClient:
    """Make a client that will connect to the server."""
    return connect(
        EagerClient,
        message_content=message_content,
        api_url=server.api_url,
        gateway_url=server.gateway_url,
        **options,
    )


@contextlib.asynccontextmanager
async def online(
    server: DiscordServer, *, message_content: bool = True, shards: int = 1, patience: float = 5.0
) -> AsyncGenerator[EagerClient]:
    """Run a client that is logged in and knows its guilds."""
    server.recommended_shards = shards
    client = client_of(server, message_content=message_content)
    running = asyncio.create_task(client.start(server.token))
    try:
        await server.connected(shards, seconds=patience)
        await client.wait_until_ready()
        yield client
    finally:
        await client.close()
        await running
