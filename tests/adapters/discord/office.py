"""A client with commands, buttons and forms, over stores in memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

from adapters.chat.background import BackgroundTasks
from adapters.chat.services import ChatServices
from adapters.discord.commands import install
from adapters.discord.connection import connect
from core.model import ThreadRef, WorkspaceRef
from tests.adapters.discord.eager import EagerClient
from tests.fakes.services import SOURCE, TERMS, MemoryServices
from tests.servers.discord import DiscordServer, Interaction, Message

__all__ = ["SOURCE", "TERMS", "Office", "OfficeClient", "home", "thread_ref"]


class OfficeClient(EagerClient):
    """Learns the commands before it connects."""

    def __init__(self, *, services: ChatServices, **options: Any) -> None:
        super().__init__(**options)
        self._services = services
        self.commands = BackgroundTasks(ignore=())

    async def setup_hook(self) -> None:
        """Install everything."""
        await install(self, self._services, self.commands)


@dataclass
class Office(MemoryServices):
    """What stands behind the commands, and the clients that have them."""

    server: DiscordServer

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[OfficeClient]:
        """Run a client that is connected and knows its guilds."""
        client = connect(
            OfficeClient,
            message_content=False,
            api_url=self.server.api_url,
            gateway_url=self.server.gateway_url,
            services=replace(self.services, reads_all=False),
        )
        running = asyncio.create_task(client.start(self.server.token))
        try:
            await self.server.connected()
            await client.wait_until_ready()
            yield client
        finally:
            await client.close()
            await running

    async def told(self, interaction: Interaction) -> Message:
        """Wait for what the bot says to the one who used something, and give it."""
        await self.server.until(lambda: self._words(interaction), what="a reply")
        return self._words(interaction)[-1]

    def _words(self, interaction: Interaction) -> list[Message]:
        ids = [interaction.original_id, *interaction.follow_ups]
        found = [self.server.platform.messages[one] for one in ids if one is not None]
        return [one for one in found if one.interaction_id == interaction.id and one.content]


def thread_ref(workspace: object, channel: object, thread: object) -> ThreadRef:
    """Name a thread of the server."""
    return ThreadRef(platform="discord", workspace=str(workspace), channel=str(channel), thread=str(thread))


def home(workspace: object) -> WorkspaceRef:
    """Name a guild of the server."""
    return WorkspaceRef(platform="discord", workspace=str(workspace))
