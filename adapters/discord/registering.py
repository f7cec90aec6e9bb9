"""Which commands Discord has: they are registered at the start, and again where they were lost or changed there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from discord import AutoShardedClient, Permissions

from adapters.chat.commands import COMMANDS
from adapters.chat.registry import Kind, Option
from adapters.discord.events import PLATFORM
from adapters.discord.poster import translated
from adapters.retry import PATIENT
from core.errors import PostingFailed
from core.events import CommandsFailed, CommandsRegistered

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices

Json: TypeAlias = dict[str, Any]

ADMIN = "footnote-admin"  # the group of moderators' commands
SLASH, MESSAGE_MENU = 1, 3  # types of commands
SUBCOMMAND = 1  # the type of an option that is a command of a group
GUILD, DIRECT, PRIVATE = 0, 1, 2  # where a command can be used: in servers, with the bot alone, and among people
BY_SERVERS, BY_PEOPLE = 0, 1  # who can install it
EVERYWHERE = {"contexts": [GUILD, DIRECT, PRIVATE], "integration_types": [BY_SERVERS, BY_PEOPLE]}
IN_THREADS = frozenset({"sources", "mute", "unmute"})  # of the bot's, which are where it is
FORUMS = (15, 16)  # types of channels: forums, and those for media
CHANNELS = (0, 5, 2, 13, *FORUMS)  # text, announcements, voice and stages
TYPES = {Kind.TEXT: 3, Kind.CHOICE: 3, Kind.NUMBER: 4, Kind.FLAG: 5, Kind.PERSON: 6, Kind.CHANNEL: 7, Kind.GROUP: 8}
MENU_NAME = "Answer from this message"
LOOKED_EVERY = 3_600.0  # seconds between two looks whether Discord still has the commands


async def keep_registered(client: AutoShardedClient, services: ChatServices) -> None:
    """Register the commands where Discord does not have them as they are, and look again at times.

    If that fails, those of before still work, and so does all else.
    """
    kept: object = None
    has_failed = False
    while True:
        try:
            known = await PATIENT.call(lambda: translated(client.http.get_global_commands(client.application_id or 0)))
            if known != kept and not is_current(known):
                writing = partial(client.http.bulk_upsert_global_commands, client.application_id or 0, list(_payload()))
                kept = await PATIENT.call(lambda writing=writing: translated(writing()))
        except Exception as error:  # noqa: BLE001 - whatever Discord answers, people are
            reason, has_failed = str(error) if isinstance(error, PostingFailed) else type(error).__name__, True
            services.observer(CommandsFailed(services.name, reason))
        else:
            if has_failed:
                services.observer(CommandsRegistered(services.name))
            has_failed = False
        await services.sleep(LOOKED_EVERY)


async def differences(client: AutoShardedClient) -> str:
    """Return which commands Discord does not have as they are; empty if it has all. Raises `PostingFailed`."""
    found, wanted = _named(await client.http.get_global_commands(client.application_id or 0)), _wanted()
    differ = {
        "missing": wanted.keys() - found.keys(),
        "different": {name for name in wanted.keys() & found.keys() if not _says(found[name], wanted[name])},
        "unknown": found.keys() - wanted.keys(),
    }
    if not found:
        return "Discord has none of the commands."
    said = "; ".join(f"{what}: {', '.join(sorted(names))}" for what, names in differ.items() if names)
    return said and f"Discord does not have the commands as they should be: {said}."


def is_current(known: object) -> bool:
    """Return whether Discord has the commands as they are; it leaves out what is usual, and adds what we do not say."""
    found, wanted = _named(known), _wanted()
    return found.keys() == wanted.keys() and _says(found, wanted)


def _named(known: object) -> Json:
    """Return the commands that Discord has by their names; none of what is no list."""
    listed = cast("list[object]", known) if isinstance(known, list) else []
    return {str(cast("Json", each).get("name")): each for each in listed if isinstance(each, dict)}


def _wanted() -> Json:
    return {str(each["name"]): each for each in _payload()}


def _says(found: object, wanted: object) -> bool:
    if isinstance(found, dict) and isinstance(wanted, dict):
        has = cast("Json", found)
        return all(_says(has.get(name), value) for name, value in cast("Json", wanted).items())
    if isinstance(found, list) and isinstance(wanted, list):
        given, ours = cast("list[object]", found), cast("list[object]", wanted)
        if any(isinstance(each, int) for each in ours):  # in any order
            return set(given) == set(ours)
        return len(given) == len(ours) and all(map(_says, given, ours))
    return found == wanted or not (found or wanted)


def _payload() -> Iterator[Json]:
    """Yield all commands as Discord takes them; those of moderators are a group, which settings can give to others.

    Who has installed the bot for themselves can use the others wherever they are, but for those about its threads.
    """
    where_it_is = {"contexts": [GUILD, DIRECT], "integration_types": [BY_SERVERS]}
    orders: list[Json] = []
    for each in COMMANDS:
        if each.only_on not in ("", PLATFORM):
            continue
        options = [_option(option) for option in sorted(each.options, key=lambda option: not option.is_required)]
        command: Json = {"name": each.name, "description": each.description, "options": options}
        if each.for_moderators:
            orders.append({**command, "type": SUBCOMMAND})
        else:
            yield {**command, "type": SLASH, **(where_it_is if each.name in IN_THREADS else EVERYWHERE)}
    yield {
        "name": ADMIN,
        "type": SLASH,
        "description": "Moderate the bot in this server.",
        "options": orders,
        "contexts": [GUILD],
        "integration_types": [BY_SERVERS],
        "default_member_permissions": str(Permissions(manage_guild=True).value),
    }
    yield {"name": MENU_NAME, "type": MESSAGE_MENU, **EVERYWHERE}


def _option(option: Option) -> Json:
    more: Mapping[Kind, Json] = {
        Kind.TEXT: {"min_length": 1, "max_length": option.most},
        Kind.NUMBER: {"min_value": 1, "max_value": option.most},
        Kind.CHOICE: {"choices": [{"name": word, "value": word} for word in option.choices.values()]},
        Kind.CHANNEL: {"channel_types": list(CHANNELS)},
    }
    return {
        "type": TYPES[option.kind],
        "name": option.name,
        "description": option.description,
        "required": option.is_required,
        **more.get(option.kind, {}),
    }
