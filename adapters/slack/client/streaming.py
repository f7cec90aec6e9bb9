"""Posts the first message of an answer as a stream, which readers see grow, as long as Slack lets it.

A stream can only be added to, and dies after some minutes. Whatever does not go on from what stands there, and all
that comes after a stream's end, is an edit of the same message.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from adapters.chat.posting import Controls, Part, Posted, Poster
from adapters.slack.api import NOTHING, Denied, never_arrived, once, tell
from adapters.slack.client.budget import Budget
from adapters.slack.client.lost import LostPosts, mark
from adapters.slack.client.poster import Look, ThreadPoster
from core.errors import RateLimited, Unreachable

LONGEST_STREAM = 240.0  # seconds; Slack ends it after about 300
UNKNOWN = frozenset({"unknown_method", "feature_not_enabled", "not_allowed_token_type"})
CLOSED = frozenset(
    {
        "account_inactive",
        "channel_not_found",
        "invalid_auth",
        "is_archived",
        "not_in_channel",
        "thread_not_found",
        "token_revoked",
    }
)


@dataclass(frozen=True, slots=True)
class Reader:
    """For whom a stream is written; the team is the one of the person, which may be another than the channel's."""

    user_id: str
    team_id: str


def unstopped() -> bool:
    """Know of no reader who has stopped the answer."""
    return False


@dataclass(frozen=True, slots=True)
class Streaming:
    """What streams need: for whom, how many may be started, whether whoever may do so has stopped it, and the time."""

    reader: Callable[[], Awaitable[Reader]]
    budget: Budget
    is_stopped: Callable[[], bool] = unstopped
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class _Stream:
    """A stream that is open; `text` is what was sent, None where nobody knows."""

    id: str
    nonce: str
    text: str | None
    started: float


class StreamPoster:
    """A `Poster` whose first message is a stream if it is a draft; all others go *otherwise*."""

    def __init__(
        self, plain: ThreadPoster, otherwise: Poster, look: Look, lost: LostPosts, streaming: Streaming
    ) -> None:
        self._place = plain.place
        self._client = once(plain.place.workspace.client)
        self._plain = plain
        self._otherwise = otherwise
        self._look = look
        self._lost = lost
        self._with = streaming
        self._may_start = True
        self._stream: _Stream | None = None

    async def post(self, part: Part, nonce: str) -> Posted:
        """Post a message."""
        is_draft, may_start, self._may_start = part.controls is Controls.STOP, self._may_start, False
        if not is_draft or not may_start:
            return await self._otherwise.post(part, nonce)
        known = await self._lost.find(nonce)
        if known is not None:
            return self._plain.took(known, nonce)
        if not self._with.budget.take(self._place.workspace.name):
            return await self._otherwise.post(part, nonce)
        try:
            return await self._start(part, nonce)
        except RateLimited as failure:
            self._with.budget.rest(self._place.workspace.name, failure.wait)
        except Denied as denied:
            if denied.code in CLOSED or denied.code.startswith("restricted_action"):
                raise  # as a post would be
            if denied.code in UNKNOWN:
                self._with.budget.rest(self._place.workspace.name)
        return await self._otherwise.post(part, nonce)

    async def edit(self, message_id: str, part: Part) -> None:
        """Replace what a message shows, by adding to it where that is enough."""
        if part.controls is Controls.STOP and self._with.is_stopped():
            raise RateLimited(0.0)  # nobody wants more of it, and what it ends with comes soon
        stream, self._stream = self._stream, None
        if stream is None or stream.id != message_id:
            self._stream = stream
        elif await self._has_gone_on(stream, part):
            return
        await self._otherwise.edit(message_id, part)

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        await self._otherwise.delete(message_id)

    async def _start(self, part: Part, nonce: str) -> Posted:
        reader = await self._with.reader()
        started = self._with.clock()
        try:
            said = await tell(
                self._client,
                "chat.startStream",
                gone=NOTHING,
                channel=self._place.channel,
                thread_ts=self._place.thread,
                markdown_text=part.text,
                recipient_user_id=reader.user_id,
                recipient_team_id=reader.team_id,
            )
        except Unreachable as failure:
            if not never_arrived(failure):
                self._lost.doubt(nonce, part.text)
            raise
        self._stream = _Stream(str(said["ts"]), nonce, part.text, started)
        return self._plain.took(self._stream.id, nonce, part)

    async def _has_gone_on(self, stream: _Stream, part: Part) -> bool:
        """Return whether the stream shows the part now; if not, it is over.

        Slack ends one that readers stop, and may take what is added then without showing it.
        """
        is_over = self._with.clock() - stream.started > LONGEST_STREAM or self._with.is_stopped()
        if is_over or stream.text is None or not part.text.startswith(stream.text):
            await self._plain.stop(stream.id)
            return False
        rest = part.text.removeprefix(stream.text)
        self._stream = stream  # which it stays where Slack is only busy
        try:
            await (
                self._append(stream, part, rest) if part.controls is Controls.STOP else self._end(stream, part, rest)
            )
        except Unreachable:
            self._stream = replace(stream, text=None)  # the words may have been added
            raise
        except Denied:
            self._stream = None  # anybody can stop a stream; whether the answer ends too is not for everybody to say
            return False
        return True

    async def _append(self, stream: _Stream, part: Part, rest: str) -> None:
        if rest:
            await tell(self._client, "chat.appendStream", channel=self._place.channel, ts=stream.id, markdown_text=rest)
        self._stream = replace(stream, text=part.text)

    async def _end(self, stream: _Stream, part: Part, rest: str) -> None:
        await tell(
            self._client,
            "chat.stopStream",
            channel=self._place.channel,
            ts=stream.id,
            markdown_text=rest or None,
            blocks=self._look.below(part) or None,
            metadata=mark(stream.nonce),
        )
        self._stream = None
