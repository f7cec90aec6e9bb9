"""Where, by whom and under which rights something was pressed or used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import discord
from discord.utils import format_dt

from adapters.chat.dialect import ChatDialect
from adapters.discord.client.invitation import needed
from adapters.discord.dialect import DISCORD
from adapters.discord.events import DIRECT_MESSAGES, PLATFORM, ChannelInfo
from adapters.discord.permissions import NAMES
from core.messages import Drawing, Forms
from core.model import (
    Actor,
    Interaction,
    MessageRef,
    Person,
    Question,
    ReplyAddress,
    Setting,
    ThreadRef,
    WorkspaceRef,
)

if TYPE_CHECKING:
    from adapters.chat.services import ChatServices

Used: TypeAlias = discord.Interaction[Any]

ADMIN = "footnote-admin"  # the group of moderators' commands
DRAWING = Drawing(
    plain=DISCORD.on_one_line,
    moment=partial(format_dt, style="R"),
    bullet="-",
    resume=f"`/{ADMIN} resume`",
    page=f"`/{ADMIN} status page:{{}}`",
)

DIRECT, UNKNOWN = 1, -1  # types of channels
TOKEN_LIFE = timedelta(minutes=15) - timedelta(seconds=30)  # Discord's, less what a clock or a call may be late
DIRECT_HOME = WorkspaceRef(platform=PLATFORM, workspace=DIRECT_MESSAGES)


@dataclass(frozen=True, slots=True)
class DiscordContext:
    """Implements `CommandContext`."""

    services: ChatServices
    used: Used

    @property
    def person(self) -> Person:
        """Who uses it."""
        return person_of(self.used)

    @property
    def homes(self) -> Sequence[WorkspaceRef]:
        """The server, and the direct messages, which belong to none."""
        return tuple(dict.fromkeys((home_of(self.used), DIRECT_HOME)))

    @property
    def thread(self) -> ThreadRef | None:
        """The conversation that goes on there."""
        return thread_of(self.used)

    @property
    def drawing(self) -> Drawing:
        """How names, times and channels are shown."""
        return DRAWING

    @property
    def forms(self) -> Forms:
        """What people write or choose."""
        return Forms()

    @property
    def lacking(self) -> Sequence[str]:
        """The permissions that the bot lacks here, as Discord's own settings name them."""
        return tuple(_lacking(self.used))

    @property
    def dialect(self) -> ChatDialect:
        """How things are written."""
        return DISCORD

    async def actor(self) -> Actor:
        """Return who uses it with the right to moderate, as Discord has just said."""
        return actor_of(self.used)


def place_of(used: Used) -> ChannelInfo:
    """Return the channel."""
    channel_id, channel = str(used.channel_id), used.channel
    if used.guild_id is None:
        return ChannelInfo(channel_id, DIRECT)
    if isinstance(channel, discord.Thread):
        return ChannelInfo(channel_id, channel.type.value, str(channel.parent_id))
    return ChannelInfo(channel_id, channel.type.value if channel else UNKNOWN)


def home_of(used: Used) -> WorkspaceRef:
    """Return the server, or what stands for direct messages."""
    return WorkspaceRef(platform=PLATFORM, workspace=str(used.guild_id or DIRECT_MESSAGES))


def thread_of(used: Used) -> ThreadRef | None:
    """Return the conversation that goes on here; a channel of a server holds many, and is none."""
    place = place_of(used)
    return None if place.setting is Setting.CHANNEL else _thread(used, place, place.id)


def private_message(used: Used) -> MessageRef:
    """Name what only one person sees: it is in no thread, and goes by the interaction's own id."""
    return MessageRef(thread=_thread(used, place_of(used), str(used.id)), id=str(used.id))


def pressed_message(used: Used, channel: str, thread: str, message: str) -> MessageRef:
    """Name a question by the ids that a button bears; the server is the one where it was pressed."""
    home = home_of(used)
    ref = ThreadRef(platform=home.platform, workspace=home.workspace, channel=channel, thread=thread)
    return MessageRef(thread=ref, id=message)


def address_of(used: Used, question: Question) -> ReplyAddress:
    """Return where the answer goes: in the interaction's name while that may be, afterwards in the bot's own.

    The message that Discord will show for it takes the place of the question's, and its thread where none goes on here.
    """
    token = Interaction(id=str(used.id), token=used.token, expires_at=used.created_at + TOKEN_LIFE)
    if question.visibility == "private":
        return ReplyAddress(thread=question.thread, interaction=token)
    message = question.message if may_open_thread(used) else None
    return ReplyAddress(thread=thread_of(used) or question.thread, message=message, interaction=token)


def may_open_thread(used: Used) -> bool:
    """Return whether a thread can be opened on a message here, and the bot may do so and write in it."""
    place, mine = place_of(used), used.app_permissions
    may = mine.view_channel and mine.create_public_threads and mine.send_messages_in_threads
    return used.guild_id is not None and place.has_threads and may


def person_of(used: Used) -> Person:
    """Return who did it, under the name that others see here."""
    return Person(id=str(used.user.id), name=used.user.display_name)


def actor_of(used: Used) -> Actor:
    """Return who did it with the right to moderate, as Discord has just said."""
    may = used.guild_id is not None and used.permissions.manage_guild
    return Actor(person=person_of(used), home=home_of(used), may_moderate=may)


def _thread(used: Used, place: ChannelInfo, thread_id: str) -> ThreadRef:
    home = home_of(used)
    return ThreadRef(
        platform=home.platform, workspace=home.workspace, channel=place.parent_id or place.id, thread=thread_id
    )


def _lacking(used: Used) -> Iterator[str]:
    for name, is_needed in needed():
        if is_needed and not getattr(used.app_permissions, name):
            yield NAMES.get(name) or name.replace("_", " ").title()
