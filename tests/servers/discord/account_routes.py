"""Requests about the bot itself, and about who and what is where."""

from __future__ import annotations

from tests.servers.discord import refusals
from tests.servers.discord.payloads import (
    application_payload,
    channel_payload,
    guild_payload,
    member_payload,
    user_payload,
)
from tests.servers.discord.platform import Platform
from tests.servers.discord.routes import Call, Route
from tests.servers.discord.shape import Json


def _me(platform: Platform, call: Call) -> Json:
    return user_payload(platform.bot)


def _application(platform: Platform, call: Call) -> Json:
    return application_payload(platform)


def _user(platform: Platform, call: Call) -> Json:
    user = platform.users.get(call.id("user"))
    if user is None:
        raise refusals.unknown_user()
    return user_payload(user)


def _guild(platform: Platform, call: Call) -> Json:
    return guild_payload(platform, platform.guild(call.id("guild")))


def _guilds(platform: Platform, call: Call) -> list[Json]:
    there = [guild for guild in platform.guilds.values() if platform.bot.id in guild.members]
    return [{"id": str(guild.id), "name": guild.name, "owner": False, "permissions": "0"} for guild in there]


def _channels(platform: Platform, call: Call) -> list[Json]:
    guild = platform.guild(call.id("guild"))
    return [channel_payload(platform, channel) for channel in platform.channels_of(guild)]


def _member(platform: Platform, call: Call) -> Json:
    guild = platform.guild(call.id("guild"))
    member = guild.members.get(call.id("user"))
    if member is None:
        raise refusals.Refusal(404, 10007, "Unknown Member")
    return member_payload(guild, member.user)


def _open_dm(platform: Platform, call: Call) -> Json:
    """Open direct messages with somebody; whether they take any shows when one is sent."""
    user = platform.users.get(int(call.json.get("recipient_id") or 0))
    if user is None:
        raise refusals.unknown_user()
    return channel_payload(platform, platform.dm_of(user))


def _leave(platform: Platform, call: Call) -> None:
    del platform.guild(call.id("guild")).members[platform.bot.id]


ROUTES = (
    Route("GET /users/@me", _me),
    Route("GET /users/@me/guilds", _guilds),
    Route("POST /users/@me/channels", _open_dm),
    Route("DELETE /users/@me/guilds/{guild}", _leave),
    Route("GET /users/{user}", _user),
    Route("GET /oauth2/applications/@me", _application),
    Route("GET /applications/@me", _application),
    Route("GET /guilds/{guild}", _guild),
    Route("GET /guilds/{guild}/channels", _channels),
    Route("GET /guilds/{guild}/members/{user}", _member),
)
