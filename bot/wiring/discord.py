"""Discord: a client that listens, and one that speaks."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from discord import AutoShardedClient

from adapters.chat.background import take_over
from adapters.chat.delivery import PlatformSurface
from adapters.chat.removing import Remover
from adapters.discord.commands import below, find, install
from adapters.discord.connection import check, connect, described, log_in, shortcomings, stay_connected, title
from adapters.discord.gateway import GATEWAY, Listener
from adapters.discord.limits import Throttle
from adapters.discord.people import DiscordMembers
from adapters.discord.platform import DiscordChat
from adapters.discord.registering import differences
from bot.settings import Settings, revealed
from bot.wiring.platforms import Platform, PlatformClient
from bot.wiring.services import Advice, Check
from bot.wiring.stores import Stores
from core.events import Observer, PlatformWaited, Shortcoming
from core.ports import Catalogue, PolicyStore

if TYPE_CHECKING:
    from adapters.redis.inbox import RedisInbox


REGISTERS = "`footnote run` registers them when it starts, and every hour."


class DiscordPlatform(Platform):
    """What the settings say of Discord; the token is there."""

    key = "discord"
    name = "Discord"

    def __init__(
        self, settings: Settings, observer: Observer, catalogue: Catalogue, policies: PolicyStore | None = None
    ) -> None:
        super().__init__(settings, observer, catalogue, reads_all=settings.discord_message_content)
        self._policies = policies
        self._throttle = Throttle(gate=self._gate())
        self.membership = self._members = DiscordMembers()
        self._token = revealed(settings.discord_token) or ""

    async def listen(self, stores: Stores, inbox: RedisInbox) -> None:
        """Put what people ask into the inbox, until this is cancelled; comes back by itself after failures."""
        services = self._services(stores, inbox)
        self._presence.expect(GATEWAY)

        async def announce(client: Listener) -> None:
            await client.wait_until_ready()
            self._presence.back(GATEWAY, title(client))
            for advice in shortcomings(client):
                self._observer(Shortcoming(self.name, advice))
            await take_over(services, self.key, partial(find, client), partial(below, client), lost=client.catch_up)

        async def set_up(client: Listener) -> None:
            install(client, services, client.commands, client.background)
            self._members.listening = client
            client.background.begin(partial(announce, client))

        given: dict[str, Any] = {"services": services, "setup": set_up, "presence": self._presence}
        listener = partial(self._client, Listener, **given)
        await stay_connected(listener, self._token, self._retries(GATEWAY), self._throttle.gate)

    @contextlib.asynccontextmanager
    async def client(self, stores: Stores, inbox: RedisInbox) -> AsyncGenerator[PlatformClient]:
        """Yield what answers there; it has to log in first."""
        async with self._client(AutoShardedClient) as client:
            chat = DiscordChat(client, reads_all=self._reads_all, policies=self._policies, observer=self._observer)
            gate = self._throttle.gate
            remover = Remover(chat, self.key, stores.removals)
            surface = PlatformSurface(chat, deliveries=inbox, observer=self._observer, gate=gate, remover=remover)

            async def enter() -> None:
                await self._entered(partial(log_in, client, self._token, gate=self._throttle.gate))
                self._members.answering = client

            yield PlatformClient(surface, enter, remover.run)

    def checks(self) -> Iterator[Check]:
        """Yield what the doctor looks at."""

        async def commands() -> str:
            said = await check(self._client(AutoShardedClient), self._token, differences)
            return Advice(f"{said} {REGISTERS}") if said else "all commands are registered"

        who = partial(check, token=self._token, look=described)
        yield Check("discord", lambda: who(self._client(AutoShardedClient)), "DISCORD_TOKEN")
        yield Check("discord commands", commands, "DISCORD_TOKEN", needs=("discord",))

    def _client(self, kind: Any, **options: Any) -> Any:
        settings = self._settings
        return connect(
            kind,
            message_content=self._reads_all,
            api_url=settings.discord_api_url,
            gateway_url=settings.discord_gateway_url,
            throttle=self._throttle,
            waited=lambda seconds: self._observer(PlatformWaited(self.key, seconds)),
            **options,
        )
