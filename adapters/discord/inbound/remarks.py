"""What the bot says beside answers: why there will be none, that many wait, and what moderators have to allow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.insisting import insisted
from adapters.chat.meanwhile import answered, shown
from adapters.chat.posting import Part, Posted, Poster, nonce
from adapters.discord.client.poster import ChannelPoster, translated
from adapters.discord.inbound.hints import Hints

if TYPE_CHECKING:
    from discord import AutoShardedClient

    from adapters.chat.chores import Chores
    from adapters.discord.inbound.ports import Ports
    from adapters.discord.inbound.scene import Scene
    from core.model import Inbound

WARNING = "⚠️"
ASIDE = -1  # the number of a message beside those of the answer, which are counted from 0
BUSY_FOR = 600  # seconds in which nobody is told again in the same place that many wait


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

    def count(self, inbound: Inbound, scene: Scene) -> None:
        """Say how long it will take, if many wait; once in a while in the same place, and until the answer is there."""
        self._chores.begin(partial(self._count, inbound, scene))

    async def _count(self, inbound: Inbound, scene: Scene) -> None:
        crowd, memo = self._ports.crowd, self._ports.memo
        sentence = crowd.sentence(await self._ports.inbox.waiting()) if crowd and memo else None
        while_ = int(self._ports.now().timestamp() // BUSY_FOR)
        if not (sentence and memo and await memo.changed(f"discord:busy:{scene.place.id}", str(while_))):
            return
        poster, posted = await self._post(inbound, scene, sentence)
        if (running := self._ports.running) is not None:
            async with shown(poster, posted):
                await answered(inbound.message, running, sleep=self._ports.sleep)

    async def _post(self, inbound: Inbound, scene: Scene, sentence: str) -> tuple[Poster, Posted]:
        channel = self._client.get_partial_messageable(int(scene.place.id))
        poster = ChannelPoster(channel, reply_to=int(inbound.message.id))
        mark = nonce(inbound.message, inbound.revision, ASIDE)
        return poster, await insisted(partial(poster.post, Part(sentence), mark))

    async def _react(self, inbound: Inbound, scene: Scene) -> None:
        channel = self._client.get_partial_messageable(int(scene.place.id))
        message = channel.get_partial_message(int(inbound.message.id))
        await insisted(lambda: translated(message.add_reaction(WARNING)))
