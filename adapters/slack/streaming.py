"""Posts an answer in a thread; its first message is a stream, which readers see grow, as long as Slack lets it.

A stream can only be added to, and dies after some minutes. Whatever does not go on from what stands there, and all
that comes after a stream's end, is an edit of the same message. What Slack counts by workspace is kept below its
limits, so that the whole answer never has to wait for drafts.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf

from adapters.chat.platform import Controls, Part, Posted
from adapters.slack.api import NOTHING, Denied, never_arrived, tell
from adapters.slack.blocks import blocks_below
from adapters.slack.poster import ThreadPoster
from adapters.slack.recovery import mark
from core.errors import RateLimited, Unreachable
from core.model import Question

STARTS = 15  # in a minute; Slack allows 20, and counts the streams of all processes
GROWING = 20  # posts in a minute that grow, each of which is edited when it is whole; Slack allows 50 edits
EDITS = 20  # edits in a minute before posts are whole
EDITS_APART = 3.0  # seconds: Slack wants messages to be edited more seldom than streams to grow
MINUTE = 60.0  # seconds
LONG = 3600.0  # seconds after which a workspace that knows no streams is asked again
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


class Budget:
    """Counts what was begun in the last minute in each workspace, such as streams."""

    def __init__(self, starts: int = STARTS, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._starts = starts
        self._clock = clock
        self._started: dict[str, deque[float]] = {}
        self._rests_until: dict[str, float] = {}

    def take(self, workspace: str) -> bool:
        """Return whether another may be begun now, and count it if so."""
        now = self._clock()
        started = self._started.setdefault(workspace, deque())
        while started and started[0] <= now - MINUTE:
            started.popleft()
        if len(started) >= self._starts or now < self._rests_until.get(workspace, now):
            return False
        started.append(now)
        return True

    def rest(self, workspace: str, seconds: float = LONG) -> None:
        """Start none for a while, as Slack said so."""
        self._rests_until[workspace] = self._clock() + seconds


@dataclass(frozen=True, slots=True)
class Budgets:
    """What answers may cost that grow, with room for the last edit of each; beyond it, they are posted whole."""

    streams: Budget = field(default_factory=Budget)
    posts: Budget = field(default_factory=lambda: Budget(GROWING))
    edits: Budget = field(default_factory=lambda: Budget(EDITS))


@dataclass(frozen=True, slots=True)
class Reader:
    """For whom a stream is written; the team is the one of the person, which may be another than the channel's."""

    user_id: str
    team_id: str


@dataclass(frozen=True, slots=True)
class _Stream:
    """A stream that is open; `text` is what was sent, None where nobody knows."""

    id: str
    nonce: str
    text: str | None
    started: float


class AnswerPoster:
    """A `Poster` whose first message is a stream if it is a draft; what is posted or edited goes by *plain*.

    Drafts that are no part of a stream come *apart* seconds after one another at least, and where they are or would be
    too many, only the whole answer is shown. There are no streams without a *reader*. *is_stopped* says whether whoever
    may do so has stopped the answer.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of its own
        self,
        plain: ThreadPoster,
        question: Question,
        budgets: Budgets,
        *,
        reader: Callable[[], Awaitable[Reader]] | None = None,
        is_stopped: Callable[[], bool] = lambda: False,
        apart: float = EDITS_APART,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plain = plain
        self._question = question
        self._budgets = budgets
        self._reader = reader
        self._is_stopped = is_stopped
        self._apart = apart
        self._clock = clock
        self._workspace = plain.place.workspace.name
        self._stream: _Stream | None = None
        self._next = -inf

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message."""
        reader, self._reader = self._reader, None  # only the first one may be a stream
        if reader is not None and part.controls is Controls.STOP:
            known = await self._plain.lost.find(nonce)
            if known is not None:
                return self._plain.took(known, nonce)
            posted = await self._streamed(part, nonce, reader)
            if posted is not None:
                return posted
        if obsolete is None or part.controls is not Controls.STOP:
            return await self._plain.post(part, nonce)
        await self._turn(self._budgets.posts, obsolete)
        try:
            return await self._plain.post(part, nonce)
        except RateLimited:
            self._next = inf
            raise

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what a message shows, by adding to it where that is enough."""
        is_draft = part.controls is Controls.STOP
        if is_draft and self._is_stopped():
            raise RateLimited(0.0)  # nobody wants more of it, and what it ends with comes soon
        stream = self._stream
        if stream is not None and stream.id == message_id and await self._has_gone_on(stream, part):
            return
        if obsolete is None or not is_draft:
            await self._plain.edit(message_id, part)
            return
        await self._turn(self._budgets.edits, obsolete)
        try:
            await self._plain.edit(message_id, part)
        except RateLimited:
            self._next = inf
            raise

    async def delete(self, message_id: str) -> None:
        """Remove a message."""
        await self._plain.delete(message_id)

    async def _turn(self, budget: Budget, obsolete: asyncio.Event) -> None:
        """Wait for the turn of a draft. Raises `RateLimited` for one that is not to be shown any more."""
        seconds = self._next - self._clock()
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(None if seconds == inf else seconds):
                    await obsolete.wait()
        if obsolete.is_set():
            raise RateLimited(0.0)
        self._next = max(self._next, self._clock() + self._apart)
        if not budget.take(self._workspace):
            self._next = inf
            raise RateLimited(0.0)

    async def _streamed(self, part: Part, nonce: str, reader: Callable[[], Awaitable[Reader]]) -> Posted | None:
        """Begin a stream; return None where that is not to be had, and a post may be."""
        streams, place = self._budgets.streams, self._plain.place
        if not streams.take(self._workspace):
            return None
        who = await reader()
        started = self._clock()
        try:
            said = await tell(
                self._plain.client,
                "chat.startStream",
                gone=NOTHING,
                channel=place.channel,
                thread_ts=place.thread,
                markdown_text=part.text,
                recipient_user_id=who.user_id,
                recipient_team_id=who.team_id,
            )
        except Unreachable as failure:
            if not never_arrived(failure):
                self._plain.lost.doubt(nonce, part.text)
            raise
        except RateLimited as failure:
            streams.rest(self._workspace, failure.wait)
            return None
        except Denied as denied:
            if denied.code in CLOSED or denied.code.startswith("restricted_action"):
                raise  # as a post would be
            if denied.code in UNKNOWN:
                streams.rest(self._workspace)
            return None
        self._stream = _Stream(str(said["ts"]), nonce, part.text, started)
        return self._plain.took(self._stream.id, nonce, part)

    async def _has_gone_on(self, stream: _Stream, part: Part) -> bool:
        """Return whether the stream shows the part now; if not, it is over.

        Slack ends one that readers stop, and may take what is added then without showing it.
        """
        is_over = self._clock() - stream.started > LONGEST_STREAM or self._is_stopped()
        if is_over or stream.text is None or not part.text.startswith(stream.text):
            self._stream = None
            await self._plain.stop(stream.id)
            return False
        rest = part.text.removeprefix(stream.text) or None
        client, channel = self._plain.client, self._plain.place.channel
        try:
            if part.controls is not Controls.STOP:
                below = blocks_below(part, self._question) or None
                await tell(
                    client,
                    "chat.stopStream",
                    channel=channel,
                    ts=stream.id,
                    markdown_text=rest,
                    blocks=below,
                    metadata=mark(stream.nonce),
                )
                self._stream = None
                return True
            if rest:
                await tell(client, "chat.appendStream", channel=channel, ts=stream.id, markdown_text=rest)
        except Unreachable:
            self._stream = replace(stream, text=None)  # the words may have been added
            raise
        except Denied:
            self._stream = None  # anybody can stop a stream; whether the answer ends too is not for everybody to say
            return False
        self._stream = replace(stream, text=part.text)
        return True
