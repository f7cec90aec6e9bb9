"""The commands that everybody has, and how all of them, with the buttons and forms, come to a client."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from discord import AutoShardedClient, Message
from discord.app_commands import (
    AppCommandContext,
    AppCommandError,
    AppInstallationType,
    Command,
    CommandInvokeError,
    CommandTree,
    ContextMenu,
    Range,
    describe,
)

from adapters.chat.desk import Desk
from adapters.chat.dialect import listed
from adapters.chat.posting import PostingFailed
from adapters.discord.client.poster import translated
from adapters.discord.commands.asking import ask
from adapters.discord.commands.forms import MENU_NAME, selection_form
from adapters.discord.commands.moderating import admin_group
from adapters.discord.commands.presses import button_of, take_form
from adapters.discord.commands.replying import privately, shown, tell
from adapters.discord.commands.situation import DIRECT_HOME, Used, actor_of, home_of, thread_of
from adapters.discord.dialect import DISCORD
from adapters.discord.inbound.wording import Wording
from core import sentences
from core.errors import StoreUnavailable
from core.model import QUESTION_LIMIT

What: TypeAlias = Literal["this thread", "everything about me"]


class Tree(CommandTree[AutoShardedClient]):
    """All commands; one that Discord still shows as it was before gets a sentence."""

    async def on_error(self, interaction: Used, error: AppCommandError, /) -> None:
        """Tell the reader, unless the command has done so itself, and let the library log it."""
        if not isinstance(error, CommandInvokeError):
            await tell(interaction, sentences.OUTDATED)
        await super().on_error(interaction, error)


async def install(client: AutoShardedClient, desk: Desk) -> None:
    """Teach a client that has logged in the commands, the buttons and the forms."""
    tree = Tree(
        client,
        allowed_contexts=AppCommandContext(guild=True, dm_channel=True, private_channel=False),
        allowed_installs=AppInstallationType(guild=True, user=False),
    )
    for command in (_ask(desk), _sources(desk), _forget(desk), _help(), _privacy(desk), _menu(), admin_group(desk)):
        tree.add_command(command)
    client.add_dynamic_items(button_of(desk))

    async def on_interaction(interaction: Used) -> None:
        await take_form(desk, interaction)

    client.event(on_interaction)
    await _register(tree, desk)


async def _register(tree: Tree, desk: Desk) -> None:
    """Tell Discord of the commands if they are others than before; if that fails, those of before still work."""
    key = f"discord:commands:{tree.client.application_id}"
    payload = [command.to_dict(tree) for command in tree.get_commands()]
    if not await _is_new(desk, key, sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()):
        return
    try:
        await translated(tree.sync())
    except BaseException as error:
        with suppress(StoreUnavailable):
            await desk.memo.forget(key)
        if not isinstance(error, PostingFailed):
            raise
        desk.unregistered(str(error))


async def _is_new(desk: Desk, key: str, commands: str) -> bool:
    try:
        return await desk.memo.changed(key, commands)
    except StoreUnavailable:
        return True  # once more than needed is better than not at all


def _ask(desk: Desk) -> Command[Any, ..., None]:
    @describe(question="What do you want to know?", private="Show the answer only to me.")
    async def ask_(interaction: Used, question: Range[str, 1, QUESTION_LIMIT], private: bool = False) -> None:
        await ask(desk, interaction, question, private=private)

    return Command(name="ask", description="Ask a question about the documents.", callback=ask_)


def _menu() -> ContextMenu:
    async def answer_from(interaction: Used, message: Message) -> None:
        if text := _text_of(interaction, message):
            await shown(interaction, selection_form(text))
        else:
            await tell(interaction, sentences.NO_TEXT)

    return ContextMenu(name=MENU_NAME, callback=answer_from)


def _text_of(used: Used, message: Message) -> str:
    """Give the words of a message as people see them; its previews and pictures are none of its words."""
    chosen: dict[str, Any] = dict(used.data or {})
    raw: dict[str, Any] = chosen["resolved"]["messages"][str(message.id)]
    return Wording(raw, mine=(), names={}).clean(message.content)


def _sources(desk: Desk) -> Command[Any, ..., None]:
    async def sources_(interaction: Used) -> None:
        async def act() -> str:
            thread = thread_of(interaction)
            if thread is None:
                return sentences.NOT_IN_THREAD
            return listed(DISCORD.sources(await desk.self_help.sources(thread))) or sentences.NO_SOURCES

        await privately(interaction, act)

    return Command(name="sources", description="Where the last answer here came from.", callback=sources_)


def _forget(desk: Desk) -> Command[Any, ..., None]:
    @describe(what="What I should forget.")
    async def forget(interaction: Used, what: What) -> None:
        is_here = what == "this thread"
        await privately(interaction, partial(_forget_thread if is_here else _forget_person, desk, interaction))

    return Command(name="forget", description="Remove what I remember of you or of this thread.", callback=forget)


async def _forget_thread(desk: Desk, used: Used) -> str:
    thread = thread_of(used)
    if thread is None:
        return sentences.NOT_IN_THREAD
    return sentences.thread_forgotten(was_there=await desk.self_help.forget_thread(actor_of(used), thread))


async def _forget_person(desk: Desk, used: Used) -> str:
    """Forget somebody here and in the direct messages, which belong to no server."""
    homes = dict.fromkeys((home_of(used), DIRECT_HOME))  # one, if this is a direct message
    gone = await desk.self_help.forget_person(homes, str(used.user.id))
    return sentences.person_forgotten(gone.turns, gone.votes)


def _help() -> Command[Any, ..., None]:
    async def help_(interaction: Used) -> None:
        await tell(interaction, sentences.HELP)

    return Command(name="help", description="What I can do.", callback=help_)


def _privacy(desk: Desk) -> Command[Any, ..., None]:
    async def privacy(interaction: Used) -> None:
        await tell(interaction, sentences.privacy(desk.practices))

    return Command(name="privacy", description="What I keep, for how long, and who gets it.", callback=privacy)
