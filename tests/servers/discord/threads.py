"""What happens to threads, whoever does it: they are opened, renamed, archived and locked, and sessions are told."""

from __future__ import annotations

from dataclasses import dataclass

from tests.servers.discord.channels import Channel, ChannelKind
from tests.servers.discord.messages import Message
from tests.servers.discord.platform import Platform
from tests.servers.discord.posting import Marks, create, tell, tell_channel
from tests.servers.discord.refusals import thread_exists
from tests.servers.discord.shape import Json

HAS_THREAD = 1 << 5


@dataclass(frozen=True, slots=True)
class Opening:
    """What a new thread is given."""

    name: str
    owner_id: int
    auto_archive_minutes: int = 1440
    kind: ChannelKind = ChannelKind.PUBLIC_THREAD
    applied_tags: tuple[int, ...] = ()
    reason: str | None = None


def open_on(platform: Platform, message: Message, opening: Opening) -> Channel:
    """Open a thread on a message; it has the message's id. Raises `Refusal` if there is one already."""
    if message.id in platform.channels:
        raise thread_exists()
    parent = platform.channels[message.channel_id]
    thread = open_in(platform, parent, opening, thread_id=message.id)
    message.thread_id = thread.id
    message.flags |= HAS_THREAD
    tell(platform, "MESSAGE_UPDATE", message)
    create(platform, thread, {}, Marks(message.author_id, starter_of=message))
    return thread


def open_in(platform: Platform, parent: Channel, opening: Opening, *, thread_id: int | None = None) -> Channel:
    """Open a thread in a channel."""
    thread = Channel(
        id=thread_id or platform.new_id(),
        kind=opening.kind,
        guild_id=parent.guild_id,
        name=opening.name,
        parent_id=parent.id,
        owner_id=opening.owner_id,
        auto_archive_minutes=opening.auto_archive_minutes,
        applied_tags=list(opening.applied_tags),
        joined={opening.owner_id},
        names=[opening.name],
        reason=opening.reason,
    )
    platform.channels[thread.id] = thread
    tell_channel(platform, "THREAD_CREATE", thread, newly_created=True)
    return thread


def open_post(platform: Platform, forum: Channel, opening: Opening, body: Json) -> tuple[Channel, Message]:
    """Open a post in a forum: a thread with the id of its first message."""
    thread = open_in(platform, forum, opening)
    return thread, create(platform, thread, body, Marks(opening.owner_id, id=thread.id))


def change(platform: Platform, thread: Channel, changes: Json) -> None:
    """Rename, archive, lock or tag a thread, or undo that."""
    if "name" in changes:
        thread.name = str(changes["name"])
        thread.names.append(thread.name)
    thread.archived = bool(changes.get("archived", thread.archived))
    thread.locked = bool(changes.get("locked", thread.locked))
    thread.auto_archive_minutes = int(changes.get("auto_archive_duration", thread.auto_archive_minutes))
    thread.applied_tags = [int(tag) for tag in changes.get("applied_tags", thread.applied_tags)]
    tell_channel(platform, "THREAD_UPDATE", thread)


def close(platform: Platform, thread: Channel) -> None:
    """Delete a thread, and all that was said in it."""
    del platform.channels[thread.id]
    for message in platform.messages.values():
        message.deleted = message.deleted or message.channel_id == thread.id
    tell_channel(platform, "THREAD_DELETE", thread)
