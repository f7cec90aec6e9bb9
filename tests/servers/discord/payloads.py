"""How the platform writes what it knows: the JSON of requests' answers and of events."""

from __future__ import annotations

from datetime import datetime

from tests.servers.discord.channels import Channel, ChannelKind
from tests.servers.discord.guilds import Guild, Member, Role, User
from tests.servers.discord.interactions import Asked, Interaction
from tests.servers.discord.messages import Message
from tests.servers.discord.permissions import Permission
from tests.servers.discord.platform import Platform
from tests.servers.discord.shape import Json

JOINED = "2026-01-01T12:00:00+00:00"
FILE_LIMIT = 10 * 1024 * 1024
EVERYTHING = (1 << 50) - 1


def user_payload(user: User) -> Json:
    """Write a user."""
    return {
        "id": str(user.id),
        "username": user.name,
        "discriminator": "0000" if user.bot else "0",
        "global_name": None if user.bot else user.name,
        "avatar": None,
        "bot": user.bot,
        "public_flags": 0,
    }


def member_payload(guild: Guild, user: User, *, with_user: bool = True) -> Json:
    """Write a member; in messages the user stands beside it."""
    found = guild.members.get(user.id, Member(user))
    member: Json = {
        "roles": [str(role) for role in sorted(found.roles)],
        "nick": None,
        "avatar": None,
        "joined_at": found.joined_at,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": found.pending,
    }
    return {**member, "user": user_payload(user)} if with_user else member


def role_payload(role: Role, position: int) -> Json:
    """Write a role."""
    return {
        "id": str(role.id),
        "name": role.name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "position": position,
        "permissions": _bits(role.permissions),
        "managed": False,
        "mentionable": role.mentionable,
        "flags": 0,
    }


def channel_payload(platform: Platform, channel: Channel) -> Json:
    """Write a channel of any kind."""
    if channel.kind is ChannelKind.DM:
        recipient = platform.users[channel.recipient_id or 0]
        return {"id": str(channel.id), "type": 1, "last_message_id": None, "recipients": [user_payload(recipient)]}
    whole: Json = {
        "id": str(channel.id),
        "type": int(channel.kind),
        "guild_id": str(channel.guild_id),
        "name": channel.name,
        "parent_id": str(channel.parent_id) if channel.parent_id else None,
        "last_message_id": _newest(platform, channel),
        "rate_limit_per_user": 0,
        "flags": 1 << 4 if channel.requires_tag else 0,
    }
    return {**whole, **(_thread_parts(platform, channel) if channel.is_thread else _place_parts(platform, channel))}


def _newest(platform: Platform, channel: Channel) -> str | None:
    """Give the last message's id, also of one that is gone; of a forum, the id of its last post."""
    posts = [thread.id for thread in platform.threads_in(channel)] if channel.kind is ChannelKind.FORUM else []
    return str(max(posts)) if posts else platform.last_in(channel)


def _place_parts(platform: Platform, channel: Channel) -> Json:
    overwrites = [
        {
            "id": str(key),
            "type": 1 if key in platform.users else 0,
            "allow": _bits(overwrite.allow),
            "deny": _bits(overwrite.deny),
        }
        for key, overwrite in channel.overwrites.items()
    ]
    parts: Json = {"position": 0, "permission_overwrites": overwrites, "topic": None, "nsfw": False}
    if channel.kind is ChannelKind.VOICE:
        return {**parts, "bitrate": 64_000, "user_limit": 0, "rtc_region": None}
    if channel.kind is not ChannelKind.FORUM:
        return parts
    tags = [
        {"id": str(key), "name": name, "moderated": key in channel.moderated_tags, "emoji_id": None, "emoji_name": None}
        for key, name in channel.tags.items()
    ]
    return {**parts, "available_tags": tags, "default_reaction_emoji": None, "default_forum_layout": 0}


def _thread_parts(platform: Platform, thread: Channel) -> Json:
    metadata: Json = {
        "archived": thread.archived,
        "auto_archive_duration": thread.auto_archive_minutes,
        "archive_timestamp": platform.clock.now().isoformat(),
        "locked": thread.locked,
        "create_timestamp": JOINED,
    }
    parts: Json = {
        "owner_id": str(thread.owner_id),
        "thread_metadata": metadata,
        "message_count": len(platform.messages_in(thread)),
        "total_message_sent": platform.sent_to(thread),
        "member_count": len(thread.joined),
        "applied_tags": [str(tag) for tag in thread.applied_tags],
    }
    if platform.bot.id in thread.joined:
        parts["member"] = thread_member_payload(thread, platform.bot)
    return parts


def thread_member_payload(thread: Channel, user: User) -> Json:
    """Write that somebody is in a thread."""
    return {"id": str(thread.id), "user_id": str(user.id), "join_timestamp": JOINED, "flags": 0}


def guild_payload(platform: Platform, guild: Guild) -> Json:
    """Write a guild as a session is told of it: with its channels and the threads that are not archived."""
    channels = list(platform.channels_of(guild))
    threads = [thread for channel in channels for thread in platform.threads_in(channel) if not thread.archived]
    empty = ("emojis", "stickers", "features", "voice_states", "presences", "stage_instances", "soundboard_sounds")
    return {
        **{name: [] for name in (*empty, "guild_scheduled_events")},
        "id": str(guild.id),
        "name": guild.name,
        "owner_id": str(guild.owner_id),
        "roles": [role_payload(role, place) for place, role in enumerate(guild.roles.values())],
        "channels": [channel_payload(platform, channel) for channel in channels],
        "threads": [channel_payload(platform, thread) for thread in threads],
        "members": [member_payload(guild, platform.bot)],
        "member_count": len(guild.members),
        "joined_at": JOINED,
        "large": False,
        "unavailable": False,
        "preferred_locale": "en-US",
        "public_updates_channel_id": str(guild.updates_channel_id) if guild.updates_channel_id else None,
    }


def message_payload(platform: Platform, message: Message, *, blank: bool = False, nested: bool = False) -> Json:
    """Write a message; a *blank* one shows what a bot without the intent may read of it."""
    hidden = blank and not platform.is_readable(message)
    mentioned = message.mentioned
    whole: Json = {
        "id": str(message.id),
        "channel_id": str(message.channel_id),
        "type": message.kind,
        "author": user_payload(platform.users[message.author_id]),
        "content": "" if hidden else message.content,
        "timestamp": message.at.isoformat(),
        "edited_timestamp": _moment(message.edited_at),
        "tts": False,
        "pinned": False,
        "mention_everyone": mentioned.everyone,
        "mentions": [user_payload(platform.users[user]) for user in sorted(mentioned.users) if user in platform.users],
        "mention_roles": [str(role) for role in sorted(mentioned.roles)],
        "attachments": [] if hidden else _attachments(platform, message),
        "embeds": [] if hidden else message.embeds,
        "components": [] if hidden else message.components,
        "flags": message.flags,
    }
    forward = _forward(platform, message.forwarded) if message.forwarded is not None and not hidden else {}
    return {**whole, **forward, **_extras(platform, message, blank=blank, nested=nested)}


def _forward(platform: Platform, message: Message) -> Json:
    about = {"channel_id": str(message.channel_id), "message_id": str(message.id)}
    return {"message_reference": {"type": 1, **about}, "message_snapshots": [_snapshot(platform, message)]}


def _extras(platform: Platform, message: Message, *, blank: bool, nested: bool) -> Json:
    extras: Json = {}
    if message.nonce is not None:
        extras["nonce"] = message.nonce
    if message.webhook_id is not None:
        extras |= {"webhook_id": str(message.webhook_id), "application_id": str(message.webhook_id)}
    if message.reactions:
        extras["reactions"] = [_reaction_payload(platform, emoji, who) for emoji, who in message.reactions.items()]
    if message.interaction_id is not None:
        extras["interaction_metadata"] = _metadata(platform, platform.interactions[message.interaction_id])
    if message.thread_id in platform.channels:
        extras["thread"] = channel_payload(platform, platform.channels[message.thread_id])
    if message.reference is not None:
        channel_id, message_id = message.reference
        extras["message_reference"] = {"type": 0, "channel_id": str(channel_id), "message_id": str(message_id)}
        replied = platform.messages.get(message_id)
        if not nested:
            there = replied is not None and not replied.deleted
            shown = message_payload(platform, replied, blank=blank, nested=True) if replied and there else None
            extras["referenced_message"] = shown
    return extras


def _attachments(platform: Platform, message: Message) -> list[Json]:
    names = [(name, 1, None) for name in message.files]
    names += [(upload.name, len(upload.body), upload.kind) for upload in message.uploads]
    return [_file_payload(platform, message, *each) for each in names]


def _file_payload(platform: Platform, message: Message, name: str, size: int, kind: str | None) -> Json:
    url = f"{platform.cdn}/attachments/{message.channel_id}/{message.id}/{name}?{platform.signature()}"
    beside = {} if kind is None else {"content_type": kind}
    return {"id": str(message.id), "filename": name, "size": size, "url": url, "proxy_url": url, **beside}


def _snapshot(platform: Platform, message: Message) -> Json:
    """Write what a forward shows of a message: what it says, and not who wrote it."""
    whole = message_payload(platform, message, nested=True)
    kept = ("type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags", "mentions")
    return {"message": {name: whole[name] for name in (*kept, "mention_roles", "components")}}


def _reaction_payload(platform: Platform, emoji: str, who: list[int]) -> Json:
    count = {"burst": 0, "normal": len(who)}
    me = platform.bot.id in who
    return {
        "emoji": {"id": None, "name": emoji},
        "count": len(who),
        "count_details": count,
        "me": me,
        "me_burst": False,
    }


def _metadata(platform: Platform, interaction: Interaction) -> Json:
    return {
        "id": str(interaction.id),
        "type": int(interaction.kind),
        "user": user_payload(platform.users[interaction.user_id]),
        "authorizing_integration_owners": {},
    }


def is_there(platform: Platform, channel: Channel) -> bool:
    """Say whether the bot is in a channel's guild, or in the direct messages."""
    guild = platform.guilds.get(channel.guild_id or 0)
    return not channel.is_private if guild is None else platform.bot.id in guild.members


def is_brought_along(platform: Platform, interaction: Interaction) -> bool:
    """Say whether the bot is not there, so that only somebody who has installed it for themselves can use it."""
    return not is_there(platform, platform.channels[interaction.channel_id])


def context_of(channel: Channel) -> int:
    """Give the kind of place that a channel is: of a guild, between somebody and the bot, or between people."""
    return 0 if channel.guild_id is not None else 2 if channel.is_private else 1


def is_offered(platform: Platform, command: Json, user: User, channel: Channel) -> bool:
    """Say whether Discord shows somebody a command in a channel: by where the bot is, and who has installed it."""
    types: list[int] = command.get("integration_types") or [0]
    installed = (0 in types and is_there(platform, channel)) or (1 in types and user.id in platform.installed_by)
    return installed and context_of(channel) in (command.get("contexts") or (0, 1, 2))


def _owners(platform: Platform, interaction: Interaction) -> Json:
    """Name by whom the bot was installed for what somebody uses: a guild, or direct messages with it, or themselves."""
    owners: Json = {}
    if not is_brought_along(platform, interaction):
        owners["0"] = str(interaction.guild_id or 0)
    if interaction.user_id in platform.installed_by:
        owners["1"] = str(interaction.user_id)
    return owners


def interaction_payload(platform: Platform, interaction: Interaction) -> Json:
    """Write an interaction as the bot is told of it: with what everybody involved may do."""
    channel = platform.channels[interaction.channel_id]
    user = platform.users[interaction.user_id]
    whole: Json = {
        "id": str(interaction.id),
        "application_id": str(platform.bot.id),
        "type": int(interaction.kind),
        "token": interaction.token,
        "version": 1,
        "data": interaction.data,
        "channel_id": str(channel.id),
        "channel": {**channel_payload(platform, channel), "permissions": str(EVERYTHING)},
        "app_permissions": _bits(platform.permissions(platform.bot.id, channel)),
        "locale": "en-US",
        "entitlements": [],
        "authorizing_integration_owners": _owners(platform, interaction),
        "context": context_of(channel),
        "attachment_size_limit": FILE_LIMIT,
    }
    if interaction.kind is not Asked.COMMAND and interaction.message_id is not None:
        whole["message"] = message_payload(platform, platform.messages[interaction.message_id])
    if interaction.guild_id is None:
        return {**whole, "user": user_payload(user)}
    guild = platform.guilds[interaction.guild_id]
    member = {**member_payload(guild, user), "permissions": _bits(platform.permissions(user.id, channel))}
    about: Json = {"id": str(guild.id), "locale": "en-US", "features": []}
    return {**whole, "guild_id": str(guild.id), "guild": about, "guild_locale": "en-US", "member": member}


def application_payload(platform: Platform) -> Json:
    """Write the bot's application."""
    return {
        "id": str(platform.bot.id),
        "name": platform.bot.name,
        "icon": None,
        "description": "",
        "bot_public": True,
        "bot_require_code_grant": False,
        "owner": user_payload(platform.owner),
        "verify_key": "0" * 64,
        "flags": 1 << 19 if platform.message_content else 0,
        "approximate_guild_count": sum(platform.bot.id in guild.members for guild in platform.guilds.values()),
        "install_params": {"scopes": ["bot", "applications.commands"], "permissions": "0"},
        "team": None,
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _bits(permissions: Permission) -> str:
    return str(int(permissions) & EVERYTHING)
