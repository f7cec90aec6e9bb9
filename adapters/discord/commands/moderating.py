"""The commands of moderators. Discord hides them from others; the rights are checked again where orders are done."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Literal, TypeAlias

from discord import ForumChannel, Permissions, StageChannel, TextChannel, User, VoiceChannel
from discord.app_commands import AppCommandContext, Command, Group, describe
from discord.utils import format_dt

from adapters.chat.desk import Desk
from adapters.discord.client.invitation import needed
from adapters.discord.commands.replying import privately
from adapters.discord.commands.situation import Used, actor_of, home_of, thread_of
from adapters.discord.dialect import DISCORD
from adapters.discord.inbound.permissions import NAMES
from core import sentences
from core.errors import InvalidInput
from core.model import Actor, Person, Policy
from core.moderation import Standing

NAME = "footnote-admin"
Room: TypeAlias = TextChannel | VoiceChannel | StageChannel | ForumChannel
What: TypeAlias = Literal["a person", "this thread", "everything"]


def admin_group(desk: Desk) -> Group:
    """Give the commands under one name, which a server's settings can give to others, too."""
    group = Group(
        name=NAME,
        description="How the bot works in this server.",
        guild_only=True,
        allowed_contexts=AppCommandContext(guild=True, dm_channel=False, private_channel=False),
        default_permissions=Permissions(manage_guild=True),
    )
    for command in (_status(desk), _pause(desk), _resume(desk), _auto_answer(desk), _forget(desk)):
        group.add_command(command)
    return group


def _status(desk: Desk) -> Command[Group, ..., None]:
    async def status(interaction: Used) -> None:
        await privately(interaction, partial(_standing, desk, interaction))

    return Command(name="status", description="Whether I answer, what people think, what was done.", callback=status)


def _pause(desk: Desk) -> Command[Group, ..., None]:
    @describe(channel="Only in this channel and its threads, and not in the whole server.")
    async def pause(interaction: Used, channel: Room | None = None) -> None:
        await privately(interaction, partial(_paused, desk, actor_of(interaction), channel))

    return Command(name="pause", description="Answer nothing in this server for now.", callback=pause)


async def _paused(desk: Desk, actor: Actor, channel: Room | None) -> str:
    if channel is None:
        return sentences.paused(is_new=await desk.moderation.pause(actor))
    return await _silenced(desk, actor, channel, on=True)


def _resume(desk: Desk) -> Command[Group, ..., None]:
    @describe(channel="Only in this channel, where I was paused.")
    async def resume(interaction: Used, channel: Room | None = None) -> None:
        await privately(interaction, partial(_resumed, desk, actor_of(interaction), channel))

    return Command(name="resume", description="Answer again.", callback=resume)


async def _resumed(desk: Desk, actor: Actor, channel: Room | None) -> str:
    if channel is not None:
        return await _silenced(desk, actor, channel, on=False)
    is_new = await desk.moderation.resume(actor)
    policy = (await desk.moderation.status(actor)).policy
    return "\n".join([sentences.resumed(is_new=is_new), *_silent(policy)])


async def _silenced(desk: Desk, actor: Actor, channel: Room, *, on: bool) -> str:
    is_new = await desk.moderation.silence(actor, str(channel.id), on=on)
    return sentences.silenced(channel.mention, on=on, is_new=is_new)


def _auto_answer(desk: Desk) -> Command[Group, ..., None]:
    @describe(forum="Whose new posts I answer although they do not mention me.", on="Whether I do.")
    async def auto_answer(interaction: Used, forum: ForumChannel, on: bool) -> None:
        async def act() -> str:
            is_new = await desk.moderation.auto_answer(actor_of(interaction), str(forum.id), on=on)
            return sentences.auto_answering(on=on, is_new=is_new, is_heard=interaction.client.intents.message_content)

        await privately(interaction, act)

    return Command(name="auto-answer", description="Answer every new post of a forum, or not.", callback=auto_answer)


def _forget(desk: Desk) -> Command[Group, ..., None]:
    @describe(what="What to forget.", person="Whose questions to forget.", confirm="Needed to forget everything.")
    async def forget(interaction: Used, what: What, person: User | None = None, confirm: bool = False) -> None:
        async def act() -> str:
            return await _forgotten(desk, interaction, what, person=person, confirm=confirm)

        await privately(interaction, act)

    return Command(name="forget", description="Remove what I remember.", callback=forget)


async def _forgotten(desk: Desk, used: Used, what: What, *, person: User | None, confirm: bool) -> str:
    actor, thread = actor_of(used), thread_of(used)
    if what == "a person":
        if person is None:
            raise InvalidInput(sentences.NOBODY_NAMED, field="person")
        return await _person_forgotten(desk, actor, str(person.id))
    if what == "this thread":
        if thread is None:
            raise InvalidInput(sentences.NOT_IN_THREAD, field="what")
        return sentences.thread_forgotten(was_there=await desk.moderation.forget_thread(actor, thread))
    if not confirm:
        raise InvalidInput(sentences.UNCONFIRMED, field="confirm")
    return sentences.everything_forgotten(await desk.moderation.forget_everything(actor))


async def _person_forgotten(desk: Desk, actor: Actor, person_id: str) -> str:
    gone = await desk.moderation.forget_person(actor, person_id)
    return sentences.person_forgotten(gone.turns, gone.votes)


async def _standing(desk: Desk, used: Used) -> str:
    """Say how things are; who may not ask is refused before anything is looked up."""
    standing = await desk.moderation.status(actor_of(used))
    tally, waiting = await desk.votes.count(home_of(used)), await desk.inbox.waiting()
    return "\n".join(
        [
            *_told(standing),
            sentences.tally_line(tally),
            sentences.waiting_line(waiting),
            sentences.lacking_line(tuple(_lacking(used))),
        ]
    )


def _told(standing: Standing) -> Iterator[str]:
    policy = standing.policy
    by = policy.paused_by and _plain(policy.paused_by)
    yield sentences.standing_line(policy.model_copy(update={"paused_by": by}), _since)
    yield from _silent(policy)
    for deed in standing.deeds:
        yield "- " + sentences.deed_line(deed.model_copy(update={"by": _plain(deed.by)}), _since)


def _silent(policy: Policy) -> Iterator[str]:
    """Name the channels in such a way that they can be clicked."""
    if policy.silent_channels:
        yield sentences.silent_line([f"<#{channel}>" for channel in sorted(policy.silent_channels)])


def _plain(person: Person) -> Person:
    return person.model_copy(update={"name": DISCORD.on_one_line(person.name)})


def _since(moment: datetime) -> str:
    return format_dt(moment, "R")


def _lacking(used: Used) -> Iterator[str]:
    """Name the permissions as Discord's own settings do."""
    for name, is_needed in needed():
        if is_needed and not getattr(used.app_permissions, name):
            yield NAMES.get(name) or name.replace("_", " ").title()
