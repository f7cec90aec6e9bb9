"""Requests about messages: posting, editing, deleting, reading, reacting and typing."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

from tests.servers.discord import refusals
from tests.servers.discord.channels import Channel, ChannelKind
from tests.servers.discord.checks import check_message
from tests.servers.discord.messages import Message
from tests.servers.discord.payloads import message_payload, user_payload
from tests.servers.discord.permissions import Permission
from tests.servers.discord.platform import Platform, Typing
from tests.servers.discord.posting import Marks, create, delete, edit, react, unreact
from tests.servers.discord.routes import Call, Route
from tests.servers.discord.shape import Json

MOST = 100
NONCES_LIVE = 300.0  # seconds: "the past few minutes"
OLD = 3600.0
OLDEST_IN_BULK = 14 * 86400.0


def written(platform: Platform, message: Message) -> Json:
    """Write a message as a request's answer: without the intent, what the bot may not read is blank here too."""
    return message_payload(platform, message, blank=not platform.message_content)


def require_sending(platform: Platform, channel: Channel, *more: Permission) -> None:
    """Raise the right `Refusal` unless the bot may write in a channel."""
    if channel.kind is ChannelKind.FORUM:
        raise refusals.not_a_text_channel()
    recipient = platform.users.get(channel.recipient_id or 0)
    if recipient is not None and recipient.refuses_dms:
        raise refusals.refuses_dms()
    sending = Permission.SEND_MESSAGES_IN_THREADS if channel.is_thread else Permission.SEND_MESSAGES
    platform.require(channel, sending, *more)
    if channel.locked and Permission.MANAGE_THREADS not in platform.permissions(platform.bot.id, channel):
        raise refusals.thread_locked()


def require_open(channel: Channel) -> None:
    """Raise the right `Refusal` if a thread is archived."""
    if channel.archived:
        raise refusals.archived()


def _create(platform: Platform, call: Call) -> Json:
    channel = platform.channel(call.id("channel"))
    require_sending(platform, channel, *([Permission.ATTACH_FILES] if call.files else []))
    body = call.json
    check_message(body, files=call.files)
    before = _posted_before(platform, channel, body)
    if before is not None:
        if before.deleted:
            raise refusals.unknown_message()
        return written(platform, before)
    reply_to = _replied(platform, channel, body.get("message_reference"))
    marks = Marks(platform.bot.id, reply_to=reply_to, files=call.files)
    return written(platform, create(platform, channel, body, marks))


def _posted_before(platform: Platform, channel: Channel, body: Json) -> Message | None:
    """Find the message that the same nonce posted not long ago."""
    if body.get("nonce") is None or not body.get("enforce_nonce"):
        return None
    message = platform.nonces.get((channel.id, platform.bot.id, str(body["nonce"])))
    since = platform.clock.time() - NONCES_LIVE
    return message if message is not None and message.at.timestamp() >= since else None


def _replied(platform: Platform, channel: Channel, reference: Json | None) -> Message | None:
    if reference is None:
        return None
    platform.require(channel)
    if Permission.READ_MESSAGE_HISTORY not in platform.permissions(platform.bot.id, channel):
        raise refusals.cannot_reply()
    message = platform.messages.get(int(reference["message_id"]))
    if message is not None and not message.deleted and message.channel_id == channel.id:
        return message
    if reference.get("fail_if_not_exists", True):
        raise refusals.invalid_form("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
    return None


def _edit(platform: Platform, call: Call) -> Json:
    channel = platform.channel(call.id("channel"))
    message = platform.message(channel, call.id("message"))
    if message.author_id != platform.bot.id:
        raise refusals.not_the_author()
    require_open(channel)
    check_message(call.json, editing=True)
    _check_age(platform, message)
    edit(platform, message, call.json)
    return written(platform, message)


def _check_age(platform: Platform, message: Message) -> None:
    old = message.at.timestamp() + OLD
    if platform.clock.time() > old and sum(one.at.timestamp() > old for one in message.edits) >= platform.late_edits:
        raise refusals.too_many_late_edits()


def _delete(platform: Platform, call: Call) -> None:
    channel = platform.channel(call.id("channel"))
    message = platform.message(channel, call.id("message"))
    if message.author_id != platform.bot.id:
        platform.require(channel, Permission.MANAGE_MESSAGES)
    require_open(channel)
    delete(platform, message)


def _delete_several(platform: Platform, call: Call) -> None:
    channel = platform.channel(call.id("channel"))
    platform.require(channel, Permission.MANAGE_MESSAGES)
    ids = [int(found) for found in call.json.get("messages", ())]
    if not 2 <= len(ids) <= MOST:
        raise refusals.bad_length("messages", 2, MOST)
    found = [platform.messages[one] for one in ids if one in platform.messages]
    there = [message for message in found if message.channel_id == channel.id and not message.deleted]
    if any(message.at.timestamp() < platform.clock.time() - OLDEST_IN_BULK for message in there):
        raise refusals.too_old_to_delete()
    if there:
        delete(platform, *there)


def _get(platform: Platform, call: Call) -> Json:
    channel = platform.channel(call.id("channel"))
    platform.require(channel, Permission.READ_MESSAGE_HISTORY)
    return written(platform, platform.message(channel, call.id("message")))


def _history(platform: Platform, call: Call) -> list[Json]:
    channel = platform.channel(call.id("channel"))
    limit = int(call.query.get("limit", 50))
    if not 1 <= limit <= MOST:
        raise refusals.invalid_form("limit", "NUMBER_TYPE_MAX", f"int value should be between 1 and {MOST}.")
    if Permission.READ_MESSAGE_HISTORY not in platform.permissions(platform.bot.id, channel):
        return []
    there = [message for message in platform.messages_in(channel) if message.seen_by is None]
    chosen = _chosen(sorted(there, key=lambda message: message.id), call, limit)
    return [written(platform, message) for message in reversed(chosen)]


def _chosen(there: Sequence[Message], call: Call, limit: int) -> Sequence[Message]:
    """Choose from messages, oldest first, as `before`, `after` or `around` say."""
    if "around" in call.query:
        middle, half = int(call.query["around"]), limit // 2
        older = [message for message in there if message.id < middle][-half:] if half else []
        return [*older, *[message for message in there if message.id >= middle][: limit - len(older)]]
    if "after" in call.query:
        return [message for message in there if message.id > int(call.query["after"])][:limit]
    before = int(call.query["before"]) if "before" in call.query else None
    return [message for message in there if before is None or message.id < before][-limit:]


def _react(platform: Platform, call: Call) -> None:
    channel, message, emoji = _reaction(platform, call)
    needed = [Permission.READ_MESSAGE_HISTORY]
    if emoji not in message.reactions:
        needed.append(Permission.ADD_REACTIONS)
    platform.require(channel, *needed)
    require_open(channel)
    react(platform, message, emoji, platform.bot.id)


def _unreact(platform: Platform, call: Call) -> None:
    channel, message, emoji = _reaction(platform, call)
    require_open(channel)
    unreact(platform, message, emoji, platform.bot.id)


def _reacted(platform: Platform, call: Call) -> list[Json]:
    _, message, emoji = _reaction(platform, call)
    return [user_payload(platform.users[user]) for user in message.reactions.get(emoji, ())]


def _reaction(platform: Platform, call: Call) -> tuple[Channel, Message, str]:
    channel = platform.channel(call.id("channel"))
    emoji = unquote(call.path["emoji"])
    if emoji.isascii() and ":" not in emoji:
        raise refusals.unknown_emoji()
    return channel, platform.message(channel, call.id("message")), emoji


def _type(platform: Platform, call: Call) -> None:
    channel = platform.channel(call.id("channel"))
    require_sending(platform, channel)
    platform.typing.append(Typing(channel.id, platform.clock.time()))


MESSAGES = "/channels/{channel}/messages"
MESSAGE = MESSAGES + "/{message}"
REACTION = MESSAGE + "/reactions/{emoji}"
ROUTES = (
    Route(f"POST {MESSAGES}", _create),
    Route(f"GET {MESSAGES}", _history),
    Route(f"POST {MESSAGES}/bulk-delete", _delete_several),
    Route(f"GET {MESSAGE}", _get),
    Route(f"PATCH {MESSAGE}", _edit),
    Route(f"DELETE {MESSAGE}", _delete),
    Route(f"PUT {REACTION}/@me", _react),
    Route(f"DELETE {REACTION}/@me", _unreact),
    Route(f"GET {REACTION}", _reacted),
    Route("POST /channels/{channel}/typing", _type),
)
