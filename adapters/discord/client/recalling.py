"""Reads what was said in a channel, as people see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapters.discord.client.poster import translated
from core.errors import PostingFailed
from core.model import Message

if TYPE_CHECKING:
    import discord

    from adapters.discord.client.poster import Channel


async def recalled(channel: Channel, *, me: int, limit: int) -> Sequence[Message]:
    """Return the newest messages with words in them, oldest first; nothing where the bot may not read."""

    async def said() -> Sequence[discord.Message]:
        return [message async for message in channel.history(limit=limit) if message.content]

    try:
        return [_line(message, me) for message in reversed(await translated(said()))]
    except PostingFailed:
        return ()


def _line(message: discord.Message, me: int) -> Message:
    return Message(
        role="assistant" if message.author.id == me else "user",
        text=message.clean_content,
        author=message.author.display_name,
        at=message.created_at,
    )
