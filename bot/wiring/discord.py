"""Discord: a client that listens, and one that speaks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot.settings import Settings, revealed
from bot.wiring.check import Check
from bot.wiring.stores import Stores
from core.crowd import Crowd
from core.errors import StoreUnavailable
from core.events import CommandsFailed, Connected, ConnectionLost, Observer, PlaceRefused
from core.forgetting import Forgetting
from core.model import ThreadRef
from core.moderation import Moderation
from core.ports import ChatSurface, Deliveries
from core.self_help import SelfHelp
from core.sentences import Practices

if TYPE_CHECKING:
    from discord import AutoShardedClient

    from adapters.chat.desk import Desk
    from adapters.discord.client.connection import Patience
    from adapters.redis.inbox import RedisInbox

PLATFORM = "discord"
NAME = "Discord"
USUAL_ANSWER = 6.0  # seconds; a guess for the sentence that says how long it takes


@dataclass(frozen=True, slots=True)
class Speaker:
    """What answers, once it has logged in."""

    surface: ChatSurface
    log_in: Callable[[], Coroutine[Any, Any, None]]


class Discord:
    """What the settings say of Discord; the token is there."""

    def __init__(self, settings: Settings, observer: Observer) -> None:
        from adapters.discord.client.throttle import Throttle

        self._settings = settings
        self._observer = observer
        self._throttle = Throttle()
        self._token = revealed(settings.discord_token) or ""
        self._announcing: asyncio.Task[None] | None = None

    async def listen(self, stores: Stores, inbox: RedisInbox) -> None:
        """Put what people ask into the inbox, until this is cancelled; comes back by itself after failures."""
        from adapters.discord.client.connection import stay_connected

        await stay_connected(partial(self._listener, stores, inbox), self._token, self._patience())

    @contextlib.asynccontextmanager
    async def speaker(self, deliveries: Deliveries) -> AsyncGenerator[Speaker]:
        """Give what answers there; it has to log in first."""
        from discord import AutoShardedClient

        from adapters.discord.answering.surface import DiscordSurface

        async with self._client(AutoShardedClient) as client:
            surface = DiscordSurface(
                client,
                reads_all=self._settings.discord_message_content,
                deliveries=deliveries,
                refused=lambda claim: self._observer(PlaceRefused(claim.message)),
            )
            yield Speaker(surface, partial(self._log_in, client))

    async def _log_in(self, client: AutoShardedClient) -> None:
        from adapters.discord.client.connection import log_in

        await log_in(client, self._token, self._patience())

    def _patience(self) -> Patience:
        from adapters.discord.client.connection import Patience

        return Patience(retrying=lambda attempt, reason: self._observer(ConnectionLost(NAME, attempt, reason)))

    def check(self) -> Check:
        """Give what the doctor looks at."""
        return Check("discord", self._look, "DISCORD_TOKEN")

    async def _look(self) -> str:
        from discord import AutoShardedClient

        from adapters.discord.client.health import check

        return await check(self._client(AutoShardedClient), self._token)

    def _listener(self, stores: Stores, inbox: RedisInbox) -> AutoShardedClient:
        from adapters.chat.desk import Desk
        from adapters.discord.inbound.listener import Listener
        from adapters.discord.inbound.ports import Ports

        now = partial(datetime.now, UTC)
        forgetting = Forgetting(stores.conversations, stores.votes, inbox, stores.policies)
        moderation = Moderation(stores.policies, stores.audit, stores.conversations, forgetting, now=now)
        desk = Desk(
            inbox=inbox,
            self_help=SelfHelp(stores.conversations, forgetting, moderation),
            moderation=moderation,
            votes=stores.votes,
            memo=stores.memo,
            now=now,
            terms=self._settings.terms,
            practices=Practices(self._settings.conversation_hours, services=tuple(_readers(self._settings))),
            unregistered=lambda reason: self._observer(CommandsFailed(NAME, reason)),
        )
        ports = Ports(
            inbox=inbox,
            terms=self._settings.terms,
            memo=stores.memo,
            policies=stores.policies,
            askers=partial(_askers, stores),
            purge=forgetting.farewell,
            setup=partial(self._set_up, desk),
            crowd=Crowd(USUAL_ANSWER / self._settings.answers_at_once, bound=2 * self._settings.answers_at_once),
            now=now,
        )
        return self._client(Listener, ports=ports)

    async def _set_up(self, desk: Desk, client: AutoShardedClient) -> None:
        """Bring the commands, and tell when the client is there."""
        from adapters.discord.commands.install import install

        async def on_shard_disconnect(shard_id: int) -> None:
            if client.is_ready() and not client.is_closed():  # before, the supervisor tells; after, it is meant
                self._observer(ConnectionLost(NAME, 1, f"shard {shard_id} was disconnected"))

        client.event(on_shard_disconnect)
        await install(client, desk)
        self._announcing = asyncio.create_task(self._announce(client))

    async def _announce(self, client: AutoShardedClient) -> None:
        await client.wait_until_ready()
        self._observer(Connected(NAME, str(client.user)))

    def _client(self, kind: Any, **options: Any) -> Any:
        from adapters.discord.client.connection import connect

        settings = self._settings
        return connect(
            kind,
            message_content=settings.discord_message_content,
            api_url=settings.discord_api_url,
            gateway_url=settings.discord_gateway_url,
            throttle=self._throttle,
            **options,
        )


def _readers(settings: Settings) -> Iterator[str]:
    """Name the services that are given what people ask."""
    if settings.has_chat_model:
        where = urlsplit(settings.openai_url).hostname if settings.openai_url else "OpenAI"
        yield f"the chat model {settings.openai_model} ({where})"
    if settings.cohere_key is not None:
        yield "Cohere"


async def _askers(stores: Stores, thread: ThreadRef) -> Collection[str] | None:
    """Say who has asked in a thread; None where nobody can know."""
    try:
        conversation = await stores.conversations.load(thread)
    except StoreUnavailable:
        return None
    return {turn.author_id for turn in conversation.turns} if conversation else None
