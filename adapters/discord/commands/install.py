"""Registers the commands with Discord, and hands what people use, press or fill in to whoever does it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any, TypeAlias, cast

from discord import AutoShardedClient, InteractionType, Permissions

from adapters.chat.commands import COMMANDS, Command, Kind, Option, Values, command_named
from adapters.chat.services import ChatServices
from adapters.discord.commands.asking import ask
from adapters.discord.commands.context import ADMIN, DiscordContext, Used
from adapters.discord.commands.forms import MENU_NAME, selection_form
from adapters.discord.commands.presses import pressed, take_form
from adapters.discord.commands.replying import privately, shown, tell
from adapters.discord.events import MentionText
from adapters.discord.poster import translated
from core import messages
from core.errors import PostingFailed, StoreUnavailable
from core.events import CommandsFailed

Json: TypeAlias = dict[str, Any]

SLASH, MESSAGE_MENU = 1, 3  # types of commands
SUBCOMMAND = 1  # the type of an option that is a command of a group
GUILD, DIRECT = 0, 1  # contexts in which a command can be used
TYPES = {
    Kind.TEXT: 3,
    Kind.CHOICE: 3,
    Kind.NUMBER: 4,
    Kind.FLAG: 5,
    Kind.PERSON: 6,
    Kind.CHANNEL: 7,
    Kind.FORUM: 7,
}
FORUMS = (15, 16)  # types of channels: forums, and those for media
CHANNELS = (0, 5, 2, 13, *FORUMS)  # text, announcements, voice and stages


async def install(client: AutoShardedClient, services: ChatServices) -> None:
    """Register the commands for a client that has logged in, and hear of all that people use."""

    async def on_interaction(used: Used) -> None:
        await _taken(services, used)

    client.event(on_interaction)
    await _register(client, services)


async def _taken(services: ChatServices, used: Used) -> None:
    match used.type:
        case InteractionType.application_command:
            await _use(services, used)
        case InteractionType.component:
            await pressed(services, used)
        case InteractionType.modal_submit:
            await take_form(services, used)
        case _:
            pass


async def _use(services: ChatServices, used: Used) -> None:
    """Do what a command says; one that Discord still shows as it was before gets a sentence."""
    data = cast("Json", used.data or {})
    if data.get("type") == MESSAGE_MENU:
        await _answer_from(used, data)
        return
    chosen: list[Json] = data.get("options") or []
    in_group = data.get("name") == ADMIN and len(chosen) == 1
    named: Json = chosen[0] if in_group else data
    command = command_named(str(named.get("name")), for_moderators=in_group)
    values = _values(command, named.get("options") or []) if command else None
    if command is None or values is None:
        await tell(used, messages.OUTDATED)
    elif command.act is None:
        await ask(services, used, values["question"], private=values.get("private", False))
    else:
        await privately(used, partial(command.act, DiscordContext(services, used), values))


def _values(command: Command, chosen: Sequence[Json]) -> Values | None:
    """Return what was chosen; None where that does not fit the command as it is now."""
    given = {str(each.get("name")): each.get("value") for each in chosen}
    options = {option.name: option for option in command.options}
    values: dict[str, Any] = {}
    for name, value in given.items():
        option = options.get(name)
        words = {word: each for each, word in option.choices.items()} if option else {}
        values[name] = words.get(str(value)) if words else value
    is_whole = all(name in values for name, each in options.items() if each.is_required)
    return values if is_whole and given.keys() <= options.keys() and None not in values.values() else None


async def _answer_from(used: Used, data: Json) -> None:
    """Ask for a question about a message; its previews and pictures are none of its words."""
    raw: Json = data["resolved"]["messages"][str(data["target_id"])]
    if text := MentionText(raw, mine=(), names={}).clean(str(raw.get("content") or "")):
        await shown(used, selection_form(text))
    else:
        await tell(used, messages.NO_TEXT)


async def _register(client: AutoShardedClient, services: ChatServices) -> None:
    """Tell Discord of the commands if they are others than before; if that fails, those of before still work."""
    key = f"discord:commands:{client.application_id}"
    payload = list(_payload())
    if not await _is_new(services, key, sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()):
        return
    try:
        await translated(client.http.bulk_upsert_global_commands(client.application_id or 0, payload))
    except BaseException as error:
        with suppress(StoreUnavailable):
            await services.memo.forget(key)
        if not isinstance(error, PostingFailed):
            raise
        services.observer(CommandsFailed(services.name, str(error)))


async def _is_new(services: ChatServices, key: str, commands: str) -> bool:
    try:
        return await services.memo.changed(key, commands)
    except StoreUnavailable:
        return True  # once more than needed is better than not at all


def _payload() -> Iterator[Json]:
    """Yield all commands as Discord takes them; those of moderators are a group, which settings can give to others."""
    everywhere = {"contexts": [GUILD, DIRECT], "integration_types": [0]}
    for command in COMMANDS:
        if not command.for_moderators:
            yield {**_command(command), "type": SLASH, **everywhere}
    yield {
        "name": ADMIN,
        "type": SLASH,
        "description": "How the bot works in this server.",
        "options": [{**_command(each), "type": SUBCOMMAND} for each in COMMANDS if each.for_moderators],
        "contexts": [GUILD],
        "integration_types": [0],
        "default_member_permissions": str(Permissions(manage_guild=True).value),
    }
    yield {"name": MENU_NAME, "type": MESSAGE_MENU, **everywhere}


def _command(command: Command) -> Json:
    options = [_option(option) for option in command.options]
    return {"name": command.name, "description": command.description, "options": options}


def _option(option: Option) -> Json:
    more: Mapping[Kind, Json] = {
        Kind.TEXT: {"min_length": 1, "max_length": option.most},
        Kind.NUMBER: {"min_value": 1, "max_value": option.most},
        Kind.CHOICE: {"choices": [{"name": word, "value": word} for word in option.choices.values()]},
        Kind.CHANNEL: {"channel_types": list(CHANNELS)},
        Kind.FORUM: {"channel_types": list(FORUMS)},
    }
    return {
        "type": TYPES[option.kind],
        "name": option.name,
        "description": option.description,
        "required": option.is_required,
        **more.get(option.kind, {}),
    }
