"""What the bot may do in a channel, as far as the client knows, and what moderators are told that it lacks."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING

from discord import AutoShardedClient, Object, TextChannel

from adapters.chat.intake import Rights
from adapters.chat.platform import Part
from adapters.discord.poster import ChannelPoster, translated
from adapters.retry import QUICK
from core.errors import RateLimited, Unreachable

if TYPE_CHECKING:
    from discord import Guild, Permissions, Thread
    from discord.abc import GuildChannel

    from adapters.discord.poster import Channel
    from core.ports import Memo

NAMES = {
    "read_messages": "View Channel",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "create_public_threads": "Create Public Threads",
    "read_message_history": "Read Message History",
}  # in Discord's own words, which moderators look for

_ANYWHERE = ("read_messages", "read_message_history")
_IN_THREAD = ("send_messages_in_threads",)
_TO_OPEN = ("create_public_threads", "send_messages_in_threads")
_IN_PLACE = ("send_messages",)


def needed() -> Permissions:
    """Return what the bot has to be allowed to see questions, answer them in threads, and mark them."""
    from discord import Permissions

    return Permissions(
        view_channel=True,
        read_message_history=True,
        send_messages=True,
        create_public_threads=True,
        send_messages_in_threads=True,
        add_reactions=True,
    )


def rights_in(channel: GuildChannel | Thread) -> Rights:
    """Return what the bot may do in a channel or thread; where nobody knows yet, nothing is missing."""
    from discord import Thread

    may = _permissions(channel)
    has_threads = isinstance(channel, TextChannel)
    if may is None:
        return Rights(opens_threads=has_threads)
    has = {name for name, is_allowed in may if is_allowed}
    if isinstance(channel, Thread):
        is_closed = channel.locked and not may.manage_threads
        return _rights(has, opens_threads=False, answers=has.issuperset(_IN_THREAD) and not is_closed, needs=_IN_THREAD)
    opens = has_threads and has.issuperset(_TO_OPEN)
    needs = (*_TO_OPEN, *(() if opens else _IN_PLACE)) if has_threads else _IN_PLACE
    return _rights(has, opens_threads=opens, answers=opens or has.issuperset(_IN_PLACE), needs=needs)


def _rights(has: set[str], *, opens_threads: bool, answers: bool, needs: tuple[str, ...]) -> Rights:
    return Rights(
        answers=answers and "read_messages" in has,
        opens_threads=opens_threads,
        reacts=has.issuperset(("add_reactions", "read_message_history")),
        missing=tuple(NAMES[name] for name in (*_ANYWHERE, *needs) if name not in has),
    )


def _permissions(channel: GuildChannel | Thread) -> Permissions | None:
    """Return the bot's permissions; None in a guild that is not ready, or in a thread whose channel is not known."""
    from discord import ClientException

    me = channel.guild.me
    if me is None:  # pyright: ignore[reportUnnecessaryComparison] - it is None in a guild that is not ready
        return None
    try:
        return channel.permissions_for(me)
    except ClientException:
        return None


def reads(channel: GuildChannel | Thread) -> bool:
    """Return whether the bot may read what was said before; not while that is unknown."""
    may = _permissions(channel)
    return may is not None and may.read_messages and may.read_message_history


async def alert(client: AutoShardedClient, memo: Memo, guild: Guild, channel_id: str, missing: tuple[str, ...]) -> None:
    """Name the permissions that are missing, once: where moderators talk, or to the owner of the guild.

    What could not be said now is said another time; what nobody wants to hear counts as said. Raises `PostingFailed`
    and `StoreUnavailable`.
    """
    key = f"discord:permissions:{guild.id}:{channel_id}"
    if not await memo.changed(key, ", ".join(missing)):
        return
    nonce = hashlib.sha256(f"{key}:{missing}".encode()).hexdigest()[:24]
    try:
        await QUICK.call(partial(_post, client, guild, Part(sentence(channel_id, missing)), nonce))
    except (Unreachable, RateLimited):
        await memo.forget(key)
        raise


async def _post(client: AutoShardedClient, guild: Guild, part: Part, nonce: str) -> None:
    channel = _moderators_of(guild) or await translated(client.create_dm(Object(guild.owner_id or 0)))
    await ChannelPoster(channel).post(part, nonce)


def sentence(channel_id: str, missing: tuple[str, ...]) -> str:
    """Return in which channel which permissions are missing, and what to do."""
    named = ", ".join(f"**{name}**" for name in missing)
    return (
        f"In <#{channel_id}> I lack permissions that I need to answer questions: {named}. "
        "Allow them for my role in the permissions of the channel, or of the server."
    )


def _moderators_of(guild: Guild) -> Channel | None:
    """Return the channel in which Discord itself speaks to the moderators, if the bot may write there."""
    channel = guild.public_updates_channel
    if not isinstance(channel, TextChannel):
        return None
    may = channel.permissions_for(guild.me)
    return channel if may.view_channel and may.send_messages else None
