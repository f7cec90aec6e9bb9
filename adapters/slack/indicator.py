"""Lets people see that an answer is on its way: natively where the workspace can, or else by a reaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from enum import IntEnum

from adapters.slack.api import Denied, once, tell
from adapters.slack.recovery import Place
from adapters.slack.streaming import Budget
from core.errors import PostingFailed

SIGNS = 20  # in a minute in a workspace; Slack takes 50 changes of sessions, two for each, or 20 reactions back
RENEWED = 100.0  # seconds; Slack takes the older status away after 120
FAREWELL = 5.0  # seconds for taking a sign away
TITLE = 200  # characters; Slack allows no more
SEARCHING = "is searching the documents…"
EYES = "eyes"
UNKNOWN = frozenset({"feature_not_enabled", "missing_scope", "not_allowed_token_type", "unknown_method"})
NOT_HERE = frozenset({"channel_type_not_supported", "method_not_supported_for_channel_type"})


class SignKind(IntEnum):
    """How it is shown, best first: a session, which readers can stop, an older status, or a reaction."""

    SESSION = 0
    STATUS = 1
    REACTION = 2


class Indicator:
    """Shows that the bot works on answers, in the best way that each workspace knows, which it remembers.

    Where it fails nothing is shown: the answer itself meets the same trouble, and deals with it.
    """

    def __init__(self, *, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self.budget = Budget(SIGNS)  # what cannot be taken away again would stay
        self._best: dict[str, SignKind] = {}
        self._sleep = sleep

    @asynccontextmanager
    async def shown(
        self, place: Place, *, title: str = "", inherits: bool = False
    ) -> AsyncGenerator[Callable[[], object]]:
        """Show a sign while the context is open; what it yields is called when people see something of the answer.

        Then it is renewed no more; a session goes on, so that it can be stopped. Whoever *inherits* a question also
        takes away what the worker before may have left there.
        """
        signs, tasks = list[SignKind](), list[asyncio.Task[None]]()
        if self.budget.take(place.workspace.name):
            tasks.append(asyncio.create_task(self._show(place, title, signs, tasks)))

        def stop() -> None:
            for task in tasks[1:]:
                task.cancel()

        try:
            yield stop
        finally:
            if tasks:
                await asyncio.wait(tasks[:1], timeout=FAREWELL)  # or else it could appear after it was taken away
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
            with suppress(PostingFailed, TimeoutError):
                async with asyncio.timeout(FAREWELL):
                    if signs:
                        await _put(place, signs[0], is_there=False)
                    elif inherits:
                        await self.take_away(place)

    async def take_away(self, place: Place) -> None:
        """Take away what a worker before may have left, in the best way that the workspace knows.

        All workers find the same way, so that it is the one in which it was shown. Raises `PostingFailed`.
        """
        for sign in list(SignKind)[self._best.get(place.workspace.name, SignKind.SESSION) :]:
            try:
                await _put(place, sign, is_there=False)
            except Denied as denied:
                if not self._goes_on(place, sign, denied):
                    raise
            else:
                return

    async def _show(self, place: Place, title: str, signs: list[SignKind], tasks: list[asyncio.Task[None]]) -> None:
        """Show the best sign that there is, and note it in *signs*, also if nobody hears that it worked."""
        for sign in list(SignKind)[self._best.get(place.workspace.name, SignKind.SESSION) :]:
            signs[:] = [sign]
            try:
                await _put(place, sign, is_there=True, title=title)
            except Denied as denied:
                signs.clear()
                if not self._goes_on(place, sign, denied):
                    return
            except PostingFailed:
                return
            else:
                if sign is SignKind.STATUS:
                    tasks.append(asyncio.create_task(self._renew(place)))
                return

    def _goes_on(self, place: Place, sign: SignKind, denied: Denied) -> bool:
        """Return whether the next best way is to be tried, and remember what the workspace does not know."""
        if denied.code in UNKNOWN:
            self._best[place.workspace.name] = SignKind(min(sign + 1, SignKind.REACTION))
        return denied.code in UNKNOWN or denied.code in NOT_HERE

    async def _renew(self, place: Place) -> None:
        with suppress(PostingFailed):
            while True:
                await self._sleep(RENEWED)
                await _put(place, SignKind.STATUS, is_there=True)


async def _put(place: Place, sign: SignKind, *, is_there: bool, title: str = "") -> None:
    client = once(place.workspace.client)
    thread = {"channel_id": place.channel, "thread_ts": place.thread}
    match sign:
        case SignKind.SESSION:
            status = "processing" if is_there else "active"
            await tell(client, "agents.sessions.setStatus", **thread, status=status, title=title or None)
        case SignKind.STATUS:
            await tell(client, "assistant.threads.setStatus", **thread, status=SEARCHING if is_there else "")
        case SignKind.REACTION:
            method = "reactions.add" if is_there else "reactions.remove"
            await tell(client, method, channel=place.channel, timestamp=place.asked, name=EYES)
