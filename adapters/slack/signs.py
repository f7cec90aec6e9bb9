"""What readers see before there is an answer: a sign that the bot works; and how much Slack takes in a minute.

What Slack counts by workspace is kept below its limits, so that what matters never has to wait for what does not.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial

from adapters.chat.platform import QuestionGone
from adapters.retry import QUICK
from adapters.slack.api import Denied, tell
from adapters.slack.poster import Place
from core.errors import Gone, PostingFailed
from core.events import unobserved
from core.messages import SEARCHING

STARTS = 15  # in a minute; Slack allows 20, and counts the streams of all processes
SIGNS = 20  # in a minute in a workspace; Slack takes 50 changes of sessions, two for each, or 20 reactions back
MINUTE = 60.0  # seconds
LONG = 3600.0  # seconds after which a workspace that knows no streams is asked again
RENEWED = 100.0  # seconds; Slack takes the older status away after 120
FAREWELL = 5.0  # seconds for taking a sign away
EYES = "eyes"
NO_STREAMS = frozenset({"unknown_method", "feature_not_enabled", "not_allowed_token_type"})
NO_SIGNS = NO_STREAMS | {"missing_scope"}
NOBODY_READS = frozenset({"channel_not_found", "is_archived", "not_in_channel"})
NO_SIGNS_HERE = frozenset({"channel_type_not_supported", "method_not_supported_for_channel_type"})


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


class SignKind(IntEnum):
    """How it is shown that the bot works, best first: a session, which readers can stop, a status, or a reaction."""

    SESSION = 0
    STATUS = 1
    REACTION = 2


@dataclass(slots=True)
class _Sign:
    """What may be shown for one question, and what is done about it until `is_seen` says that there is an answer."""

    refused: Callable[[PostingFailed], object] = unobserved
    begins: Mapping[str, str] | None = None
    kind: SignKind | None = None
    is_seen: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])

    def hear(self, failure: PostingFailed) -> None:
        """Tell what is refused where nobody could be shown an answer either."""
        if isinstance(failure, Gone):
            self.refused(QuestionGone("the question was deleted"))
        elif isinstance(failure, Denied) and failure.code in NOBODY_READS:
            self.refused(failure)


@dataclass(slots=True)
class Indicator:
    """Shows that the bot works on answers, in the best way that each workspace knows, which it remembers.

    Where it fails nothing is shown: the answer itself meets the same trouble, and deals with it. Where the bot may not
    be, or the question is gone, that is told at once, before a model has written what nobody could be shown.
    """

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    budget: CallBudget = field(default_factory=lambda: CallBudget(SIGNS))  # what cannot be taken away again would stay
    _best: dict[str, SignKind] = field(default_factory=dict[str, SignKind], init=False)

    @asynccontextmanager
    async def shown(
        self,
        place: Place,
        refused: Callable[[PostingFailed], object] = unobserved,
        *,
        begins: Mapping[str, str] | None = None,
        inherits: bool = False,
    ) -> AsyncGenerator[Callable[[], object]]:
        """Show a sign while the context is open; what it yields is called when people see something of the answer.

        A session that *begins* is given those arguments. Then the sign is renewed no more; a session goes on, so that
        it can be stopped. Whoever *inherits* a question also takes away what the worker before may have left there.
        """
        sign = _Sign(refused, begins)
        if self.budget.take(place.workspace.name):
            sign.tasks.append(asyncio.create_task(self._change(place, sign, is_there=True)))
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

    async def _change(self, place: Place, sign: _Sign, *, is_there: bool) -> None:
        """Show the best sign that there is, or take it away; a refusal is heard by the sign."""
        try:
            await self._put_best(place, sign, is_there=is_there)
        except PostingFailed as failure:
            sign.hear(failure)

    async def _put_best(self, place: Place, sign: _Sign, *, is_there: bool) -> None:
        """Show the best sign or take it away, and note which, also if nobody hears that it worked."""
        name = place.workspace.name
        for kind in list(SignKind)[self._best.get(name, SignKind.SESSION) :]:
            sign.kind = kind
            putting = partial(_put, place, kind, is_there=is_there, begins=sign.begins)
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
