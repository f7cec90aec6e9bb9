"""A client with commands, buttons and forms, over stores in memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import Any

from adapters.chat.background import BackgroundTasks
from adapters.chat.services import ChatServices
from adapters.discord.commands import install
from adapters.discord.connection import connect
from adapters.discord.moderators import DiscordModerators
from adapters.discord.registering import LOOKED_EVERY, is_current
from core.model import Communities, ThreadRef, WorkspaceRef
from tests.adapters.discord.eager import EagerClient
from tests.fakes.services import SOURCE, TERMS, MemoryServices
from tests.servers.discord import DiscordServer, Interaction, Message
from tests.waiting import wait_until

__all__ = ["SOURCE", "TERMS", "Office", "OfficeClient", "home", "thread_ref"]

READ = "GET /applications/{application}/commands"


class OfficeClient(EagerClient):
    """Learns the commands before it connects."""

    def __init__(self, *, services: ChatServices, moderators: DiscordModerators | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._services = services
        self._moderators = moderators
        self.commands, self.background = BackgroundTasks(ignore=()), BackgroundTasks()

    async def setup_hook(self) -> None:
        """Install everything."""
        install(self, self._services, self.commands, self.background, self._moderators)

    async def close(self) -> None:
        """End what goes on beside."""
        await self.background.close()
        await super().close()


@dataclass
class Office(MemoryServices):
    """What stands behind the commands, and the clients that have them."""

    server: DiscordServer
    looks: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def _rest(self, seconds: float) -> None:
        """Look at the commands again when the test says so."""
        await (self.looks.acquire() if seconds == LOOKED_EVERY else self.sleep(seconds))

    @contextlib.asynccontextmanager
    async def open(
        self, *, waits: bool = True, moderators: DiscordModerators | None = None
    ) -> AsyncGenerator[OfficeClient]:
        """Run a client that is connected and knows its guilds, and where it *waits*, has looked at its commands.

        All of them may use the bot, unless the test says who may.
        """
        if await self.communities.load() == Communities():
            for guild_id in self.server.platform.guilds:
                await self.communities.allow(home(guild_id))
        before = len(self.server.requests_to(READ)), len(self.events)
        client = connect(
            OfficeClient,
            message_content=False,
            api_url=self.server.api_url,
            gateway_url=self.server.gateway_url,
            services=replace(self.services, reads_all=False, sleep=self._rest),
            moderators=moderators,
        )
        running = asyncio.create_task(client.start(self.server.token))
        try:
            await self.server.connected()
            await client.wait_until_ready()
            await wait_until(lambda: not waits or self._is_looked_at(before), what="a look at the commands")
            yield client
        finally:
            await client.close()
            await running

    def _is_looked_at(self, before: tuple[int, int]) -> bool:
        """Whether Discord has the commands by now, or somebody was told why not."""
        has = len(self.server.requests_to(READ)) > before[0] and is_current(self.server.platform.commands.get(None))
        return has or len(self.events) > before[1]

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
