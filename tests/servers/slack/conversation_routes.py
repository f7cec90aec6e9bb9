"""Calls about channels, threads and reactions."""

from __future__ import annotations

from tests.servers.slack.channels import Channel, ChannelKind
from tests.servers.slack.direct import direct_of
from tests.servers.slack.messages import Message
from tests.servers.slack.payloads import channel_payload, message_payload
from tests.servers.slack.platform import Platform
from tests.servers.slack.posting import react, unreact
from tests.servers.slack.refusals import Refusal
from tests.servers.slack.routes import MOST, TIERS, Call, Route, paged
from tests.servers.slack.shape import Json

HISTORY = {
    ChannelKind.PUBLIC: "channels:history",
    ChannelKind.PRIVATE: "groups:history",
    ChannelKind.DIRECT: "im:history",
    ChannelKind.SEVERAL: "mpim:history",
}
READING = ("channels:history", "groups:history", "im:history", "mpim:history")
ABOUT = {
    ChannelKind.PUBLIC: "channels:read",
    ChannelKind.PRIVATE: "groups:read",
    ChannelKind.DIRECT: "im:read",
    ChannelKind.SEVERAL: "mpim:read",
}
KINDS = {
    "public_channel": ChannelKind.PUBLIC,
    "private_channel": ChannelKind.PRIVATE,
    "im": ChannelKind.DIRECT,
    "mpim": ChannelKind.SEVERAL,
}


def _readable(platform: Platform, call: Call) -> Channel:
    channel = call.channel(platform)
    needed = HISTORY[channel.kind]
    if needed not in call.installation.scopes:
        raise Refusal("missing_scope", needed=needed, provided=",".join(sorted(call.installation.scopes)))
    platform.require_member(call.installation, channel)
    return channel


def _between(call: Call, found: list[Message]) -> list[Message]:
    oldest, latest = call.text("oldest") or "0", call.text("latest") or "9999999999"
    inclusive = call.flag("inclusive", default=False)
    low, high = float(oldest), float(latest)
    if inclusive:
        return [one for one in found if low <= float(one.ts) <= high]
    return [one for one in found if low < float(one.ts) < high]


def _replies(platform: Platform, call: Call) -> Json:
    """Give a thread: its root first, however many replies are asked for, and then the oldest replies that fit."""
    channel = _readable(platform, call)
    root = platform.messages.get((channel.id, call.need("ts")))
    if root is None or root.deleted or root.ephemeral:
        raise Refusal("thread_not_found")
    if root.root_ts != root.ts:
        return _page(platform, call, [root], 1)
    return _page(platform, call, [root, *_between(call, platform.replies_to(channel, root.ts))], 1)


def _history(platform: Platform, call: Call) -> Json:
    channel = _readable(platform, call)
    found = [one for one in platform.messages_in(channel) if one.root_ts == one.ts and not one.ephemeral]
    return _page(platform, call, _between(call, found)[::-1], 0)


def _page(platform: Platform, call: Call, found: list[Message], first: int) -> Json:
    start = int(call.text("cursor").removeprefix("next:") or first)
    limit = min(int(call.text("limit") or 100), MOST)
    page = [*found[:first], *found[start : start + limit - first]] if first else found[start : start + limit]
    after = start + limit - first
    has_more = after < len(found)
    metadata = call.flag("include_all_metadata", default=False)
    messages = [message_payload(platform, one, with_metadata=metadata) for one in page]
    cursor = {"response_metadata": {"next_cursor": f"next:{after}"}} if has_more else {}
    return {"messages": messages, "has_more": has_more, **cursor}


def _info(platform: Platform, call: Call) -> Json:
    return {"channel": channel_payload(call.channel(platform), call.installation.bot)}


def _conversations(platform: Platform, call: Call) -> Json:
    """Give the channels that the bot is in, of the kinds that were asked for."""
    kinds = [KINDS[name] for name in (call.text("types") or "public_channel").split(",") if name in KINDS]
    for kind in kinds:
        if ABOUT[kind] not in call.installation.scopes:
            raise Refusal("missing_scope", needed=ABOUT[kind], provided=",".join(sorted(call.installation.scopes)))
    team, bot = call.workspace(platform).team_id, call.installation.bot
    found = [one for one in platform.channels.values() if one.kind in kinds and bot.id in one.members]
    if call.flag("exclude_archived", default=False):
        found = [one for one in found if not one.is_archived]
    here = [channel_payload(one, bot) for one in found if team in (one.team_id, *one.shared_with)]
    return paged(call, "channels", here)


def _members(platform: Platform, call: Call) -> Json:
    channel = call.channel(platform)
    if (needed := ABOUT[channel.kind]) not in call.installation.scopes:
        raise Refusal("missing_scope", needed=needed, provided=",".join(sorted(call.installation.scopes)))
    return paged(call, "members", sorted(channel.members))


def _open(platform: Platform, call: Call) -> Json:
    user = platform.users.get(call.need("users"))
    if user is None or user.is_bot:
        raise Refusal("user_not_found")
    channel = direct_of(platform, call.workspace(platform), user)
    return {"channel": {"id": channel.id}, "no_op": True, "already_open": True}


def _message(platform: Platform, call: Call) -> tuple[Channel, Message]:
    channel = call.channel(platform)
    message = platform.message(channel, call.need("timestamp"))
    platform.require_member(call.installation, channel)
    if channel.is_archived:
        raise Refusal("is_archived")
    if message.root_ts in channel.locked:
        raise Refusal("thread_locked")
    return channel, message


def _react(platform: Platform, call: Call) -> Json:
    channel, message = _message(platform, call)
    react(platform, channel, message, call.need("name").strip(":"), call.installation.bot.id)
    return {}


def _unreact(platform: Platform, call: Call) -> Json:
    channel, message = _message(platform, call)
    unreact(platform, channel, message, call.need("name").strip(":"), call.installation.bot.id)
    return {}


ROUTES = (
    Route("conversations.replies", _replies, READING, TIERS[3]),
    Route("conversations.history", _history, READING, TIERS[3]),
    Route("conversations.info", _info, tuple(ABOUT.values()), TIERS[3]),
    Route("conversations.members", _members, tuple(ABOUT.values()), TIERS[4]),
    Route("users.conversations", _conversations, (), TIERS[3]),
    Route("conversations.open", _open, ("im:write",), TIERS[3]),
    Route("reactions.add", _react, ("reactions:write",), TIERS[3]),
    Route("reactions.remove", _unreact, ("reactions:write",), TIERS[2]),
)
