"""What the bot says beside answers: why there will be none, and what moderators have to allow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.insisting import insisted
from adapters.chat.posting import REMARK, Part, Posted, nonce
from adapters.discord.client.poster import ChannelPoster, translated
from adapters.discord.inbound.hints import Hints
from core.sentences import WARNING

if TYPE_CHECKING:
    from discord import AutoShardedClient

    from adapters.chat.chores import Chores
    from adapters.discord.inbound.ports import Ports
    from adapters.discord.inbound.scene import Scene
    from core.model import Inbound, MessageRef


class Remarks:
    """Says things; nobody waits for it, and what may not be said is left unsaid."""

    def __init__(self, client: AutoShardedClient, ports: Ports, chores: Chores) -> None:
        self._client = client
        self._ports = ports
        self._chores = chores
        self._hints = Hints(client, ports.memo) if ports.memo is not None else None

    def say(self, inbound: Inbound, scene: Scene, sentence: str) -> None:
        """Reply to a message."""
        self._chores.begin(partial(self._post, inbound, scene, sentence))

    def fail(self, inbound: Inbound, scene: Scene, sentence: str) -> None:
        """Reply to a message, and mark it as one that something went wrong with."""
        self.warn(inbound, scene)
        self.say(inbound, scene, f"{WARNING} {sentence}")

    def warn(self, inbound: Inbound, scene: Scene) -> None:
        """Mark a message as one that something went wrong with."""
        if scene.rights.reacts:
            self._chores.begin(partial(self._react, inbound, scene))

    def need(self, scene: Scene) -> None:
        """Tell moderators which permissions are missing, once."""
        missing, channel = scene.rights.missing, scene.channel
        if self._hints is not None and missing and channel is not None:
            self._chores.begin(partial(self._hints.give, channel.guild, scene.parent_id, missing))

    async def _post(self, inbound: Inbound, scene: Scene, sentence: str) -> Posted:
        poster = below(self._client, scene.place.id, inbound.message)
        mark = nonce(inbound.message, inbound.revision, REMARK)
        return await insisted(partial(poster.post, Part(sentence), mark))

    async def _react(self, inbound: Inbound, scene: Scene) -> None:
        channel = self._client.get_partial_messageable(int(scene.place.id))
        message = channel.get_partial_message(int(inbound.message.id))
        await insisted(lambda: translated(message.add_reaction(WARNING)))


def below(client: AutoShardedClient, place: str, message: MessageRef) -> ChannelPoster:
    """Give what replies to a message in the channel or thread that it stands in."""
    return ChannelPoster(client.get_partial_messageable(int(place)), reply_to=int(message.id))
