"""Lets people see that an answer is on its way: natively where the workspace can, or else by a reaction."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from types import TracebackType
from typing import Self

from adapters.slack.api import Denied, once, tell
from adapters.slack.client.budget import Budget
from adapters.slack.client.lost import Place
from core.errors import PostingFailed
from core.model import without_controls

SIGNS = 20  # in a minute in a workspace; Slack takes 50 changes of sessions, two for each, or 20 reactions back
RENEWED = 100.0  # seconds; Slack takes the older status away after 120
FAREWELL = 5.0  # seconds for taking a sign away
TITLE = 200  # characters; Slack allows no more
SEARCHING = "is searching the documents…"
EYES = "eyes"
UNKNOWN = frozenset({"feature_not_enabled", "missing_scope", "not_allowed_token_type", "unknown_method"})
NOT_HERE = frozenset({"channel_type_not_supported", "method_not_supported_for_channel_type"})
_MARKS = re.compile(r"[`*_~|<>#\[\]\\]+")


class Way(IntEnum):
    """How it is shown, best first: a session, which readers can stop, an older status, or a reaction."""

    SESSION = 0
    STATUS = 1
    REACTION = 2


@dataclass(frozen=True, slots=True)
class Ways:
    """Remembers the best way that each workspace knows, and how often it was shown lately."""

    _found: dict[str, Way] = field(default_factory=dict[str, Way])
    _shown: Budget = field(default_factory=lambda: Budget(SIGNS))

    def best(self, workspace: str) -> Way:
        """Return it."""
        return self._found.get(workspace, Way.SESSION)

    def may_show(self, workspace: str) -> bool:
        """Return whether one more may be shown: what cannot be taken away again would stay."""
        return self._shown.take(workspace)

    def skip(self, workspace: str, way: Way) -> None:
        """Take note of a way that the workspace does not know."""
        self._found[workspace] = Way(min(way + 1, Way.REACTION))


class Indicator:
    """Shows that the bot works while the context is open; None shows nothing.

    Where it fails nothing is shown: the answer itself meets the same trouble, and deals with it. Whoever *inherits* a
    question also takes away what the worker before may have left there.
    """

    def __init__(
        self,
        place: Place | None,
        ways: Ways,
        *,
        title: str = "",
        inherits: bool = False,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._place = place
        self._ways = ways
        self._title = title
        self._inherits = inherits
        self._sleep = sleep
        self._way: Way | None = None
        self._showing: asyncio.Task[None] | None = None
        self._renewing: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Renew it no more: people see the answer. A session goes on, so that it can be stopped."""
        if self._renewing is not None:
            self._renewing.cancel()

    async def __aenter__(self) -> Self:
        if self._place is not None and self._ways.may_show(self._place.workspace.name):
            self._showing = asyncio.create_task(self._show(self._place))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._place is None:
            return
        if self._showing is not None:
            await asyncio.wait([self._showing], timeout=FAREWELL)  # or else it could appear after it was taken away
        tasks = [task for task in (self._showing, self._renewing) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        with suppress(PostingFailed, TimeoutError):
            async with asyncio.timeout(FAREWELL):
                await self._clear(self._place)

    async def _show(self, place: Place) -> None:
        name = place.workspace.name
        for way in list(Way)[self._ways.best(name) :]:
            self._way = way  # also if nobody hears that it worked
            try:
                await _put(place, way, is_there=True, title=self._title)
            except Denied as denied:
                self._way = None
                if denied.code in UNKNOWN:
                    self._ways.skip(name, way)
                elif denied.code not in NOT_HERE:
                    return
            except PostingFailed:
                return
            else:
                if way is Way.STATUS:
                    self._renewing = asyncio.create_task(self._renew(place))
                return

    async def _renew(self, place: Place) -> None:
        with suppress(PostingFailed):
            while True:
                await self._sleep(RENEWED)
                await _put(place, Way.STATUS, is_there=True)

    async def _clear(self, place: Place) -> None:
        if self._way is not None:
            await _put(place, self._way, is_there=False)
        elif self._inherits:
            await take_away(place, self._ways)


async def take_away(place: Place, ways: Ways) -> None:
    """Take away what a worker before may have left, in the best way that the workspace knows. Raises `PostingFailed`.

    All workers find the same way, so that it is the one in which it was shown.
    """
    for way in list(Way)[ways.best(place.workspace.name) :]:
        try:
            await _put(place, way, is_there=False)
        except Denied as denied:
            if denied.code in UNKNOWN:
                ways.skip(place.workspace.name, way)
            elif denied.code not in NOT_HERE:
                raise
        else:
            return


async def _put(place: Place, way: Way, *, is_there: bool, title: str = "") -> None:
    client = once(place.workspace.client)
    thread = {"channel_id": place.channel, "thread_ts": place.thread}
    match way:
        case Way.SESSION:
            status = "processing" if is_there else "active"
            await tell(client, "agents.sessions.setStatus", **thread, status=status, title=title or None)
        case Way.STATUS:
            await tell(client, "assistant.threads.setStatus", **thread, status=SEARCHING if is_there else "")
        case Way.REACTION:
            method = "reactions.add" if is_there else "reactions.remove"
            await tell(client, method, channel=place.channel, timestamp=place.asked, name=EYES)


def title_of(question: str) -> str:
    """Return the beginning of a question on one line, without marks, cut between words."""
    line = " ".join(_MARKS.sub(" ", without_controls(question)).split())
    if len(line) > TITLE:
        line = line[: TITLE - 1].rsplit(" ", 1)[0][: TITLE - 1].rstrip(" ,;:-") + "…"
    return line
