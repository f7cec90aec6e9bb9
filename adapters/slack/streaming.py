"""What readers see while an answer is on its way: a first message that grows.

That message is a stream as long as Slack lets it. A stream can only be added to, and dies after some minutes: whatever
does not go on from what stands there, and all that comes after a stream's end, is an edit of the same message. What
Slack counts by workspace is kept below its limits, so that the whole answer never has to wait for drafts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.chat.platform import Barred, Controls, Part, Posted
from adapters.slack.api import BARRED, Denied, never_arrived, tell
from adapters.slack.dialect import blocks_below
from adapters.slack.poster import ThreadPoster
from adapters.slack.signs import NO_STREAMS, CallBudget
from core.errors import PostingFailed, RateLimited, Unreachable

if TYPE_CHECKING:
    from adapters.slack.people import People

Result = TypeVar("Result")

GROWING = 20  # posts in a minute that grow, each of which is edited when it is whole; Slack allows 50 edits
EDITS = 20  # edits in a minute before posts are whole
POSTS_APART = 1.0  # seconds: more than one message a second in a channel may be refused, or not be shown
EDITS_APART = 3.0  # seconds: Slack wants messages to be edited more seldom than streams to grow
LONGEST_STREAM = 240.0  # seconds; Slack ends it after about 300
LONGEST_LOOK = 2.0  # seconds, for the home of a person; people wait for the first words
TITLE = 200  # characters; Slack allows no more
CLOSED = BARRED | {"account_inactive", "thread_not_found"}


@dataclass(frozen=True, slots=True)
class Budgets:
    """What answers may cost that grow, with room for the last edit of each; beyond it, they are posted whole."""

    streams: CallBudget = field(default_factory=CallBudget)
    posts: CallBudget = field(default_factory=lambda: CallBudget(GROWING))
    edits: CallBudget = field(default_factory=lambda: CallBudget(EDITS))


@dataclass(frozen=True, slots=True)
class _Stream:
    """A stream that is open; `text` is what was sent, None where nobody knows."""

    id: str
    text: str | None
    started: float


@dataclass(kw_only=True)
class AnswerPoster(ThreadPoster):
    """A `Poster` whose first message is a stream if it is a draft, for whoever asked, as *readers* know that person.

    Without them nothing is streamed. Drafts that are no part of a stream come *apart* seconds after one another at
    least, and where they are or would be too many, only the whole answer is shown. Its messages are posted at least
    *posts_apart* seconds after one another. *is_stopped* says whether whoever may do so has stopped the answer.
    """

    budgets: Budgets
    readers: People | None = None
    is_stopped: Callable[[], bool] = lambda: False
    apart: float = EDITS_APART
    posts_apart: float = POSTS_APART
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _next_post: float = field(default=-inf, init=False)
    _stream: _Stream | None = field(default=None, init=False)
    _next: float = field(default=-inf, init=False)

    async def post(self, part: Part, nonce: str, obsolete: asyncio.Event | None = None) -> Posted:
        """Post a message, some time after the one before."""
        if not (is_draft := obsolete is not None and part.controls is Controls.STOP):
            await self.sleep(max(0.0, self._next_post - self.clock()))
        self._next = max(self._next, self._next_post)
        try:
            return await self._posted(part, nonce, obsolete if is_draft else None)
        finally:
            self._next_post = self.clock() + self.posts_apart

    async def _posted(self, part: Part, nonce: str, obsolete: asyncio.Event | None) -> Posted:
        """Post a message now or, if it is a draft that may become *obsolete*, once it is its turn."""
        readers, self.readers = self.readers, None  # only the first one may be a stream
        if readers is not None and part.controls is Controls.STOP and not part.is_passing:
            posted = await self._streamed(part, nonce, readers)
            if posted is not None:
                return posted
        post = partial(super().post, part, nonce)
        return await (post() if obsolete is None else self._in_turn(self.budgets.posts, obsolete, post))

    async def edit(self, message_id: str, part: Part, obsolete: asyncio.Event | None = None) -> None:
        """Replace what a message shows, by adding to it where that is enough."""
        is_draft = part.controls is Controls.STOP
        if is_draft and self.is_stopped():
            raise RateLimited(0.0)  # nobody wants more of it, and what it ends with comes soon
        stream = self._stream
        if stream is not None and stream.id == message_id and await self._has_gone_on(stream, part):
            return
        edit = partial(super().edit, message_id, part)
        await (edit() if obsolete is None or not is_draft else self._in_turn(self.budgets.edits, obsolete, edit))

    async def _in_turn(
        self, budget: CallBudget, obsolete: asyncio.Event, call: Callable[[], Awaitable[Result]]
    ) -> Result:
        """Show a draft once it is its turn. Raises `RateLimited` for one that is not to be shown any more."""
        seconds = self._next - self.clock()
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(None if seconds == inf else seconds):
                    await obsolete.wait()
        if obsolete.is_set():
            raise RateLimited(0.0)
        self._next = max(self._next, self.clock() + self.apart)
        if not budget.take(self.place.workspace.name):
            self._next = inf
            raise RateLimited(0.0)
        try:
            return await call()
        except RateLimited:
            self._next = inf
            raise

    async def _streamed(self, part: Part, nonce: str, readers: People) -> Posted | None:
        """Begin a stream, or return the one that stands there; None where that is not to be had, and a post may be."""
        place, workspace, streams = self.place, self.place.workspace, self.budgets.streams
        known = await self.find(nonce) if self.all_in_doubt else None  # this is the first post, so no other is in doubt
        if known is not None:
            return Posted(known)
        if self.question is None or not streams.take(workspace.name):
            return None
        reader, team = self.question.author.id, workspace.team_id  # of people of shared channels, it is another one
        with suppress(PostingFailed, TimeoutError):
            async with asyncio.timeout(LONGEST_LOOK):
                team = (await readers.profile(workspace.name, reader)).team_id or team
        given = {"channel": place.channel, "thread_ts": place.thread, "markdown_text": part.text}
        given |= {"recipient_user_id": reader, "recipient_team_id": team}
        started = self.clock()
        try:
            said = await tell(workspace.once, "chat.startStream", gone=(), **given)
        except Unreachable as failure:
            if not never_arrived(failure):
                self.doubt(nonce, part.text)
            raise
        except (RateLimited, Denied) as failure:
            return self._goes_without(failure)
        self._stream = _Stream(str(said["ts"]), part.text, started)
        self.nonces[self._stream.id] = nonce
        return Posted(self._stream.id, part)

    def _goes_without(self, failure: RateLimited | Denied) -> None:
        """Note for how long there are no streams. Raises the failure where a post would fail as well."""
        workspace, streams = self.place.workspace.name, self.budgets.streams
        if isinstance(failure, RateLimited):
            streams.rest(workspace, failure.wait)
        elif failure.code in CLOSED or failure.code.startswith("restricted_action"):
            raise failure
        elif failure.code in NO_STREAMS:
            streams.rest(workspace)

    async def _has_gone_on(self, stream: _Stream, part: Part) -> bool:
        """Return whether the stream shows the part now; if not, it is over.

        Slack ends one that readers stop, and may take what is added then without showing it.
        """
        is_over = self.clock() - stream.started > LONGEST_STREAM or self.is_stopped()
        if is_over or stream.text is None or not part.text.startswith(stream.text):
            self._stream = None
            await self.stop(stream.id)
            return False
        rest = part.text.removeprefix(stream.text) or None
        client, what = self.place.workspace.once, {"channel": self.place.channel, "ts": stream.id}
        try:
            if part.controls is not Controls.STOP:
                below = blocks_below(part, self.question) if self.question is not None else []
                ends: dict[str, Any] = {"blocks": below or None, "nonce": self.nonces[stream.id]}
                await tell(client, "chat.stopStream", **what, markdown_text=rest, **ends)
                self._stream = None
                return True
            if rest:
                await tell(client, "chat.appendStream", **what, markdown_text=rest)
        except Unreachable:
            self._stream = replace(stream, text=None)  # the words may have been added
            raise
        except Barred:
            raise
        except Denied:
            self._stream = None  # anybody can stop a stream; whether the answer ends too is not for everybody to say
            return False
        self._stream = replace(stream, text=part.text)
        return True
