"""What the bot may do in a place, as far as the client knows; asking costs no request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discord import Permissions, Thread
    from discord.abc import GuildChannel

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


@dataclass(frozen=True, slots=True)
class Rights:
    """What the bot may do; `missing` are the permissions that it needs and has not, in Discord's own words."""

    answers: bool = True
    opens_threads: bool = False
    reacts: bool = True
    missing: tuple[str, ...] = ()


def rights_in(channel: GuildChannel | Thread) -> Rights:
    """Say what the bot may do in a channel or thread; where nobody knows yet, nothing is missing."""
    from discord import TextChannel, Thread

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
    """Give the bot's permissions; None in a guild that is not ready, or in a thread whose channel is not known."""
    from discord import ClientException

    me = channel.guild.me
    if me is None:  # pyright: ignore[reportUnnecessaryComparison] - it is None in a guild that is not ready
        return None
    try:
        return channel.permissions_for(me)
    except ClientException:
        return None


def reads(channel: GuildChannel | Thread) -> bool:
    """Say whether the bot may read what was said before; not while that is unknown."""
    may = _permissions(channel)
    return may is not None and may.read_messages and may.read_message_history
