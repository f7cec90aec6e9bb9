"""Posts, edits and deletes messages in one thread.

Nothing that is posted shows a preview, and every message says all of its words in its text too, which is what screen
readers and notifications read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from adapters.chat.platform import Part, Posted
from adapters.slack.api import NOTHING, Denied, never_arrived, once, tell
from adapters.slack.blocks import blocks_of
from adapters.slack.recovery import LostPosts, Place, mark
from core.errors import Unreachable
from core.model import Question

IS_STREAMING = "streaming_state_conflict"
BAD_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})


class ThreadPoster:
    """A `Poster` for a thread; *lost* finds what was posted unheard.

    The messages of an answer to a *question* are drawn as blocks; without one they are plain words.
    """

    def __init__(self, place: Place, lost: LostPosts | None = None, question: Question | None = None) -> None:
        self.place = place
        self.client = once(place.workspace.client)
        self.lost = lost or LostPosts(place)
        self._question = question
        self._nonces: dict[str, str] = {}

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message, or return the one that stands there already."""
        known = await self.lost.find(nonce)
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
                self.lost.doubt(nonce)
            raise
        return self.took(str(said["ts"]), nonce, part)

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what a message shows; one that somebody still writes as a stream is finished first."""
        nonce = self._nonces.get(message_id)
        metadata = mark(nonce) if nonce else None
        try:
            await self._say("chat.update", part, ts=message_id, metadata=metadata)
        except Denied as denied:
            if denied.code != IS_STREAMING:
                raise
            await self.stop(message_id)
            await self._say("chat.update", part, ts=message_id, metadata=metadata)

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        try:
            await tell(self.client, "chat.delete", channel=self.place.channel, ts=message_id)
        except Denied as denied:
            if denied.code != IS_STREAMING:
                raise
            await self.stop(message_id)
            await tell(self.client, "chat.delete", channel=self.place.channel, ts=message_id)

    async def stop(self, message_id: str) -> None:
        """End a stream as it stands; one that has ended is left as it is."""
        with suppress(Denied):
            await tell(self.client, "chat.stopStream", channel=self.place.channel, ts=message_id)

    def took(self, message_id: str, nonce: str, part: Part | None = None) -> Posted:
        """Remember the nonce of a message, which bears it from its next edit on."""
        self._nonces[message_id] = nonce
        return Posted(message_id, part)

    async def _say(self, method: str, part: Part, **arguments: Any) -> Mapping[str, Any]:
        """Say it with blocks; where Slack finds fault with them, without: plain words are better than none."""
        said = {"channel": self.place.channel, "text": part.plain or part.text, **arguments}
        blocks = blocks_of(part, self._question) if self._question is not None else ()
        try:
            return await tell(self.client, method, blocks=blocks, **said)
        except Denied as denied:
            if denied.code not in BAD_BLOCKS:
                raise
        return await tell(self.client, method, **said)
