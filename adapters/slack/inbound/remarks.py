"""What the bot says beside answers: why there will be none."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from adapters.chat.insisting import insisted
from adapters.chat.posting import REMARK, Part, Posted, nonce
from adapters.slack.client.failures import tell
from adapters.slack.client.lost import LostPosts, Place
from adapters.slack.client.poster import Look, ThreadPoster
from core.errors import StoreUnavailable
from core.sentences import WARNING

if TYPE_CHECKING:
    from adapters.chat.chores import Chores
    from adapters.slack.client.workspaces import Workspace
    from adapters.slack.inbound.ports import Ports
    from core.model import Inbound, MessageRef

REACTION = "warning"
PLAIN = Look(
    blocks=lambda _: (), below=lambda _: (), text=lambda part: part.text
)  # for words that the code has written


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


async def _post(inbound: Inbound, workspace: Workspace, sentence: str) -> Posted:
    poster = below(inbound.message, workspace)
    mark = nonce(inbound.message, inbound.revision, REMARK)
    return await insisted(partial(poster.post, Part(sentence), mark))


def below(message: MessageRef, workspace: Workspace) -> ThreadPoster:
    """Give what replies to a message in its thread."""
    place = place_of(message, workspace)
    return ThreadPoster(place, PLAIN, LostPosts(place))


def place_of(message: MessageRef, workspace: Workspace) -> Place:
    """Say where a message is replied to."""
    return Place(workspace, message.thread.channel, message.thread.thread, message.id)


async def _react(inbound: Inbound, workspace: Workspace) -> None:
    target = {"channel": inbound.thread.channel, "timestamp": inbound.message.id}
    await insisted(lambda: tell(workspace.client, "reactions.add", name=REACTION, **target))
