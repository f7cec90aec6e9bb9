"""What the bot may do in a channel, as far as the client knows, and what moderators are told that it lacks."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from discord import AutoShardedClient, ClientException, Object, Permissions, TextChannel, Thread

from adapters.chat.intake import Rights
from adapters.chat.platform import Part
from adapters.discord.poster import ChannelPoster, translated
from adapters.retry import QUICK
from core.errors import RateLimited, Unreachable
from core.messages import permissions_lacking

if TYPE_CHECKING:
    from discord import Guild
    from discord.abc import GuildChannel

    from core.ports import Dedup

NAMES = {
    "read_messages": "View Channel",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "create_public_threads": "Create Public Threads",
    "read_message_history": "Read Message History",
}  # in Discord's own words, which moderators look for
NEEDED = Permissions(
    view_channel=True,
    read_message_history=True,
    send_messages=True,
    create_public_threads=True,
    send_messages_in_threads=True,
    add_reactions=True,
)  # to see questions, answer them in threads, and mark them

_ANYWHERE = ("read_messages", "read_message_history")
_TO_OPEN = ("create_public_threads", "send_messages_in_threads")


def rights_in(channel: GuildChannel | Thread) -> Rights:
    """Return what the bot may do in a channel or thread; where nobody knows yet, nothing is missing."""
    has, has_threads, is_closed = _allowed(channel), isinstance(channel, TextChannel), False
    if has is None:
        return Rights(opens_threads=has_threads)
    opens = has_threads and has.issuperset(_TO_OPEN)
    needs = (*(_TO_OPEN if has_threads else ()), *(() if opens else ("send_messages",)))
    if isinstance(channel, Thread):
        needs = ("send_messages_in_threads",)
        is_closed = channel.locked and "manage_threads" not in has
    return Rights(
        answers="read_messages" in has and not is_closed and (opens or needs[-1] in has),
        opens_threads=opens,
        reacts=has.issuperset(("add_reactions", "read_message_history")),
        missing=tuple(NAMES[name] for name in (*_ANYWHERE, *needs) if name not in has),
    )


def reads(channel: GuildChannel | Thread) -> bool:
    """Return whether the bot may read what was said in a channel or thread; where nobody knows yet, it may."""
    has = _allowed(channel)
    return has is None or has.issuperset(_ANYWHERE)


def _allowed(channel: GuildChannel | Thread) -> set[str] | None:
    """Return the names of the bot's permissions; None in a guild that is not ready, or in a thread of no channel."""
    me = channel.guild.me
    if me is None:  # pyright: ignore[reportUnnecessaryComparison] - it is None in a guild that is not ready
        return None
    try:
        return {name for name, is_allowed in channel.permissions_for(me) if is_allowed}
    except ClientException:
        return None


async def alert(
    client: AutoShardedClient, dedup: Dedup, guild: Guild, channel_id: str, missing: tuple[str, ...]
) -> None:
    """Name the permissions that are missing, once: where Discord speaks to moderators, or to the owner of the guild.

    What could not be said now is said another time; what nobody wants to hear counts as said. Raises `PostingFailed`
    and `StoreUnavailable`.
    """
    key = f"discord:permissions:{guild.id}:{channel_id}"
    if not await dedup.changed(key, ", ".join(missing)):
        return
    nonce = hashlib.sha256(f"{key}:{missing}".encode()).hexdigest()[:24]
    part = Part(permissions_lacking(f"<#{channel_id}>", missing))
    updates = guild.public_updates_channel
    may = updates.permissions_for(guild.me) if isinstance(updates, TextChannel) else Permissions.none()

    async def post() -> None:
        is_open = may.view_channel and may.send_messages
        channel = updates if updates and is_open else await translated(client.create_dm(Object(guild.owner_id or 0)))
        await ChannelPoster(channel).post(part, nonce)

    try:
        await QUICK.call(post)
    except (Unreachable, RateLimited):
        await dedup.forget(key)
        raise
