"""The way to Discord: clients with safe defaults, at the addresses that the settings name, kept connected or tried."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import discord
import yarl
from aiohttp import ClientError
from discord import (
    AllowedMentions,
    AutoShardedClient,
    ConnectionClosed,
    GatewayNotFound,
    HTTPException,
    Intents,
    LoginFailure,
    PrivilegedIntentsRequired,
)
from discord.gateway import DiscordWebSocket
from discord.http import Route
from discord.utils import oauth_url

from adapters.chat.lease import traced
from adapters.discord.limits import LONGEST_WAIT, Throttle, admit, judge, throttle_requests
from adapters.discord.poster import NAMES, NEEDED, meaning
from adapters.retry import CONNECTING, TOKEN_REFUSED, Gate, Retrying, RetryPolicy, Transient
from core.errors import Misconfigured, RateLimited, ShutOut, Unavailable
from core.events import unobserved

ClientT = TypeVar("ClientT", bound=AutoShardedClient)

API = "https://discord.com/api/v10"
MALFORMED = 400  # what is asked here is always the same but for the token
GATEWAY = "wss://gateway.discord.gg/"
MESSAGE_CONTENT_DENIED = (
    "Discord does not let the bot read the content of messages. Switch on the Message Content Intent on the Bot page "
    "of the application, or set DISCORD_MESSAGE_CONTENT to false."
)
NO_SERVER = "The bot is not in any server yet. To invite it: {}"
LACKING = "In the server {}, the bot lacks these permissions: {}. To grant them, invite it again: {}"
MOST_NAMED = 5  # servers
REFUSAL = "Discord does not accept the bot's token. Copy it again from the Bot page of the application."


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
    throttle = throttle or Throttle()
    Route.BASE = (api_url or API).rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL((gateway_url or GATEWAY).rstrip("/") + "/")
    safe: dict[str, Any] = {
        "intents": Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=message_content),
        "allowed_mentions": AllowedMentions.none(),
        "max_ratelimit_timeout": LONGEST_WAIT,
        "http_trace": traced(waited, before=partial(admit, throttle.gate), after=partial(judge, throttle.gate)),
    }
    client = kind(**{**safe, **options})
    throttle_requests(client.http, throttle, waited)
    return client


async def stay_connected(
    make: Callable[[], AutoShardedClient], token: str, retries: RetryPolicy = CONNECTING, gate: Gate | None = None
) -> None:
    """Run a client until somebody closes it.

    The library comes back by itself once it was connected, but gives up when it cannot log in or when the gateway
    closes the connection for good; then a new client is made and tried. Raises `Misconfigured` where only the operator
    can help: the token is refused, or the content of messages is. What was taken before is tried again all the same: a
    token that is being reset may be taken again.
    """
    was_connected = False

    def judge(error: Exception) -> Transient | None:
        try:
            return _judge(error, gate)
        except Misconfigured:
            if not was_connected:
                raise
            return Transient(TOKEN_REFUSED if _is_refusal(error) else "an intent is refused")

    retrying = Retrying(replace(retries, judge=judge))

    async def run() -> None:
        nonlocal was_connected
        client = make()
        try:
            await client.start(token)
        finally:
            if client.is_ready():
                was_connected = True
                retrying.reset()  # it was connected, so the next wait is a short one again
            await client.close()

    await retrying.call(run)


async def log_in(
    client: AutoShardedClient, token: str, retries: RetryPolicy = CONNECTING, gate: Gate | None = None
) -> None:
    """Log a client in that is to speak only, as soon as Discord can be reached. Raises `Misconfigured` as above."""

    async def enter() -> None:
        try:
            await client.login(token)
        except BaseException:  # the library opens another session for the next try, and closes the last one only
            await client.http.close()
            client.http.connector = discord.utils.MISSING
            raise

    await replace(retries, judge=partial(_judge, gate=gate)).call(enter)


def _judge(error: Exception, gate: Gate | None = None) -> Transient | None:
    """Return what may pass; None for mistakes of ours. Raises `Misconfigured` for what the operator has to change."""
    if gate is not None and gate.was_good and _is_refusal(error):
        return Transient(TOKEN_REFUSED)
    if _is_refusal(error) or (isinstance(error, HTTPException) and error.status == MALFORMED):
        raise Misconfigured(REFUSAL) from error
    if isinstance(error, PrivilegedIntentsRequired):
        raise Misconfigured(MESSAGE_CONTENT_DENIED) from error
    failure, reason = error if isinstance(error, ShutOut) else meaning(error), reason_of(error)
    return Transient(reason, failure.wait if isinstance(failure, RateLimited) else None) if reason else None


def _is_refusal(error: Exception) -> bool:
    """Return whether the token is refused; of two that log in at once, the second may not be let through to hear it."""
    return isinstance(error, LoginFailure) or (isinstance(error, ShutOut) and error.reason == TOKEN_REFUSED)


def reason_of(error: Exception) -> str | None:
    """Return in a word or two what went wrong with the network or with Discord; None if it was neither."""
    match error:
        case HTTPException():
            return f"HTTP {error.status}"
        case ConnectionClosed():
            return f"gateway closed with {error.code}"
        case discord.RateLimited() | RateLimited():
            return "rate limit"
        case TimeoutError():
            return "time-out"
        case GatewayNotFound() | ClientError() | OSError():
            return "network error"
        case _:
            return None


async def check(client: AutoShardedClient, token: str, look: Callable[[AutoShardedClient], Awaitable[str]]) -> str:
    """Log in, and return what a *look* finds. Raises `Misconfigured`, or `Unavailable` where Discord is away."""
    try:
        async with client:
            await client.login(token)
            return await look(client)
    except Exception as error:
        failure = _judge(error)
        if failure is None:
            raise
        raise Unavailable(f"Discord cannot be reached ({failure.reason}). Try again in a moment.") from error


def shortcomings(client: AutoShardedClient) -> list[str]:
    """Return what a connected client lacks on its servers, in sentences for the operator with the link that helps."""
    link = _invitation(client.application_id or 0)
    if not client.guilds:
        return [NO_SERVER.format(link)]
    rights = {guild.name: guild.me.guild_permissions for guild in client.guilds}
    lacking = {
        name: [words for each, words in NAMES.items() if not getattr(mine, each)]
        for name, mine in rights.items()
        if not mine.administrator
    }
    return [LACKING.format(name, ", ".join(missing), link) for name, missing in lacking.items() if missing][:MOST_NAMED]


def title(client: AutoShardedClient) -> str:
    """Return who the bot is, and where: the name of its only server, or how many there are."""
    where = client.guilds[0].name if len(client.guilds) == 1 else f"{len(client.guilds)} servers"
    return f"{client.user} in {where}"


def _invitation(application: int) -> str:
    return oauth_url(application, permissions=NEEDED, scopes=("bot", "applications.commands"))


async def described(client: AutoShardedClient) -> str:
    """Return who the bot is, in how many servers, and how to invite it to one more. Raises `Misconfigured` as above."""
    application = await client.application_info()
    flags, reads_all = application.flags, client.intents.message_content
    if reads_all and not (flags.gateway_message_content or flags.gateway_message_content_limited):
        raise Misconfigured(MESSAGE_CONTENT_DENIED)
    servers = application.approximate_guild_count
    where = "1 server" if servers == 1 else f"{servers} servers"
    reads = "reads follow-ups without a mention" if reads_all else "reads what mentions it"
    return f"{client.user} in {where}, {reads}; to invite it: {_invitation(application.id)}"
