"""Where notices stand on Discord: below the question, as a reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.chat.posting import Gone, Refused
from adapters.discord.channels import below
from adapters.discord.client.poster import NO_PLACE, translated

if TYPE_CHECKING:
    from discord import AutoShardedClient, Message

    from adapters.discord.client.poster import ChannelPoster
    from core.model import Notice

LOOKED_AT = 100  # messages around the question


class DiscordBoard:
    """Implements `Board`. Discord forgets nonces after minutes, so a notice is known by what it replies to."""

    def __init__(self, client: AutoShardedClient) -> None:
        self._client = client

    async def poster(self, notice: Notice) -> ChannelPoster:
        """Give what replies to the question."""
        return below(self._client, notice.place, notice.question)

    async def find(self, notice: Notice) -> str | None:
        """Look around the question; None where the bot may not read."""
        from discord import Object

        channel = self._client.get_partial_messageable(int(notice.place))
        around = Object(int(notice.question.id))

        async def said() -> str | None:
            found = [each async for each in channel.history(limit=LOOKED_AT, around=around)]
            return next((str(each.id) for each in found if self._is_it(each, notice)), None)

        try:
            return await translated(said(), gone=NO_PLACE)
        except (Gone, Refused):
            return None

    def _is_it(self, message: Message, notice: Notice) -> bool:
        me, reference = self._client.user, message.reference
        is_reply = reference is not None and str(reference.message_id) == notice.question.id
        return is_reply and message.content == notice.words and me is not None and message.author.id == me.id
