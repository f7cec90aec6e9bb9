"""Keeps all requests of a process below what Discord allows a bot in a second, over all routes.

What comes beyond is refused, and too many refusals get the bot banned for a while. The library keeps to the limits of
single routes only. Answers to commands in their own name are not counted; their drafts pass through a throttle of
their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from core.errors import RateLimited
from core.events import unobserved

Future: TypeAlias = asyncio.Future[bool]
"""Whether a request may be made; it is not to be made any more where that is False."""

REQUESTS_PER_SECOND = 45.0  # Discord allows 50
AT_ONCE = 0.1  # of a second's requests: more would pass Discord's limit together with those of the second after
ENOUGH = 1 - 1e-6  # of a request: times are not exact, and a timer for nothing would come again and again
_CURRENT: ContextVar[Leisure | None] = ContextVar("leisure", default=None)


class Leisure:
    """Marks requests that need not be made: they come after all that a reader waits for, until `end` drops them.

    With *queues* off, they are made at once or not at all.
    """

    def __init__(self, *, queues: bool = True) -> None:
        self.queues = queues
        self._is_over = False
        self._waiting = set[Future]()

    @contextmanager
    def applies(self) -> Generator[None]:
        """Mark the requests that are made in this context; they are like all others once it is over."""
        token = _CURRENT.set(None if self._is_over else self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    @contextmanager
    def drops(self, request: Future) -> Generator[None]:
        """Drop a request that waits, if this ends meanwhile."""
        self._waiting.add(request)
        try:
            yield
        finally:
            self._waiting.discard(request)

    def end(self) -> None:
        """Drop what waits: something better comes."""
        self._is_over = True
        for request in self._waiting:
            if not request.done():
                request.set_result(False)

    @staticmethod
    def current() -> Leisure | None:
        """Return how the requests of this context are marked; None for what a reader waits for."""
        return _CURRENT.get()


class Throttle:
    """Lets requests pass at an even rate, those first that a reader waits for; one for a process, whatever it does.

    What listens shares it with what answers: its requests are few, somebody waits for each of them, and Discord counts
    them together. `waited` is how long requests have been held back, in all; *observer* hears of each wait.
    """

    def __init__(
        self, requests_per_second: float = REQUESTS_PER_SECOND, *, observer: Callable[[float], object] = unobserved
    ) -> None:
        self._rate = requests_per_second
        self._most = max(requests_per_second * AT_ONCE, 1.0)
        self._observer = observer
        self._left = self._most
        self._counted_at = float("-inf")
        self._urgent = dict[Future, None]()
        self._others = dict[Future, None]()
        self._timer: asyncio.TimerHandle | None = None
        self.waited = 0.0

    async def take(self, leisure: Leisure | None = None) -> None:
        """Wait until a request may be sent. Raises `RateLimited` for one that is not to be sent any more."""
        self._count()
        is_first = not self._urgent and not (leisure and self._others)
        if is_first and self._left >= ENOUGH:
            self._left -= 1
        elif leisure is None:
            await self._wait(self._urgent)
        elif leisure.queues:
            await self._wait(self._others, leisure)
        else:
            raise RateLimited(0.0)

    async def _wait(self, line: dict[Future, None], leisure: Leisure | None = None) -> None:
        loop = asyncio.get_running_loop()
        request = loop.create_future()
        line[request] = None
        self._schedule()
        began = loop.time()
        try:
            with (leisure or Leisure()).drops(request):
                may = await request
        except asyncio.CancelledError:
            if not request.cancelled() and request.result():
                self._give_back()  # it was granted in the same moment
            raise
        finally:
            line.pop(request, None)
            self.waited += loop.time() - began
            self._observer(loop.time() - began)
        if not may:
            raise RateLimited(0.0)

    def _give_back(self) -> None:
        self._left += 1
        if self._timer is not None:
            self._timer.cancel()
        self._serve()

    def _count(self) -> None:
        """Add what the time since the last count allows."""
        now = asyncio.get_running_loop().time()
        self._left = min(self._most, self._left + (now - self._counted_at) * self._rate)
        self._counted_at = now

    def _schedule(self) -> None:
        if self._timer is None and (self._urgent or self._others):
            seconds = max(1 - self._left, 0.0) / self._rate
            self._timer = asyncio.get_running_loop().call_later(seconds, self._serve)

    def _serve(self) -> None:
        """Let pass as many as may, in order."""
        self._timer = None
        self._count()
        for line in (self._urgent, self._others):
            while line and self._left >= ENOUGH:
                request = next(iter(line))
                del line[request]
                if not request.done():
                    self._left -= 1
                    request.set_result(True)
        self._schedule()
