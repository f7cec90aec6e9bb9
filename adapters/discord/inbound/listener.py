"""Hears what people write on Discord, and puts what is for the bot into the inbox; nothing is answered here."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from functools import partial
from typing import Any

from discord import AutoShardedClient, Guild, MemberCacheFlags
from discord.abc import GuildChannel

from adapters.chat.chores import Chores
from adapters.chat.order import Order
from adapters.discord.inbound.catch_up import CatchUp
from adapters.discord.inbound.event import PLATFORM, Json, unbundled
from adapters.discord.inbound.hearing import Hearing
from adapters.discord.inbound.ports import Ports
from adapters.discord.inbound.scene import known_channel
from core.errors import StoreUnavailable
from core.model import WorkspaceRef

HEARD = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK")


class Listener(AutoShardedClient):
    """A client that only receives. Members and messages are not kept in memory: their number has no bound."""

    def __init__(self, *, ports: Ports, **options: Any) -> None:
        super().__init__(
            enable_debug_events=True,  # the events as they were sent, which the library's own objects are not
            max_messages=None,
            member_cache_flags=MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            **options,
        )
        self._ports = ports
        self._order = Order()
        self._chores = Chores()
        self._hearing = Hearing(self, ports, self._chores)
        self._catch_up = CatchUp(self.http, self._hear_late, ports)

    async def setup_hook(self) -> None:
        """Prepare what is to be heard beside messages."""
        if self._ports.setup is not None:
            await self._ports.setup(self)

    async def close(self) -> None:
        """End what is done beside hearing, and disconnect."""
        await self._chores.close()
        await super().close()

    async def on_socket_raw_receive(self, raw: str) -> None:
        """Take what the gateway sends. The library does not wait for it, and begins in the order of the events."""
        if '"MESSAGE_' not in raw:
            return  # much larger things are sent too, which are not worth reading twice
        event = json.loads(raw)
        if event.get("t") in HEARD:
            await asyncio.gather(*(self._hear(each) for each in unbundled(event)))

    async def on_guild_available(self, guild: Guild) -> None:
        """Catch up: the session is a new one, or the guild was away. After a session that went on, this is not told."""
        self._chores.begin(partial(self._catch_up.run, guild))

    async def on_guild_remove(self, guild: Guild) -> None:
        """Forget a guild that the bot was thrown out of; what cannot be removed now goes when it expires."""
        if self._ports.purge is not None:
            with suppress(StoreUnavailable):
                await self._ports.purge(WorkspaceRef(platform=PLATFORM, workspace=str(guild.id)))

    async def _hear(self, event: Json, *, quietly: bool = False) -> None:
        async with self._order.turn(self._line(event["d"])):
            await self._hearing.hear(event, quietly=quietly)

    async def _hear_late(self, event: Json) -> None:
        await self._hear(event, quietly=True)

    def _line(self, data: Json) -> str:
        """Name what has to be heard in order: a thread, or in a channel one message, which would open its own."""
        is_channel = isinstance(known_channel(self, data), GuildChannel)
        return str(data["id"] if is_channel else data["channel_id"])
