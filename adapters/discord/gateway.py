"""Hears what people write on Discord, and has it taken in; nothing is answered here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from discord import AutoShardedClient, Guild, MemberCacheFlags

from adapters.chat.background import BackgroundTasks
from adapters.chat.catch_up import CatchUp
from adapters.chat.intake import Intake
from adapters.chat.services import ChatServices
from adapters.discord.channels import EventReader
from adapters.discord.events import PLATFORM, Json, unbundled
from adapters.discord.history import AT_ONCE, DiscordHistory
from core.errors import StoreUnavailable
from core.model import WorkspaceRef

HEARD = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK")


class Listener(AutoShardedClient):
    """A client that only receives. Members and messages are not kept in memory: their number has no bound."""

    def __init__(
        self,
        *,
        services: ChatServices,
        setup: Callable[[AutoShardedClient], Awaitable[object]] | None = None,
        **options: Any,
    ) -> None:
        """Call *setup* once the client has logged in, before it hears anything."""
        super().__init__(
            enable_debug_events=True,  # the events as they were sent, which the library's own objects are not
            max_messages=None,
            member_cache_flags=MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            **options,
        )
        self._services = services
        self._setup = setup
        self._background = BackgroundTasks()
        self._intake = Intake(services, self._background)
        self._reader = EventReader(self, services.memo)
        self._catch_up = CatchUp(DiscordHistory(self, self._reader, services), self._intake, services, at_once=AT_ONCE)

    async def setup_hook(self) -> None:
        """Prepare what is to be heard beside messages."""
        if self._setup is not None:
            await self._setup(self)

    async def close(self) -> None:
        """End what is done beside hearing, and disconnect."""
        await self._background.close()
        await super().close()

    async def on_socket_raw_receive(self, raw: str) -> None:
        """Take what the gateway sends. The library does not wait for it, and begins in the order of the events."""
        if '"MESSAGE_' not in raw:
            return  # much larger things are sent too, which are not worth reading twice
        event = json.loads(raw)
        if event.get("t") in HEARD:
            await asyncio.gather(*(self._take(each) for each in unbundled(event)))

    async def on_guild_available(self, guild: Guild) -> None:
        """Catch up: the session is a new one, or the guild was away. After a session that went on, this is not told."""
        self._background.begin(partial(self._catch_up.run, str(guild.id)))

    async def on_guild_remove(self, guild: Guild) -> None:
        """Forget a guild that the bot was thrown out of; what cannot be removed now goes when it expires."""
        with suppress(StoreUnavailable):
            await self._services.purge(WorkspaceRef(platform=PLATFORM, workspace=str(guild.id)))

    async def _take(self, event: Json) -> None:
        await self._intake.take(self._reader.line(event), partial(self._reader.read, event))
