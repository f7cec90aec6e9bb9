"""Where a message stands, as the client knows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from discord import AutoShardedClient, ForumChannel, Guild, InvalidData, Thread
from discord.abc import GuildChannel

from adapters.discord.client.poster import translated
from adapters.discord.inbound.event import Json, Place
from adapters.discord.inbound.permissions import Rights, rights_in
from core.errors import PostingFailed

DIRECT = 1  # the type of a channel between the bot and one person

_NAMED = re.compile(r"<(?:@&|#)(\d{1,20})>")


@dataclass(frozen=True, slots=True)
class Scene:
    """A place as events are read with, and what the client knows of it: nothing of direct messages."""

    place: Place
    channel: GuildChannel | Thread | None = None

    @property
    def rights(self) -> Rights:
        """What the bot may do here."""
        return rights_in(self.channel) if self.channel is not None else Rights()

    @property
    def parent_id(self) -> str:
        """The channel whose permissions count: of a thread, the one that it lies in."""
        return self.place.parent_id or self.place.id

    def is_thread_of(self, user_id: str) -> bool:
        """Say whether somebody has opened this thread."""
        return isinstance(self.channel, Thread) and str(self.channel.owner_id) == user_id

    def is_post_of(self, message_id: str) -> bool:
        """Say whether a message is the first one of a forum post, which has its id."""
        return _is_post(self.channel) and self.place.id == message_id

    def is_post_by(self, user_id: str) -> bool:
        """Say whether this is a forum post of somebody's."""
        return _is_post(self.channel) and self.is_thread_of(user_id)


def known_channel(client: AutoShardedClient, data: Json) -> GuildChannel | Thread | None:
    """Give the channel of an event, if the client has it."""
    guild = guild_of(client, data)
    return guild.get_channel_or_thread(int(data["channel_id"])) if guild else None


def guild_of(client: AutoShardedClient, data: Json) -> Guild | None:
    """Give the guild of an event; None for direct messages, and for guilds that are not known."""
    return client.get_guild(int(data["guild_id"])) if data.get("guild_id") else None


async def scene_of(client: AutoShardedClient, data: Json) -> Scene | None:
    """Say where an event happened; None where the bot may not look. Threads that were archived are asked for."""
    channel_id = str(data["channel_id"])
    if not data.get("guild_id"):
        return Scene(Place(channel_id, DIRECT))
    channel = known_channel(client, data) or await _fetched(client, int(channel_id))
    if channel is None:
        return None
    names = dict(_names(channel, str(data.get("content") or "")))
    parent = str(channel.parent_id) if isinstance(channel, Thread) else ""
    is_first = _is_post(channel) and channel_id == str(data.get("id"))
    title = " ".join(channel.name.split()) if is_first else ""
    return Scene(Place(channel_id, channel.type.value, parent, names, title), channel)


def _is_post(channel: GuildChannel | Thread | None) -> bool:
    return isinstance(channel, Thread) and isinstance(channel.parent, ForumChannel)


async def _fetched(client: AutoShardedClient, channel_id: int) -> GuildChannel | Thread | None:
    try:
        channel = await translated(client.fetch_channel(channel_id))
    except (PostingFailed, InvalidData):
        return None  # a place that the bot may not see, or of a kind that nobody knows yet
    return channel if isinstance(channel, GuildChannel | Thread) else None


def _names(channel: GuildChannel | Thread, content: str) -> Iterator[tuple[str, str]]:
    """Give the names of the roles and channels that a text speaks of."""
    for named in _NAMED.findall(content):
        found = channel.guild.get_role(int(named)) or channel.guild.get_channel_or_thread(int(named))
        if found is not None:
            yield named, found.name
