"""The way to Discord: clients with safe defaults, at the addresses that the settings name, kept connected."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import Misconfigured

if TYPE_CHECKING:
    from discord import AutoShardedClient, Intents

ClientT = TypeVar("ClientT", bound="AutoShardedClient")

API = "https://discord.com/api/v10"
GATEWAY = "wss://gateway.discord.gg/"
LONGEST_WAIT = 30.0  # seconds: a rate limit that lasts longer is an error, not a silence
MESSAGE_CONTENT_DENIED = (
    "Discord does not let the bot read the content of messages. Switch on the Message Content Intent on the Bot page "
    "of the application, or set Footnote to do without it."
)
TOKEN_REFUSED = "Discord does not accept the bot's token. Copy it again from the Bot page of the application."  # noqa: S105 - a sentence


def intents(*, message_content: bool) -> Intents:
    """Give what the bot asks to hear of: messages in servers and direct ones, and their text only if it is said so."""
    from discord import Intents

    return Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=message_content)


def connect(
    kind: Callable[..., ClientT],
    *,
    message_content: bool,
    api_url: str | None = None,
    gateway_url: str | None = None,
    **options: Any,
) -> ClientT:
    """Make a client of this *kind*, a subclass of `AutoShardedClient`; it connects when it is started.

    Nothing that it posts or edits notifies anybody unless the call says whom, and as many shards are started as Discord
    recommends. The library keeps its two addresses for the whole process, so all clients of a process have the same.
    """
    import yarl
    from discord import AllowedMentions
    from discord.gateway import DiscordWebSocket
    from discord.http import Route

    Route.BASE = (api_url or API).rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway_url or GATEWAY)
    safe: dict[str, Any] = {
        "intents": intents(message_content=message_content),
        "allowed_mentions": AllowedMentions.none(),
        "max_ratelimit_timeout": LONGEST_WAIT,
    }
    return kind(**{**safe, **options})


def delays() -> Iterator[float]:
    """Give the seconds to wait before each new try: up to a minute, then a minute each time."""
    return chain((1.0, 2.0, 5.0, 10.0, 30.0), repeat(60.0))


async def stay_connected(
    make: Callable[[], AutoShardedClient],
    token: str,
    *,
    waits: Callable[[], Iterator[float]] = delays,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Run a client until somebody closes it.

    The library comes back by itself once it was connected, but gives up when it cannot log in or when the gateway
    closes the connection for good; then a new client is made and tried. Raises `Misconfigured` where only the operator
    can help: the token is refused, or the content of messages is.
    """
    waiting = waits()
    while True:
        client = make()
        try:
            await client.start(token)
        except Exception as error:
            cause = _told(error)
            if isinstance(cause, Misconfigured):
                raise cause from error
            if not _may_pass(error):
                raise
        else:
            return
        finally:
            if client.is_ready():
                waiting = waits()  # it was connected, so the next wait is a short one again
            await client.close()
        await sleep(next(waiting))


def _told(error: Exception) -> Misconfigured | None:
    """Give what the operator is told, where trying again does not help."""
    from discord import LoginFailure, PrivilegedIntentsRequired

    match error:
        case LoginFailure():
            return Misconfigured(TOKEN_REFUSED)
        case PrivilegedIntentsRequired():
            return Misconfigured(MESSAGE_CONTENT_DENIED)
        case _:
            return None


def _may_pass(error: Exception) -> bool:
    """Whether this is the network or Discord itself, and not a mistake of ours."""
    from aiohttp import ClientError
    from discord import ConnectionClosed, GatewayNotFound, HTTPException, RateLimited

    return isinstance(
        error, ClientError | OSError | TimeoutError | HTTPException | GatewayNotFound | ConnectionClosed | RateLimited
    )
