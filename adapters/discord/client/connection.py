"""The way to Discord: clients with safe defaults, at the addresses that the settings name, kept connected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.chat.delivery_log import traced
from adapters.discord.limits import Throttle
from adapters.retry import CONNECTING, RetryPolicy, Transient
from core.errors import Misconfigured
from core.events import unobserved

if TYPE_CHECKING:
    from discord import AutoShardedClient, Intents

ClientT = TypeVar("ClientT", bound="AutoShardedClient")

API = "https://discord.com/api/v10"
GATEWAY = "wss://gateway.discord.gg/"
MESSAGE_CONTENT_DENIED = (
    "Discord does not let the bot read the content of messages. Switch on the Message Content Intent on the Bot page "
    "of the application, or set Footnote to do without it."
)
TOKEN_REFUSED = "Discord does not accept the bot's token. Copy it again from the Bot page of the application."  # noqa: S105 - a sentence


def intents(*, message_content: bool) -> Intents:
    """Return what the bot asks to hear of: messages in servers and direct ones, and their text if it is said so."""
    from discord import Intents

    return Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=message_content)


def connect(
    kind: Callable[..., ClientT],
    *,
    message_content: bool,
    api_url: str | None = None,
    gateway_url: str | None = None,
    throttle: Throttle | None = None,
    waited: Callable[[float], object] = unobserved,
    **options: Any,
) -> ClientT:
    """Make a client of this *kind*, a subclass of `AutoShardedClient`; it connects when it is started.

    Nothing that it posts or edits notifies anybody unless the call says whom, and as many shards are started as Discord
    recommends. The library keeps its two addresses for the whole process, so all clients of a process have the same.
    All clients that speak for one bot share the *throttle*; *waited* hears for how many seconds Discord wants peace.
    """
    import yarl
    from discord import AllowedMentions
    from discord.gateway import DiscordWebSocket
    from discord.http import Route

    from adapters.discord.limits import LONGEST_WAIT, throttle_requests

    Route.BASE = (api_url or API).rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway_url or GATEWAY)
    safe: dict[str, Any] = {
        "intents": intents(message_content=message_content),
        "allowed_mentions": AllowedMentions.none(),
        "max_ratelimit_timeout": LONGEST_WAIT,
        "http_trace": traced(waited),
    }
    client = kind(**{**safe, **options})
    throttle_requests(client.http, throttle or Throttle(), waited)
    return client


async def stay_connected(make: Callable[[], AutoShardedClient], token: str, retries: RetryPolicy = CONNECTING) -> None:
    """Run a client until somebody closes it.

    The library comes back by itself once it was connected, but gives up when it cannot log in or when the gateway
    closes the connection for good; then a new client is made and tried. Raises `Misconfigured` where only the operator
    can help: the token is refused, or the content of messages is.
    """
    retrying = replace(retries, judge=_judge).begin()

    async def run() -> None:
        client = make()
        try:
            await client.start(token)
        finally:
            if client.is_ready():
                retrying.reset()  # it was connected, so the next wait is a short one again
            await client.close()

    await retrying.call(run)


async def log_in(client: AutoShardedClient, token: str, retries: RetryPolicy = CONNECTING) -> None:
    """Log a client in that is to speak only, as soon as Discord can be reached. Raises `Misconfigured` as above."""
    await replace(retries, judge=_judge).call(partial(client.login, token))


def _judge(error: Exception) -> Transient | None:
    """Return what may pass; None for mistakes of ours. Raises `Misconfigured` for what the operator has to change."""
    from discord import LoginFailure, PrivilegedIntentsRequired

    if isinstance(error, LoginFailure):
        raise Misconfigured(TOKEN_REFUSED) from error
    if isinstance(error, PrivilegedIntentsRequired):
        raise Misconfigured(MESSAGE_CONTENT_DENIED) from error
    reason = reason_of(error)
    return Transient(reason) if reason else None


def reason_of(error: Exception) -> str | None:
    """Say in a word or two what went wrong with the network or with Discord; None if it was neither."""
    from aiohttp import ClientError
    from discord import ConnectionClosed, GatewayNotFound, HTTPException, RateLimited

    match error:
        case HTTPException():
            return f"HTTP {error.status}"
        case ConnectionClosed():
            return f"gateway closed with {error.code}"
        case RateLimited():
            return "rate limit"
        case TimeoutError():
            return "time-out"
        case GatewayNotFound() | ClientError() | OSError():
            return "no connection"
        case _:
            return None
