"""What readers see while an answer is on its way: a sign that the bot works, and a first message that grows.

That message is a stream as long as Slack lets it. A stream can only be added to, and dies after some minutes: whatever
does not go on from what stands there, and all that comes after a stream's end, is an edit of the same message. What
Slack counts by workspace is kept below its limits, so that the whole answer never has to wait for drafts.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.chat.platform import Barred, Controls, Part, Posted
from adapters.retry import QUICK
from adapters.slack.api import BARRED, Denied, never_arrived, tell
from adapters.slack.dialect import blocks_below
from adapters.slack.poster import Place, ThreadPoster
from core.errors import PostingFailed, RateLimited, Unreachable
from core.messages import SEARCHING

if TYPE_CHECKING:
    from adapters.slack.people import People

Result = TypeVar("Result")

STARTS = 15  # in a minute; Slack allows 20, and counts the streams of all processes
GROWING = 20  # posts in a minute that grow, each of which is edited when it is whole; Slack allows 50 edits
EDITS = 20  # edits in a minute before posts are whole
POSTS_APART = 1.0  # seconds: more than one message a second in a channel may be refused, or not be shown
EDITS_APART = 3.0  # seconds: Slack wants messages to be edited more seldom than streams to grow
SIGNS = 20  # in a minute in a workspace; Slack takes 50 changes of sessions, two for each, or 20 reactions back
MINUTE = 60.0  # seconds
LONG = 3600.0  # seconds after which a workspace that knows no streams is asked again
LONGEST_STREAM = 240.0  # seconds; Slack ends it after about 300
LONGEST_LOOK = 2.0  # seconds, for the home of a person; people wait for the first words
RENEWED = 100.0  # seconds; Slack takes the older status away after 120
FAREWELL = 5.0  # seconds for taking a sign away
TITLE = 200  # characters; Slack allows no more
EYES = "eyes"
NO_STREAMS = frozenset({"unknown_method", "feature_not_enabled", "not_allowed_token_type"})
NO_SIGNS = NO_STREAMS | {"missing_scope"}
NO_SIGNS_HERE = frozenset({"channel_type_not_supported", "method_not_supported_for_channel_type"})
CLOSED = BARRED | {"account_inactive", "thread_not_found"}


@dataclass(slots=True)
class CallBudget:
    """Counts what was begun in the last minute in each workspace, such as streams: no more than *starts*."""

    starts: int = STARTS
    clock: Callable[[], float] = time.monotonic
    _started: dict[str, deque[float]] = field(default_factory=dict[str, deque[float]], init=False)
    _rests_until: dict[str, float] = field(default_factory=dict[str, float], init=False)

    def take(self, workspace: str) -> bool:
        """Return whether another may be begun now, and count it if so."""
        now = self.clock()
        started = self._started.setdefault(workspace, deque())
        while started and started[0] <= now - MINUTE:
            started.popleft()
        if len(started) >= self.starts or now < self._rests_until.get(workspace, now):
            return False
        started.append(now)
        return True

    def rest(self, workspace: str, seconds: float = LONG) -> None:
        """Allow none in a workspace for so many seconds, as Slack said so."""
        self._rests_until[workspace] = self.clock() + seconds


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


class SignKind(IntEnum):
    """How it is shown that the bot works, best first: a session, which readers can stop, a status, or a reaction."""

    SESSION = 0
    STATUS = 1
    REACTION = 2


@dataclass(slots=True)
class _Sign:
    """What may be shown for one question, and what is done about it until `is_seen` says that there is an answer."""

    kind: SignKind | None = None
    is_seen: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])


@dataclass(slots=True)
class Indicator:
    """Shows that the bot works on answers, in the best way that each workspace knows, which it remembers.

    Where it fails nothing is shown: the answer itself meets the same trouble, and deals with it.
    """

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    budget: CallBudget = field(default_factory=lambda: CallBudget(SIGNS))  # what cannot be taken away again would stay
    _best: dict[str, SignKind] = field(default_factory=dict[str, SignKind], init=False)

    @asynccontextmanager
    async def shown(
        self, place: Place, *, begins: Mapping[str, str] | None = None, inherits: bool = False
    ) -> AsyncGenerator[Callable[[], object]]:
        """Show a sign while the context is open; what it yields is called when people see something of the answer.

        A session that *begins* is given those arguments. Then the sign is renewed no more; a session goes on, so that
        it can be stopped. Whoever *inherits* a question also takes away what the worker before may have left there.
        """
        sign = _Sign()
        if self.budget.take(place.workspace.name):
            sign.tasks.append(asyncio.create_task(self._change(place, sign, is_there=True, begins=begins)))
        try:
            yield sign.is_seen.set
        finally:
            try:
                if sign.tasks:  # or else it could appear after it was taken away
                    await asyncio.wait(sign.tasks[:1], timeout=FAREWELL)
            finally:
                for task in sign.tasks:
                    task.cancel()
                if sign.tasks:
                    await asyncio.wait(sign.tasks)
            with suppress(PostingFailed, TimeoutError):
                async with asyncio.timeout(FAREWELL):
                    if sign.kind is not None:
                        await QUICK.call(partial(_put, place, sign.kind, is_there=False))
                    elif inherits:
                        await self.take_away(place)

    async def take_away(self, place: Place) -> None:
        """Take away what a worker before may have left, in the best way that the workspace knows, if that works.

        All workers find the same way, so that it is the one in which it was shown.
        """
        await self._change(place, _Sign(), is_there=False)

    async def _change(
        self, place: Place, sign: _Sign, *, is_there: bool, begins: Mapping[str, str] | None = None
    ) -> None:
        """Show the best sign that there is, or take it away, and note which, also if nobody hears that it worked."""
        name = place.workspace.name
        with suppress(PostingFailed):
            for kind in list(SignKind)[self._best.get(name, SignKind.SESSION) :]:
                sign.kind = kind
                putting = partial(_put, place, kind, is_there=is_there, begins=begins)
                try:
                    await (putting() if is_there else QUICK.call(putting))
                except Denied as denied:
                    sign.kind = None
                    if denied.code in NO_SIGNS:
                        self._best[name] = SignKind(min(kind + 1, SignKind.REACTION))
                    elif denied.code not in NO_SIGNS_HERE:
                        raise
                else:
                    if is_there and kind is SignKind.STATUS:
                        sign.tasks.append(asyncio.create_task(self._renew(place, sign)))
                    return

    async def _renew(self, place: Place, sign: _Sign) -> None:
        with suppress(PostingFailed):
            await self.sleep(RENEWED)
            while not sign.is_seen.is_set():
                await _put(place, SignKind.STATUS, is_there=True)
                await self.sleep(RENEWED)


async def _put(place: Place, kind: SignKind, *, is_there: bool, begins: Mapping[str, str] | None = None) -> None:
    client, thread = place.workspace.once, {"channel_id": place.channel, "thread_ts": place.thread}
    match kind:
        case SignKind.SESSION:
            status = "processing" if is_there else "active"
            await tell(client, "agents.sessions.setStatus", **thread, status=status, **(begins or {}))
        case SignKind.STATUS:
            await tell(client, "assistant.threads.setStatus", **thread, status=SEARCHING if is_there else "")
        case SignKind.REACTION:
            method = "reactions.add" if is_there else "reactions.remove"
            await tell(client, method, channel=place.channel, timestamp=place.asked, name=EYES)
