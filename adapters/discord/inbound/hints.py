"""Tells moderators, and nobody else, what the bot would need."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING

from discord import AutoShardedClient, Object, TextChannel

from adapters.chat.posting import Part
from adapters.discord.client.poster import ChannelPoster, translated
from adapters.retry import QUICK
from core.errors import RateLimited, Unreachable

if TYPE_CHECKING:
    from discord import Guild

    from adapters.discord.client.poster import Channel
    from core.ports import Memo


class Hints:
    """Says once what is missing in a channel: where moderators talk, or to the owner of the guild."""

    def __init__(self, client: AutoShardedClient, memo: Memo) -> None:
        self._client = client
        self._memo = memo

    async def give(self, guild: Guild, channel_id: str, missing: tuple[str, ...]) -> None:
        """Name the permissions, unless the same was said before. Raises `PostingFailed` and `StoreUnavailable`.

        What could not be said now is said another time; what nobody wants to hear counts as said.
        """
        key = f"discord:permissions:{guild.id}:{channel_id}"
        if not await self._memo.changed(key, ", ".join(missing)):
            return
        nonce = hashlib.sha256(f"{key}:{missing}".encode()).hexdigest()[:24]
        try:
            await QUICK.call(partial(self._post, guild, Part(sentence(channel_id, missing)), nonce))
        except (Unreachable, RateLimited):
            await self._memo.forget(key)
            raise

    async def _post(self, guild: Guild, part: Part, nonce: str) -> None:
        channel = _moderators_of(guild) or await translated(self._client.create_dm(Object(guild.owner_id or 0)))
        await ChannelPoster(channel).post(part, nonce)


def sentence(channel_id: str, missing: tuple[str, ...]) -> str:
    """Say in which channel which permissions are missing, and what to do."""
    named = ", ".join(f"**{name}**" for name in missing)
    return (
        f"In <#{channel_id}> I lack permissions that I need to answer questions: {named}. "
        "Allow them for my role in the permissions of the channel, or of the server."
    )


def _moderators_of(guild: Guild) -> Channel | None:
    """Give the channel in which Discord itself speaks to the moderators, if the bot may write there."""
    channel = guild.public_updates_channel
    if not isinstance(channel, TextChannel):
        return None
    may = channel.permissions_for(guild.me)
    return channel if may.view_channel and may.send_messages else None
