"""A listener that is connected."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from adapters.chat.services import Presence
from adapters.discord.connection import connect
from adapters.discord.gateway import Listener
from core.ports import Inbox
from tests.fakes.dedup import MemoryDedup
from tests.fakes.services import bundle
from tests.servers.discord import DiscordServer, Message

Setup: TypeAlias = Callable[[Listener], Awaitable[object]]


class EagerListener(Listener):
    """Identifies at once: the five seconds between two shards are the real platform's."""

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait for nothing."""


@contextlib.asynccontextmanager
async def listening(
    server: DiscordServer,
    box: Inbox,
    *,
    message_content: bool = True,
    setup: Setup | None = None,
    presence: Presence | None = None,
    is_awaited: bool = True,
    **services: Any,
) -> AsyncGenerator[Listener]:
    """Run a listener that is connected, and waited for, unless nobody does."""
    client = connect(
        EagerListener,
        message_content=message_content,
        api_url=server.api_url,
        gateway_url=server.gateway_url,
        services=bundle(box, **services),
        setup=setup,
        presence=presence,
        guild_ready_timeout=0.05,
    )
    running = asyncio.create_task(client.start(server.token))
    try:
        if is_awaited:
            await server.connected()
            await client.wait_until_ready()
        yield client
    finally:
        await client.close()
        await running


def answers(server: DiscordServer) -> Sequence[Message]:
    """What the bot has said."""
    return [one for one in server.platform.messages.values() if one.author_id == server.bot.id and one.content]


def words(server: DiscordServer) -> Sequence[str]:
    """What the bot has said, without where."""
    return [one.content for one in answers(server)]


def notes_of(dedup: MemoryDedup) -> Mapping[str, str]:
    """What is noted beside who the bot is."""
    return {key: value for key, value in dedup.notes.items() if key != "discord:bot"}
