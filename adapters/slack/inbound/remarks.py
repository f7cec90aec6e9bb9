"""What the bot says beside answers: why there will be none, and that many wait."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.insisting import insisted
from adapters.chat.meanwhile import answered, shown
from adapters.chat.posting import Part, Posted, Poster, nonce
from adapters.slack.client.failures import tell
from adapters.slack.client.lost import LostPosts, Place
from adapters.slack.client.poster import Look, ThreadPoster
from core.errors import StoreUnavailable

if TYPE_CHECKING:
    from adapters.chat.chores import Chores
    from adapters.slack.client.workspaces import Workspace
    from adapters.slack.inbound.ports import Ports
    from core.model import Inbound

WARNING, REACTION = "⚠️", "warning"
ASIDE = -1  # the number of a message beside those of the answer, which are counted from 0
PLAIN = Look(
    blocks=lambda _: (), below=lambda _: (), text=lambda part: part.text
)  # for words that the code has written
BUSY_FOR = 600  # seconds in which nobody is told again in the same place that many wait


class Remarks:
    """Says things; nobody waits for it, and what may not be said is left unsaid."""

    def __init__(self, ports: Ports, chores: Chores) -> None:
        self._ports = ports
        self._chores = chores

    def say(self, inbound: Inbound, workspace: Workspace, sentence: str) -> None:
        """Reply to a message in its thread, once: the event that it was told with may come again."""
        self._chores.begin(partial(self._say_once, inbound, workspace, sentence))

    def fail(self, inbound: Inbound, workspace: Workspace, sentence: str) -> None:
        """Reply to a message, and mark it as one that something went wrong with."""
        self._chores.begin(partial(_react, inbound, workspace))
        self.say(inbound, workspace, f"{WARNING} {sentence}")

    def count(self, inbound: Inbound, workspace: Workspace) -> None:
        """Say how long it will take, if many wait; once in a while in the same place, and until the answer is there."""
        self._chores.begin(partial(self._count, inbound, workspace))

    async def _count(self, inbound: Inbound, workspace: Workspace) -> None:
        crowd, memo = self._ports.crowd, self._ports.memo
        sentence = crowd.sentence(await self._ports.inbox.waiting()) if crowd and memo else None
        place = f"slack:busy:{workspace.name}:{inbound.thread.channel}"
        while_ = int(self._ports.now().timestamp() // BUSY_FOR)
        if not (sentence and memo and await memo.changed(place, str(while_))):
            return
        poster, posted = await _post(inbound, workspace, sentence)
        if (running := self._ports.running) is not None:
            async with shown(poster, posted):
                await answered(inbound.message, running, sleep=self._ports.sleep)

    async def _say_once(self, inbound: Inbound, workspace: Workspace, sentence: str) -> None:
        if await self._is_new(inbound):
            await _post(inbound, workspace, sentence)

    async def _is_new(self, inbound: Inbound) -> bool:
        if self._ports.memo is None:
            return True
        try:
            return await self._ports.memo.changed(f"slack:remark:{inbound.message}", str(inbound.revision))
        except StoreUnavailable:
            return True  # once more than needed is better than not at all


async def _post(inbound: Inbound, workspace: Workspace, sentence: str) -> tuple[Poster, Posted]:
    thread = inbound.thread
    place = Place(workspace, thread.channel, thread.thread, inbound.message.id)
    poster = ThreadPoster(place, PLAIN, LostPosts(place))
    mark = nonce(inbound.message, inbound.revision, ASIDE)
    return poster, await insisted(partial(poster.post, Part(sentence), mark))


async def _react(inbound: Inbound, workspace: Workspace) -> None:
    target = {"channel": inbound.thread.channel, "timestamp": inbound.message.id}
    await insisted(lambda: tell(workspace.client, "reactions.add", name=REACTION, **target))
