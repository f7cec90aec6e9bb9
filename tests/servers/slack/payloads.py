"""Messages, people and channels, in the forms in which they go over the socket."""

from __future__ import annotations

import html
import re

from tests.servers.slack.channels import Channel, ChannelKind
from tests.servers.slack.messages import Message
from tests.servers.slack.platform import Platform
from tests.servers.slack.shape import Json
from tests.servers.slack.users import User

TOKEN = re.compile(r"<([^<>]+)>")
COLUMNS = {"@": ("user", "user_id"), "#": ("channel", "channel_id")}


def message_payload(platform: Platform, message: Message, *, with_metadata: bool = True) -> Json:
    """Give a message as the history shows it."""
    if message.is_tombstone:
        return _tombstone(message)
    payload: Json = {
        "type": "message",
        "user": message.user_id,
        "text": message.text or message.markdown,
        "ts": message.ts,
        "team": message.team_id,
        "blocks": _blocks_of(message),
    }
    if message.bot_id is not None:
        payload |= {"bot_id": message.bot_id, "app_id": message.app_id}
    for name in ("subtype", "client_msg_id", "attachments", "files", "edited"):
        if getattr(message, name):
            payload[name] = getattr(message, name)
    if with_metadata and message.metadata is not None:
        payload["metadata"] = message.metadata
    return payload | _place(platform, message) | _thread(platform, message) | _reactions(message)


def _place(platform: Platform, message: Message) -> Json:
    if message.thread_ts is None:
        return {}
    root = platform.messages.get((message.channel_id, message.thread_ts))
    is_reply = root is not None and message.thread_ts != message.ts
    return {"thread_ts": message.thread_ts, **({"parent_user_id": root.user_id} if root and is_reply else {})}


def event_payload(platform: Platform, message: Message, channel: Channel) -> Json:
    """Give a message as an event tells of it."""
    whole = message_payload(platform, message, with_metadata=message.bot_id is not None)
    dropped = ("reply_count", "reply_users_count", "reply_users", "latest_reply", "reactions", "edited", "is_locked")
    told = {name: value for name, value in whole.items() if name not in dropped}
    beside: Json = {"channel": channel.id, "event_ts": message.ts, "channel_type": channel.kind.value}
    if channel.shared_with:
        author = platform.users[message.user_id]
        beside |= {"user_team": author.team_id, "source_team": author.team_id}
        beside["user_profile"] = platform.profile_of(author)
    return told | beside


def user_payload(user: User, team_id: str = "") -> Json:
    """Give somebody as `users.info` does in a workspace."""
    return {
        "id": user.id,
        "team_id": user.team_id,
        "name": user.name,
        "deleted": user.deleted,
        "real_name": user.name.title(),
        "tz": "Europe/Amsterdam",
        "profile": {"real_name": user.name.title(), "display_name": user.name, "team": user.team_id},
        "is_admin": user.is_admin,
        "is_owner": user.is_owner,
        "is_primary_owner": False,
        "is_restricted": user.is_restricted or team_id in user.guest_in,
        "is_ultra_restricted": user.is_ultra_restricted,
        "is_bot": user.is_bot,
        "is_app_user": False,
        "updated": 1,
        **({"is_stranger": True} if user.is_stranger else {}),
        **({"enterprise_user": _in_organization(user)} if user.enterprise_id else {}),
    }


def _in_organization(user: User) -> Json:
    return {"id": user.id, "enterprise_id": user.enterprise_id, "teams": sorted({user.team_id, *user.teams})}


def channel_payload(channel: Channel, viewer: User) -> Json:
    """Give a channel as `conversations.info` does."""
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": channel.kind is ChannelKind.PUBLIC,
        "is_group": channel.kind in (ChannelKind.PRIVATE, ChannelKind.SEVERAL),
        "is_im": channel.is_direct,
        "is_mpim": channel.kind is ChannelKind.SEVERAL,
        "is_private": channel.kind is not ChannelKind.PUBLIC,
        "is_archived": channel.is_archived,
        "is_member": viewer.id in channel.members,
        "is_ext_shared": bool(channel.shared_with),
        "is_org_shared": channel.is_org_shared,
        "is_shared": bool(channel.shared_with) or channel.is_org_shared,
        "context_team_id": channel.team_id,
        "shared_team_ids": [channel.team_id, *sorted(channel.shared_with)],
        **({"user": next(iter(channel.members - {viewer.id}), "")} if channel.is_direct else {}),
    }


def rich_text(text: str) -> list[Json]:
    """Give the block that a client sends for what somebody typed, given in the escaped form."""
    elements: list[Json] = []
    for place, part in enumerate(TOKEN.split(text)):
        if place % 2:
            elements.append(_token(part))
        elif part:
            elements.append({"type": "text", "text": html.unescape(part)})
    section: Json = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "block_id": "typed", "elements": [section]}]


def _token(inner: str) -> Json:
    name, _, label = inner[1:].partition("|")
    if inner[0] in COLUMNS:
        kind, column = COLUMNS[inner[0]]
        return {"type": kind, column: name}
    if inner.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": name.removeprefix("subteam^")}
    if inner.startswith("!"):
        return {"type": "broadcast", "range": name}
    url, _, label = inner.partition("|")
    return {"type": "link", "url": html.unescape(url), **({"text": label} if label else {})}


def _blocks_of(message: Message) -> list[Json]:
    if message.markdown:
        return [{"type": "markdown", "block_id": "streamed", "text": message.markdown}, *message.blocks]
    return message.blocks or (rich_text(message.text) if message.text else [])


def _tombstone(message: Message) -> Json:
    return {
        "type": "message",
        "subtype": "tombstone",
        "text": "This message was deleted.",
        "user": "USLACKBOT",
        "hidden": True,
        "ts": message.ts,
        "thread_ts": message.ts,
    }


def _thread(platform: Platform, message: Message) -> Json:
    if message.root_ts != message.ts:
        return {}
    replies = platform.replies_to(platform.channels[message.channel_id], message.ts)
    if not replies:
        return {}
    users = list(dict.fromkeys(reply.user_id for reply in replies))
    return {
        "thread_ts": message.ts,
        "reply_count": len(replies),
        "reply_users_count": len(users),
        "reply_users": users,
        "latest_reply": replies[-1].ts,
        "is_locked": message.ts in platform.channels[message.channel_id].locked,
    }


def _reactions(message: Message) -> Json:
    if not message.reactions:
        return {}
    return {
        "reactions": [{"name": name, "users": users, "count": len(users)} for name, users in message.reactions.items()]
    }
