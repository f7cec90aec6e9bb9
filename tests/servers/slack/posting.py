"""What happens to messages, whoever does it: they come, change, get reactions and go, and the app is told."""

from __future__ import annotations

from typing import Any

from tests.servers.slack.channels import Channel, ChannelKind
from tests.servers.slack.events import Event
from tests.servers.slack.messages import Edit, Message
from tests.servers.slack.payloads import event_payload, message_payload
from tests.servers.slack.platform import Platform
from tests.servers.slack.refusals import Refusal
from tests.servers.slack.shape import Json

REACTIONS = 23  # different ones on one message


def create(platform: Platform, channel: Channel, message: Message) -> Message:
    """Post a message; one that only one person sees is told to nobody."""
    platform.add(message)
    if not message.ephemeral:
        platform.statuses.pop((channel.id, message.root_ts), None)
        tell_message(platform, channel, message)
    return message


def tell_message(platform: Platform, channel: Channel, message: Message, edited: Json | None = None) -> None:
    """Tell the app of a new message, and of the mention in it; of an edited one only the mention."""
    workspace = platform.installation_for(channel)
    if workspace is None:
        return
    data = event_payload(platform, message, channel)
    mention = {name: value for name, value in data.items() if name != "channel_type"} | {"type": "app_mention"}
    told = [] if edited else [Event(workspace, f"message.{_suffix(channel)}", data, message, bool(channel.shared_with))]
    is_mentioned = workspace.bot.mention in message.text and message.user_id != workspace.bot.id
    if is_mentioned and not channel.is_direct and message.subtype in (None, "file_share", "thread_broadcast"):
        mention |= {"edited": edited, "event_ts": edited["ts"]} if edited else {}
        event = Event(workspace, "app_mention", mention, message, bool(channel.shared_with))
        told.insert(0 if platform.mention_first else len(told), event)
    for event in told:
        platform.tell(event)


def edit(platform: Platform, channel: Channel, message: Message, **changes: Any) -> None:
    """Change the fields of a message that are named, and tell the app."""
    before = message_payload(platform, message)
    for name, value in changes.items():
        setattr(message, name, value)
    message.edits.append(Edit(message.text, message.blocks, message.markdown, platform.clock.time()))
    _tell_change(platform, channel, message, before)


def _tell_change(platform: Platform, channel: Channel, message: Message, before: Json) -> None:
    ts = platform.new_ts()
    changed: Json = {
        "type": "message",
        "subtype": "message_changed",
        "message": message_payload(platform, message),
        "previous_message": before,
        "channel": channel.id,
        "hidden": True,
        "ts": ts,
        "event_ts": ts,
        "channel_type": channel.kind.value,
    }
    _tell(platform, channel, changed, message)


def delete(platform: Platform, channel: Channel, message: Message) -> None:
    """Remove a message; the root of a thread with replies leaves a tombstone."""
    before = message_payload(platform, message)
    ts = platform.new_ts()
    if platform.replies_to(channel, message.ts):
        message.is_tombstone = True
        _tell_change(platform, channel, message, before)
        return
    message.deleted = True
    if message.ephemeral:
        return
    gone: Json = {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": before,
        "channel": channel.id,
        "hidden": True,
        "deleted_ts": message.ts,
        "ts": ts,
        "event_ts": ts,
        "channel_type": channel.kind.value,
    }
    _tell(platform, channel, gone, message)


def react(platform: Platform, channel: Channel, message: Message, name: str, user_id: str) -> None:
    """Put a reaction on a message. Raises `Refusal`."""
    who = message.reactions.get(name, [])
    if user_id in who:
        raise Refusal("already_reacted")
    if not who and len(message.reactions) >= REACTIONS:
        raise Refusal("too_many_emoji")
    message.reactions[name] = [*who, user_id]
    _tell_reaction(platform, channel, message, {"type": "reaction_added", "user": user_id, "reaction": name})


def unreact(platform: Platform, channel: Channel, message: Message, name: str, user_id: str) -> None:
    """Take a reaction back. Raises `Refusal`."""
    who = message.reactions.get(name, [])
    if user_id not in who:
        raise Refusal("no_reaction")
    message.reactions[name] = [one for one in who if one != user_id]
    if not message.reactions[name]:
        del message.reactions[name]
    _tell_reaction(platform, channel, message, {"type": "reaction_removed", "user": user_id, "reaction": name})


def _tell_reaction(platform: Platform, channel: Channel, message: Message, about: Json) -> None:
    item: Json = {"type": "message", "channel": channel.id, "ts": message.ts}
    data: Json = {**about, "item": item, "item_user": message.user_id, "event_ts": platform.new_ts()}
    workspace = platform.installation_for(channel)
    if workspace is not None:
        platform.tell(Event(workspace, str(about["type"]), data, message, bool(channel.shared_with)))


def _tell(platform: Platform, channel: Channel, data: Json, message: Message) -> None:
    workspace = platform.installation_for(channel)
    if workspace is not None:
        event = Event(workspace, f"message.{_suffix(channel)}", data, message, bool(channel.shared_with))
        platform.tell(event)


def _suffix(channel: Channel) -> str:
    kinds = {ChannelKind.PUBLIC: "channels", ChannelKind.PRIVATE: "groups"}
    return kinds.get(channel.kind, channel.kind.value)
