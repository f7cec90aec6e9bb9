"""Calls about messages that are written while people look."""

from __future__ import annotations

from typing import Any, cast

from tests.servers.slack.blocks import check_markdown, read_blocks
from tests.servers.slack.channels import Channel
from tests.servers.slack.chat_routes import bot_message, metadata_of, require_posting
from tests.servers.slack.messages import Message, Stream, Streaming
from tests.servers.slack.payloads import message_payload
from tests.servers.slack.platform import Platform
from tests.servers.slack.posting import create, edit
from tests.servers.slack.refusals import Refusal
from tests.servers.slack.routes import TIERS, Call, Route
from tests.servers.slack.sessions import Session
from tests.servers.slack.shape import Json
from tests.servers.slack.streams import expire

STATUSES = ("active", "processing", "suspended", "closed")


def _text_of(call: Call) -> str:
    """Read what is to be added, given as text or in chunks. Raises `Refusal`."""
    chunks: Any = call.json("chunks")
    if chunks is None:
        check_markdown(call.text("markdown_text"))
        return call.text("markdown_text")
    if call.text("markdown_text"):
        raise Refusal("cannot_provide_both_markdown_text_and_chunks")
    if not isinstance(chunks, list):
        raise Refusal("invalid_chunks")
    texts = [str(chunk.get("text", "")) for chunk in cast("list[Json]", chunks) if chunk.get("type") == "markdown_text"]
    check_markdown("".join(texts))
    return "".join(texts)


def _check_mode(call: Call, stream: Stream) -> None:
    """Raise `Refusal` if what was begun with text goes on with chunks, or the other way round."""
    if call.json("chunks") is None and not call.text("markdown_text"):
        return
    by_chunks = call.json("chunks") is not None
    if stream.by_chunks not in (None, by_chunks):
        raise Refusal("streaming_mode_mismatch")
    stream.by_chunks = by_chunks


def _start(platform: Platform, call: Call) -> Json:
    channel = call.channel(platform)
    call.need("thread_ts")
    recipient, team = call.text("recipient_user_id"), call.text("recipient_team_id")
    if not channel.is_direct and not team:
        raise Refusal("missing_recipient_team_id")
    if not channel.is_direct and not recipient:
        raise Refusal("missing_recipient_user_id")
    user = platform.users.get(recipient)
    if recipient and user is None:
        raise Refusal("user_not_found")
    if user is not None and team and user.team_id != team:
        raise Refusal("team_not_found")
    require_posting(platform, call, channel)
    text = _text_of(call)
    stream = Stream(platform.clock.time(), recipient or None, team or None, appended=[text] if text else [])
    _check_mode(call, stream)
    message = create(platform, channel, bot_message(platform, call, channel, markdown=text, stream=stream))
    return {"channel": channel.id, "ts": message.ts}


def _streaming(platform: Platform, call: Call, channel: Channel, *states: Streaming) -> tuple[Message, Stream]:
    """Give a message of the bot whose stream is in one of these states. Raises `Refusal`."""
    message = platform.message(channel, call.need("ts"))
    platform.require_member(call.installation, channel)
    if channel.is_archived:
        raise Refusal("is_archived")
    if message.user_id != call.installation.bot.id:
        raise Refusal("message_not_owned_by_app")
    expire(platform, message)
    stream = message.stream
    if stream is None or stream.state not in (*states, Streaming.STOPPED_BY_USER):
        raise Refusal("message_not_in_streaming_state")
    if stream.state not in states:
        raise Refusal("stopped_by_user")
    return message, stream


def _append(platform: Platform, call: Call) -> Json:
    channel = call.channel(platform)
    message, stream = _streaming(platform, call, channel, Streaming.OPEN)
    text = _text_of(call)
    if not text and call.json("chunks") is None:
        raise Refusal("markdown_text_or_chunks_required")
    _check_mode(call, stream)
    _add(message, stream, text)
    return {"channel": channel.id, "ts": message.ts}


def _add(message: Message, stream: Stream, text: str) -> None:
    if text:
        message.markdown += text
        stream.appended.append(text)


def _stop(platform: Platform, call: Call) -> Json:
    """End a stream; one that somebody has stopped takes no more words, but what stands below them."""
    channel = call.channel(platform)
    message, stream = _streaming(platform, call, channel, Streaming.OPEN, Streaming.STOPPED_BY_USER)
    text = _text_of(call)
    blocks = read_blocks(call.args["blocks"]) if call.args.get("blocks") else []
    _check_mode(call, stream)
    status = call.text("session_status") or "active"
    if status not in STATUSES:
        raise Refusal("invalid_status")
    if not (message.markdown + text).strip() and not blocks:
        raise Refusal("no_text")
    if stream.state is Streaming.OPEN:
        _add(message, stream, text)
        stream.state = Streaming.STOPPED
    changes: Json = {"blocks": blocks}
    if "metadata" in call.args:
        changes["metadata"] = metadata_of(call)
    session = platform.sessions.get((channel.id, message.root_ts))
    if isinstance(session, Session):
        session.set(status)
    edit(platform, channel, message, **changes)
    return {"channel": channel.id, "ts": message.ts, "message": message_payload(platform, message)}


ROUTES = (
    Route("chat.startStream", _start, ("chat:write",), TIERS[2]),
    Route("chat.appendStream", _append, ("chat:write",), TIERS[4]),
    Route("chat.stopStream", _stop, ("chat:write",), TIERS[2]),
)
