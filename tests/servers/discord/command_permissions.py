"""Who may use which command in a guild, as its admins set it; a bot may read that, and not change it."""

from __future__ import annotations

from tests.servers.discord.guilds import Guild
from tests.servers.discord.platform import Platform
from tests.servers.discord.refusals import Refusal, missing_access
from tests.servers.discord.routes import Call, Route
from tests.servers.discord.shape import Json


def _read(platform: Platform, call: Call) -> list[Json]:
    guild = _guild(platform, call)
    return [_stored(platform, guild, about) for about in guild.command_rules]


def _read_one(platform: Platform, call: Call) -> Json:
    guild, about = _guild(platform, call), call.id("command")
    if about not in guild.command_rules:
        raise Refusal(404, 10066, "Unknown application command permissions")
    return _stored(platform, guild, about)


def _write(platform: Platform, call: Call) -> None:
    """Refuse: it takes the token of somebody who manages the guild and its roles."""
    raise Refusal(403, 20001, "Bots cannot use this endpoint")


def _guild(platform: Platform, call: Call) -> Guild:
    guild = platform.guilds.get(call.id("guild"))
    if call.id("application") != platform.bot.id or guild is None or platform.bot.id not in guild.members:
        raise missing_access()
    return guild


def _stored(platform: Platform, guild: Guild, about: int) -> Json:
    rules = [{"id": str(one.id), "type": one.kind, "permission": one.allowed} for one in guild.command_rules[about]]
    bot_id, guild_id = str(platform.bot.id), str(guild.id)
    return {"id": str(about), "application_id": bot_id, "guild_id": guild_id, "permissions": rules}


ALL = "/applications/{application}/guilds/{guild}/commands/permissions"
ONE = "/applications/{application}/guilds/{guild}/commands/{command}/permissions"
ROUTES = (
    Route(f"GET {ALL}", _read),
    Route(f"GET {ONE}", _read_one),
    Route(f"PUT {ONE}", _write),
)
