"""Calls about messages: posting, changing, deleting, and what only one person sees."""

from __future__ import annotations

from typing import Any

from tests.servers.slack.blocks import TEXT, UPDATED_TEXT, check_markdown, read_blocks
from tests.servers.slack.channels import Channel
from tests.servers.slack.direct import direct_of
from tests.servers.slack.messages import Message, Streaming
from tests.servers.slack.payloads import message_payload
from tests.servers.slack.platform import Platform
from tests.servers.slack.posting import create, delete, edit
from tests.servers.slack.refusals import Refusal
from tests.servers.slack.routes import TIERS, Call, Route
from tests.servers.slack.shape import Json
from tests.servers.slack.streams import expire


def require_posting(platform: Platform, call: Call, channel: Channel) -> None:
    """Raise `Refusal` unless the bot may post in a channel, and in the thread that the call names."""
    platform.require_member(call.installation, channel)
    if channel.is_archived:
        raise Refusal("is_archived")
    if channel.refuses is not None:
        raise Refusal(channel.refuses)
    thread_ts = call.text("thread_ts")
    if not thread_ts:
        return
    root = platform.messages.get((channel.id, thread_ts))
    if root is None or root.deleted or root.ephemeral:
        raise Refusal("thread_not_found")
    if root.root_ts in channel.locked:
        raise Refusal("restricted_action_thread_locked")


def content_of(call: Call, *, most: int = TEXT) -> Json:
    """Read and check the text, markdown and blocks of a call. Raises `Refusal`."""
    text, markdown, given = call.text("text"), call.text("markdown_text"), call.args.get("blocks")
    if markdown and (text or given):
        raise Refusal("markdown_text_conflict")
    check_markdown(markdown)
    blocks = read_blocks(given) if given else []
    if not (text.strip() or markdown.strip() or blocks or call.json("attachments")):
        raise Refusal("no_text")
    if len(text) > most:
        raise Refusal("msg_too_long")
    return {"text": text, "markdown": markdown, "blocks": blocks}


def bot_message(platform: Platform, call: Call, channel: Channel, **more: Any) -> Message:
    """Make a message of the bot, which is not posted yet."""
    installation = call.installation
    return Message(
        ts=platform.new_ts(),
        channel_id=channel.id,
        team_id=call.workspace(platform, channel).team_id,
        user_id=installation.bot.id,
        bot_id=installation.bot_id,
        app_id=installation.app_id,
        thread_ts=call.text("thread_ts") or None,
        metadata=metadata_of(call),
        **more,
    )


def metadata_of(call: Call) -> Json | None:
    """Read the metadata of a call. Raises `Refusal`."""
    given = call.object("metadata")
    if not given:
        return None
    if not isinstance(given.get("event_type"), str) or not isinstance(given.get("event_payload"), dict):
        raise Refusal("invalid_metadata_schema")
    return given


def _post(platform: Platform, call: Call) -> Json:
    channel = _open_channel(platform, call)
    require_posting(platform, call, channel)
    content = content_of(call)
    unfurls = call.flag("unfurl_links", default=True) or call.flag("unfurl_media", default=True)
    message = create(platform, channel, bot_message(platform, call, channel, unfurls=unfurls, **content))
    return {"channel": channel.id, "ts": message.ts, "message": message_payload(platform, message)}


def _open_channel(platform: Platform, call: Call) -> Channel:
    """Give the channel of a post; the id of a person stands for the direct messages with that person."""
    user = platform.users.get(call.need("channel"))
    if user is None:
        return call.channel(platform)
    return direct_of(platform, call.workspace(platform), user)


def _own(platform: Platform, call: Call, channel: Channel, code: str) -> Message:
    message = platform.message(channel, call.need("ts"))
    if message.user_id != call.installation.bot.id:
        raise Refusal(code)
    return message


def _update(platform: Platform, call: Call) -> Json:
    channel = call.channel(platform)
    message = _own(platform, call, channel, "cant_update_message")
    if message.is_tombstone:
        raise Refusal("cant_update_message")
    if channel.is_archived:
        raise Refusal("is_inactive")
    expire(platform, message)
    if message.stream is not None and message.stream.state is Streaming.OPEN:
        raise Refusal("streaming_state_conflict")
    changes = content_of(call, most=UPDATED_TEXT)
    if not call.text("text") and not call.text("markdown_text"):
        del changes["text"]
    if "metadata" in call.args:
        changes["metadata"] = metadata_of(call)
    if not call.args.get("blocks"):
        changes["edited"] = {"user": message.user_id, "ts": platform.new_ts()}
    edit(platform, channel, message, **changes)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": message_payload(platform, message),
    }


def _delete(platform: Platform, call: Call) -> Json:
    channel = call.channel(platform)
    message = _own(platform, call, channel, "cant_delete_message")
    if message.is_tombstone:
        raise Refusal("message_not_found")
    delete(platform, channel, message)
    return {"channel": channel.id, "ts": message.ts}


def _post_ephemeral(platform: Platform, call: Call) -> Json:
    channel = call.channel(platform)
    require_posting(platform, call, channel)
    user_id = call.need("user")
    if user_id not in channel.members:
        raise Refusal("user_not_in_channel")
    content = content_of(call)
    message = create(platform, channel, bot_message(platform, call, channel, seen_by=user_id, **content))
    return {"message_ts": message.ts}


ROUTES = (
    Route("chat.postMessage", _post, ("chat:write",), TIERS[4]),
    Route("chat.update", _update, ("chat:write",), TIERS[3]),
    Route("chat.delete", _delete, ("chat:write",), TIERS[3]),
    Route("chat.postEphemeral", _post_ephemeral, ("chat:write",), TIERS[4]),
)
