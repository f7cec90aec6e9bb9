"""Requests about the application's commands: the whole set is replaced at once, and checked like the real one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tests.servers.discord.platform import Platform
from tests.servers.discord.refusals import Refusal, bad_length, invalid_form, missing_access
from tests.servers.discord.routes import Call, Route
from tests.servers.discord.shape import Json

SLASH, USER_MENU, MESSAGE_MENU = 1, 2, 3
MOST = {SLASH: 100, USER_MENU: 15, MESSAGE_MENU: 15}
NAME = re.compile(r"^[-_'\w]{1,32}$")
OPTIONS = 25
TEXT = 8000


def _read(platform: Platform, call: Call) -> list[Json]:
    return platform.commands.get(_place(platform, call), [])


def _replace(platform: Platform, call: Call) -> list[Json]:
    place = _place(platform, call)
    given = call.list
    _check(given)
    known = {_key(command): command["id"] for command in platform.commands.get(place, ())}
    platform.commands[place] = [_stored(platform, command, known, place) for command in given]
    return platform.commands[place]


def _place(platform: Platform, call: Call) -> int | None:
    """Give the guild whose commands are meant, or None for those that are everywhere."""
    if call.id("application") != platform.bot.id:
        raise missing_access()
    return platform.guild(call.id("guild")).id if "guild" in call.path else None


def _key(command: Json) -> tuple[str, int]:
    return command["name"], command.get("type", SLASH)


def _stored(platform: Platform, command: Json, known: dict[tuple[str, int], str], guild_id: int | None) -> Json:
    standard: Json = {
        "type": SLASH,
        "description": "",
        "options": [],
        "default_member_permissions": None,
        "nsfw": False,
        "contexts": None,
        "integration_types": [0],
    }
    ids: Json = {
        "id": known.get(_key(command), str(platform.new_id())),
        "application_id": str(platform.bot.id),
        "version": str(platform.new_id()),
    }
    return {**standard, **command, **ids, **({} if guild_id is None else {"guild_id": str(guild_id)})}


def _check(commands: list[Json]) -> None:
    for kind, count in Counter(command.get("type", SLASH) for command in commands).items():
        if count > MOST[kind]:
            raise Refusal(400, 30032, f"Maximum number of application commands reached ({MOST[kind]}).")
    if len({_key(command) for command in commands}) != len(commands):
        raise invalid_form("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
    for place, command in enumerate(commands):
        _check_command(command, str(place))


def _check_command(command: Json, path: str) -> None:
    name = str(command.get("name", ""))
    if command.get("type", SLASH) != SLASH:
        if not 1 <= len(name) <= 32:
            raise bad_length(f"{path}.name", 1, 32)
        if command.get("description"):
            words = "Context menu commands cannot have description"
            raise invalid_form(f"{path}.description", "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION", words)
        return
    _check_slash(command, path)
    if sum(map(len, _texts(command))) > TEXT:
        raise invalid_form(path, "APPLICATION_COMMAND_TOO_LARGE", f"Command exceeds maximum size ({TEXT}).")


def _check_slash(command: Json, path: str) -> None:
    name = str(command.get("name", ""))
    if not NAME.match(name) or name != name.lower():
        raise invalid_form(f"{path}.name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
    if not 1 <= len(command.get("description") or "") <= 100:
        raise bad_length(f"{path}.description", 1, 100)
    options: list[Json] = command.get("options") or []
    if len(options) > OPTIONS:
        raise bad_length(f"{path}.options", 0, OPTIONS)
    for place, option in enumerate(options):
        _check_slash(option, f"{path}.options.{place}")


def _texts(command: Json) -> Iterator[str]:
    yield command.get("name") or ""
    yield command.get("description") or ""
    choices: list[Json] = command.get("choices") or []
    for choice in choices:
        yield from (str(choice["name"]), str(choice["value"]))
    options: list[Json] = command.get("options") or []
    for option in options:
        yield from _texts(option)


EVERYWHERE = "/applications/{application}/commands"
IN_A_GUILD = "/applications/{application}/guilds/{guild}/commands"
ROUTES = (
    Route(f"GET {EVERYWHERE}", _read),
    Route(f"PUT {EVERYWHERE}", _replace),
    Route(f"GET {IN_A_GUILD}", _read),
    Route(f"PUT {IN_A_GUILD}", _replace),
)
