"""What happens to messages, whoever does it: they come, change, get reactions and go, and sessions are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.servers.discord.channels import Channel
from tests.servers.discord.intents import Intent, about_messages, about_reactions
from tests.servers.discord.mentions import DEFAULT, Allowance, Pings, allowance_of, pings_of
from tests.servers.discord.messages import (
    COMMAND_ANSWER,
    COMPONENTS_V2,
    LOADING,
    REPLY,
    STARTER,
    SUPPRESS_EMBEDS,
    Edit,
    Message,
)
from tests.servers.discord.payloads import channel_payload, is_there, member_payload, message_payload
from tests.servers.discord.permissions import Permission
from tests.servers.discord.platform import Event, Platform
from tests.servers.discord.refusals import too_many_reactions
from tests.servers.discord.shape import Json
from tests.servers.uploads import Upload

REACTIONS = 20
EDITABLE = SUPPRESS_EMBEDS | COMPONENTS_V2  # of the flags


@dataclass(frozen=True, slots=True)
class Marks:
    """What a message is beside its text: by whom, in answer to what, for whom."""

    author_id: int
    reply_to: Message | None = None
    starter_of: Message | None = None
    interaction_id: int | None = None
    webhook_id: int | None = None
    seen_by: int | None = None
    id: int | None = None
    files: tuple[str, ...] = ()
    uploads: tuple[Upload, ...] = ()
    forwarded: Message | None = None
    default: Allowance = field(default=DEFAULT)


def create(platform: Platform, channel: Channel, body: Json, marks: Marks) -> Message:
    """Post a message; one that only one person sees is told to no session."""
    source = marks.reply_to or marks.starter_of
    message = Message(
        id=marks.id or platform.new_id(),
        channel_id=channel.id,
        guild_id=channel.guild_id,
        author_id=marks.author_id,
        content=str(body.get("content") or ""),
        at=platform.clock.now(),
        kind=_kind(marks),
        nonce=None if body.get("nonce") is None else str(body["nonce"]),
        flags=int(body.get("flags") or 0),
        embeds=list(body.get("embeds") or []),
        components=list(body.get("components") or []),
        allowed_mentions=body.get("allowed_mentions"),
        files=marks.files,
        uploads=marks.uploads,
        forwarded=marks.forwarded,
        reference=None if source is None else (source.channel_id, source.id),
        interaction_id=marks.interaction_id,
        webhook_id=marks.webhook_id,
        seen_by=marks.seen_by,
    )
    message.pings = message.mentioned = _pings(platform, message, body.get("allowed_mentions"), marks.default)
    platform.add(message)
    _unarchive(platform, channel)
    tell(platform, "MESSAGE_CREATE", message)
    return message


def _kind(marks: Marks) -> int:
    if marks.reply_to is not None:
        return REPLY
    if marks.starter_of is not None:
        return STARTER
    return COMMAND_ANSWER if marks.interaction_id is not None else 0


def edit(platform: Platform, message: Message, body: Json, default: Allowance = DEFAULT) -> None:
    """Change what the body names, and keep the rest; mentions that it does not restrict count as by *default*."""
    if "content" in body:
        message.content = str(body["content"] or "")
        message.flags &= ~LOADING  # what was still to come is there
    message.embeds = list(body.get("embeds", message.embeds) or [])
    message.components = list(body.get("components", message.components) or [])
    if body.get("flags") is not None:
        kept = message.flags & ~EDITABLE
        message.flags = kept | (int(body["flags"]) & EDITABLE)
    allowed = body.get("allowed_mentions")
    message.mentioned = _pings(platform, message, allowed, default)
    message.edits.append(Edit(message.content, message.flags, allowed, message.mentioned, platform.clock.now()))
    tell(platform, "MESSAGE_UPDATE", message)


def delete(platform: Platform, *messages: Message) -> None:
    """Remove messages; several at once are one event."""
    for message in messages:
        message.deleted = True
    first = messages[0]
    data: Json = {"channel_id": str(first.channel_id), **_guild(first)}
    if first.seen_by is None and len(messages) == 1:
        event = Event("MESSAGE_DELETE", {**data, "id": str(first.id)}, first.guild_id, about_messages(first.guild_id))
        platform.tell(event)
    elif first.seen_by is None:
        ids = {**data, "ids": [str(message.id) for message in messages]}
        platform.tell(Event("MESSAGE_DELETE_BULK", ids, first.guild_id, about_messages(first.guild_id)))


def react(platform: Platform, message: Message, emoji: str, user_id: int) -> None:
    """Put a reaction on a message; the same one twice is one. Raises `Refusal`."""
    if emoji not in message.reactions and len(message.reactions) >= REACTIONS:
        raise too_many_reactions()
    who = message.reactions.setdefault(emoji, [])
    if user_id not in who:
        who.append(user_id)
        _tell_reaction(platform, "MESSAGE_REACTION_ADD", message, emoji, user_id)


def unreact(platform: Platform, message: Message, emoji: str, user_id: int) -> None:
    """Take a reaction back."""
    who = message.reactions.get(emoji, [])
    if user_id in who:
        who.remove(user_id)
        if not who:
            del message.reactions[emoji]
        _tell_reaction(platform, "MESSAGE_REACTION_REMOVE", message, emoji, user_id)


def tell(platform: Platform, name: str, message: Message) -> None:
    """Tell the sessions what a message is now, each as much as it may read; nothing of where the bot is not."""
    place = platform.channels.get(message.channel_id)
    if message.seen_by is not None or (place is not None and not is_there(platform, place)):
        return
    beside = _guild(message)
    if message.guild_id is not None:
        guild = platform.guilds[message.guild_id]
        author = platform.users[message.author_id]
        beside["member"] = member_payload(guild, author, with_user=False)
    data = {**message_payload(platform, message), **beside}
    blank = {**message_payload(platform, message, blank=True), **beside}
    platform.tell(Event(name, data, message.guild_id, about_messages(message.guild_id), blank))


def _tell_reaction(platform: Platform, name: str, message: Message, emoji: str, user_id: int) -> None:
    data: Json = {
        "user_id": str(user_id),
        "channel_id": str(message.channel_id),
        "message_id": str(message.id),
        "message_author_id": str(message.author_id),
        "emoji": {"id": None, "name": emoji, "animated": False},
        "burst": False,
        "type": 0,
        **_guild(message),
    }
    platform.tell(Event(name, data, message.guild_id, about_reactions(message.guild_id)))


def _pings(platform: Platform, message: Message, allowed: Json | None, default: Allowance) -> Pings:
    channel = platform.channels[message.channel_id]
    replied = platform.messages.get(message.reference[1]) if message.reference and message.kind == REPLY else None
    return pings_of(
        message.content,
        allowance_of(allowed, default),
        platform.guilds.get(message.guild_id or 0),
        may_ping_all=Permission.MENTION_EVERYONE in platform.permissions(message.author_id, channel),
        replied=None if replied is None else replied.author_id,
    )


def _unarchive(platform: Platform, channel: Channel) -> None:
    if channel.archived:
        channel.archived = False
        tell_channel(platform, "THREAD_UPDATE", channel)


def tell_channel(platform: Platform, name: str, channel: Channel, **more: Any) -> None:
    """Tell the sessions what a channel is now."""
    data = {**channel_payload(platform, channel), **more}
    platform.tell(Event(name, data, channel.guild_id, Intent.GUILDS))


def _guild(message: Message) -> Json:
    return {} if message.guild_id is None else {"guild_id": str(message.guild_id)}
