"""Discord: a client that listens, and one that speaks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.retry import CONNECTING, RetryPolicy
from bot.settings import Settings, revealed
from bot.wiring.platforms import Outlined, PlatformServices, Speaker
from bot.wiring.services import Check
from bot.wiring.stores import Stores
from core.events import Connected, ConnectionLost, Observer, PlatformWaited
from core.ports import Deliveries, PolicyStore

if TYPE_CHECKING:
    from discord import AutoShardedClient

    from adapters.chat.services import ChatServices
    from adapters.redis.inbox import RedisInbox

PLATFORM = "discord"
NAME = "Discord"


class DiscordPlatform:
    """What the settings say of Discord; the token is there."""

    key = PLATFORM
    name = NAME

    def __init__(
        self, settings: Settings, observer: Observer, outline: Outlined, policies: PolicyStore | None = None
    ) -> None:
        from adapters.discord.limits import Throttle

        self._outline = outline
        self._policies = policies
        self._settings = settings
        self._observer = observer
        self._throttle = Throttle()
        self._token = revealed(settings.discord_token) or ""
        self._announcing: asyncio.Task[None] | None = None

    async def listen(self, stores: Stores, inbox: RedisInbox) -> None:
        """Put what people ask into the inbox, until this is cancelled; comes back by itself after failures."""
        from adapters.discord.connection import stay_connected

        try:
            await stay_connected(partial(self._listener, stores, inbox), self._token, self._retries())
        finally:
            self._end_announcing()

    @contextlib.asynccontextmanager
    async def speaker(self, inbox: Deliveries) -> AsyncGenerator[Speaker]:
        """Yield what answers there; it has to log in first."""
        from discord import AutoShardedClient

        from adapters.chat.surface import PlatformSurface
        from adapters.discord.platform import DiscordChat

        async with self._client(AutoShardedClient) as client:
            chat = DiscordChat(
                client,
                reads_all=self._settings.discord_message_content,
                policies=self._policies,
                observer=self._observer,
            )
            surface = PlatformSurface(chat, deliveries=inbox, observer=self._observer)
            yield Speaker(surface, partial(self._log_in, client))

    async def _log_in(self, client: AutoShardedClient) -> None:
        from adapters.discord.connection import log_in

        await log_in(client, self._token, self._retries())

    def _retries(self) -> RetryPolicy:
        return CONNECTING.observed(self._observer, partial(ConnectionLost, NAME))

    def check(self) -> Check:
        """Return what the doctor looks at."""
        return Check("discord", self._look, "DISCORD_TOKEN")

    async def _look(self) -> str:
        from discord import AutoShardedClient

        from adapters.discord.connection import check

        return await check(self._client(AutoShardedClient), self._token)

    def _listener(self, stores: Stores, inbox: RedisInbox) -> AutoShardedClient:
        from adapters.discord.gateway import Listener

        services = PlatformServices(self._settings, stores, inbox, self._observer).bundle(
            NAME, self._outline, reads_all=self._settings.discord_message_content
        )
        return self._client(Listener, services=services, setup=partial(self._set_up, services))

    async def _set_up(self, services: ChatServices, client: AutoShardedClient) -> None:
        """Bring the commands, and tell when the client is there."""
        from adapters.discord.commands import install

        async def on_shard_disconnect(shard_id: int) -> None:
            if client.is_ready() and not client.is_closed():  # before, the supervisor tells; after, it is meant
                self._observer(ConnectionLost(NAME, 1, f"shard {shard_id} was disconnected"))

        client.event(on_shard_disconnect)
        await install(client, services)
        self._end_announcing()
        self._announcing = asyncio.create_task(self._announce(services, client))

    def _end_announcing(self) -> None:
        """End what is done for a client that is no more."""
        if self._announcing:
            self._announcing.cancel()

    async def _announce(self, services: ChatServices, client: AutoShardedClient) -> None:
        from adapters.chat.accepting import take_over
        from adapters.discord.commands import find

        await client.wait_until_ready()
        self._observer(Connected(NAME, str(client.user)))
        await take_over(services, PLATFORM, partial(find, client))

    def _client(self, kind: Any, **options: Any) -> Any:
        from adapters.discord.connection import connect

        settings = self._settings
        return connect(
            kind,
            message_content=settings.discord_message_content,
            api_url=settings.discord_api_url,
            gateway_url=settings.discord_gateway_url,
            throttle=self._throttle,
            waited=lambda seconds: self._observer(PlatformWaited(PLATFORM, seconds)),
            **options,
        )
