"""Looks whether Discord lets the bot in, and with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discord import AutoShardedClient

from adapters.discord.client.connection import MESSAGE_CONTENT_DENIED, TOKEN_REFUSED, reason_of
from adapters.discord.client.invitation import invitation
from core.errors import Misconfigured, Unavailable

if TYPE_CHECKING:
    from discord import AppInfo


async def check(client: AutoShardedClient, token: str) -> str:
    """Log in, and say as whom, in how many servers, and how to invite the bot to one more."""
    from discord import LoginFailure

    try:
        async with client:
            await client.login(token)
            application = await client.application_info()
    except LoginFailure as error:
        raise Misconfigured(TOKEN_REFUSED) from error
    except Exception as error:
        reason = reason_of(error)
        if reason is None:
            raise
        raise Unavailable(f"Discord cannot be reached ({reason}). Try again in a moment.") from error
    return _described(client, application)


def _described(client: AutoShardedClient, application: AppInfo) -> str:
    flags = application.flags
    may_read = flags.gateway_message_content or flags.gateway_message_content_limited
    if client.intents.message_content and not may_read:
        raise Misconfigured(MESSAGE_CONTENT_DENIED)
    servers = application.approximate_guild_count
    where = "1 server" if servers == 1 else f"{servers} servers"
    reads = "reads follow-ups without a mention" if client.intents.message_content else "reads what mentions it"
    return f"{client.user} in {where}, {reads}; to invite it: {invitation(application.id)}"
