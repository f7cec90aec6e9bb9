"""Posts, edits and deletes the messages of one answer in one thread.

Nothing that is posted shows a preview, and every message says all of its words in its text too, which is what screen
readers and notifications read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from adapters.chat.posting import Part, Posted
from adapters.slack.api import NOTHING, Denied, never_arrived, once, tell
from adapters.slack.client.lost import LostPosts, Place, mark
from core.errors import Unreachable

Block: TypeAlias = Mapping[str, Any]

IS_STREAMING = "streaming_state_conflict"
BAD_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})


@dataclass(frozen=True, slots=True)
class Look:
    """How a message is drawn: as *blocks*, of which some stand *below* the words, and whole as plain *text*."""

    blocks: Callable[[Part], Sequence[Block]]
    below: Callable[[Part], Sequence[Block]]
    text: Callable[[Part], str]


class ThreadPoster:
    """A `Poster` for a thread; *lost* finds what was posted unheard."""

    def __init__(self, place: Place, look: Look, lost: LostPosts) -> None:
        self.place = place
        self._client = once(place.workspace.client)
        self._look = look
        self._lost = lost
        self._nonces: dict[str, str] = {}

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message, or give the one that stands there already."""
        known = await self._lost.find(nonce)
        if known is not None:
            return self.took(known, nonce)
        try:
            said = await self._say(
                "chat.postMessage",
                part,
                gone=NOTHING,  # of a thread that is gone nothing of ours is missing
                thread_ts=self.place.thread,
                metadata=mark(nonce),
                unfurl_links=False,
                unfurl_media=False,
            )
        except Unreachable as failure:
            if not never_arrived(failure):
                self._lost.doubt(nonce)
            raise
        return self.took(str(said["ts"]), nonce, part)

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace what a message shows; one that somebody still writes as a stream is finished first."""
        try:
            await self._update(message_id, part)
        except Denied as denied:
            if denied.code != IS_STREAMING:
                raise
            await self.stop(message_id)
            await self._update(message_id, part)

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        try:
            await self._remove(message_id)
        except Denied as denied:
            if denied.code != IS_STREAMING:
                raise
            await self.stop(message_id)
            await self._remove(message_id)

    async def stop(self, message_id: str) -> None:
        """End a stream as it stands; one that has ended is left as it is."""
        with suppress(Denied):
            await tell(self._client, "chat.stopStream", channel=self.place.channel, ts=message_id)

    def took(self, message_id: str, nonce: str, part: Part | None = None) -> Posted:
        """Remember the nonce of a message, which bears it from its next edit on."""
        self._nonces[message_id] = nonce
        return Posted(message_id, part)

    async def _update(self, message_id: str, part: Part) -> None:
        nonce = self._nonces.get(message_id)
        await self._say("chat.update", part, ts=message_id, metadata=mark(nonce) if nonce else None)

    async def _remove(self, message_id: str) -> None:
        await tell(self._client, "chat.delete", channel=self.place.channel, ts=message_id)

    async def _say(self, method: str, part: Part, **arguments: Any) -> Mapping[str, Any]:
        """Say it with blocks; where Slack finds fault with them, without: plain words are better than none."""
        said = {"channel": self.place.channel, "text": self._look.text(part), **arguments}
        try:
            return await tell(self._client, method, blocks=self._look.blocks(part), **said)
        except Denied as denied:
            if denied.code not in BAD_BLOCKS:
                raise
        return await tell(self._client, method, **said)
