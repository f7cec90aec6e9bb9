"""Requests about channels and threads: reading, opening, changing, joining and deleting."""

from __future__ import annotations

from collections.abc import Iterable

from tests.servers.discord import refusals
from tests.servers.discord.channels import Channel, ChannelKind
from tests.servers.discord.checks import check_message, check_thread_name
from tests.servers.discord.message_routes import require_open, require_sending, written
from tests.servers.discord.payloads import channel_payload, thread_member_payload
from tests.servers.discord.permissions import Permission
from tests.servers.discord.platform import Platform
from tests.servers.discord.posting import tell_channel
from tests.servers.discord.routes import Call, Route
from tests.servers.discord.shape import Json
from tests.servers.discord.threads import Opening, change, close, open_in, open_on, open_post

DURATIONS = (60, 1440, 4320, 10080)
TAGS = 5


def _opening(platform: Platform, call: Call, kind: ChannelKind = ChannelKind.PUBLIC_THREAD) -> Opening:
    minutes = call.json.get("auto_archive_duration", 1440)
    if minutes not in DURATIONS:
        raise refusals.invalid_form("auto_archive_duration", "BASE_TYPE_CHOICES", f"Must be one of {DURATIONS}.")
    return Opening(
        name=check_thread_name(call.json.get("name")),
        owner_id=platform.bot.id,
        auto_archive_minutes=minutes,
        kind=kind,
        applied_tags=tuple(int(tag) for tag in call.json.get("applied_tags", ())),
        reason=call.reason,
    )


def _open_on_message(platform: Platform, call: Call) -> Json:
    channel = platform.channel(call.id("channel"))
    message = platform.message(channel, call.id("message"))
    if channel.kind is not ChannelKind.TEXT:
        raise refusals.wrong_channel_type()
    platform.require(channel, Permission.CREATE_PUBLIC_THREADS)
    return channel_payload(platform, open_on(platform, message, _opening(platform, call)))


def _open(platform: Platform, call: Call) -> Json:
    channel = platform.channel(call.id("channel"))
    if channel.kind is ChannelKind.FORUM:
        return _open_post(platform, channel, call)
    if channel.kind is not ChannelKind.TEXT:
        raise refusals.wrong_channel_type()
    kind = ChannelKind(call.json.get("type", ChannelKind.PRIVATE_THREAD))
    is_public = kind is ChannelKind.PUBLIC_THREAD
    platform.require(channel, Permission.CREATE_PUBLIC_THREADS if is_public else Permission.CREATE_PRIVATE_THREADS)
    return channel_payload(platform, open_in(platform, channel, _opening(platform, call, kind)))


def _open_post(platform: Platform, forum: Channel, call: Call) -> Json:
    platform.require(forum, Permission.SEND_MESSAGES)
    opening = _opening(platform, call)
    _check_tags(platform, forum, opening.applied_tags)
    body: Json = call.json.get("message") or {}
    check_message(body, files=call.files)
    thread, message = open_post(platform, forum, opening, body)
    return {**channel_payload(platform, thread), "message": written(platform, message)}


def _check_tags(platform: Platform, forum: Channel, tags: tuple[int, ...], before: Iterable[int] = ()) -> None:
    if forum.requires_tag and not tags:
        raise refusals.tag_required()
    if len(tags) > TAGS:
        raise refusals.bad_length("applied_tags", 0, TAGS)
    if not set(tags) <= set(forum.tags):
        raise refusals.invalid_form("applied_tags", "UNKNOWN_TAG", "Unknown tag")
    if forum.moderated_tags & (set(tags) ^ set(before)):
        platform.require(forum, Permission.MANAGE_THREADS)


def _get(platform: Platform, call: Call) -> Json:
    return channel_payload(platform, platform.channel(call.id("channel")))


def _change(platform: Platform, call: Call) -> Json:
    channel = platform.channel(call.id("channel"))
    if not channel.is_thread:
        platform.require(channel, Permission.MANAGE_CHANNELS)
        channel.name = str(call.json.get("name", channel.name))
        tell_channel(platform, "CHANNEL_UPDATE", channel)
        return channel_payload(platform, channel)
    _check_change(platform, channel, call.json)
    change(platform, channel, call.json)
    channel.reason = call.reason
    return channel_payload(platform, channel)


def _check_change(platform: Platform, thread: Channel, changes: Json) -> None:
    """Raise the right `Refusal` unless the bot may change a thread so; its own ones it may, but not lock."""
    locks = "locked" in changes and bool(changes["locked"]) != thread.locked
    if locks or thread.locked or thread.owner_id != platform.bot.id:
        platform.require(thread, Permission.MANAGE_THREADS)
    if thread.archived and changes.get("archived") is not False:
        raise refusals.archived()
    if "name" in changes:
        check_thread_name(changes["name"])
    if "applied_tags" in changes and thread.parent_id is not None:
        forum = platform.channels[thread.parent_id]
        _check_tags(platform, forum, tuple(map(int, changes["applied_tags"])), thread.applied_tags)


def _delete(platform: Platform, call: Call) -> Json:
    channel = platform.channel(call.id("channel"))
    if channel.guild_id is not None:
        platform.require(channel, Permission.MANAGE_THREADS if channel.is_thread else Permission.MANAGE_CHANNELS)
    if not channel.is_thread:
        raise refusals.missing_permissions()
    close(platform, channel)
    return channel_payload(platform, channel)


def _thread(platform: Platform, call: Call) -> Channel:
    channel = platform.channel(call.id("channel"))
    if not channel.is_thread:
        raise refusals.wrong_channel_type()
    require_open(channel)
    return channel


def _join(platform: Platform, call: Call) -> None:
    thread = _thread(platform, call)
    if platform.bot.id not in thread.joined:
        thread.joined.add(platform.bot.id)
        tell_channel(platform, "THREAD_CREATE", thread)


def _leave(platform: Platform, call: Call) -> None:
    _thread(platform, call).joined.discard(platform.bot.id)


def _listed(platform: Platform, threads: list[Channel]) -> Json:
    members = [thread_member_payload(thread, platform.bot) for thread in threads if platform.bot.id in thread.joined]
    return {"threads": [channel_payload(platform, one) for one in threads], "members": members, "has_more": False}


def _active(platform: Platform, call: Call) -> Json:
    guild = platform.guild(call.id("guild"))
    threads = [thread for channel in platform.channels_of(guild) for thread in platform.threads_in(channel)]
    return _listed(platform, [thread for thread in threads if not thread.archived])


def _archived(platform: Platform, call: Call) -> Json:
    channel = platform.channel(call.id("channel"))
    platform.require(channel, Permission.READ_MESSAGE_HISTORY)
    return _listed(platform, [thread for thread in platform.threads_in(channel) if thread.archived])


def _open_dm(platform: Platform, call: Call) -> Json:
    user = platform.users.get(int(call.json.get("recipient_id", 0)))
    if user is None or user.bot:
        raise refusals.unknown_user()
    channel = platform.dm_of(user)
    if user.refuses_dms:
        require_sending(platform, channel)
    return channel_payload(platform, channel)


ROUTES = (
    Route("POST /channels/{channel}/messages/{message}/threads", _open_on_message, status=201),
    Route("POST /channels/{channel}/threads", _open, status=201),
    Route("GET /channels/{channel}", _get),
    Route("PATCH /channels/{channel}", _change),
    Route("DELETE /channels/{channel}", _delete),
    Route("PUT /channels/{channel}/thread-members/@me", _join),
    Route("DELETE /channels/{channel}/thread-members/@me", _leave),
    Route("GET /guilds/{guild}/threads/active", _active),
    Route("GET /channels/{channel}/threads/archived/public", _archived),
    Route("POST /users/@me/channels", _open_dm),
)
