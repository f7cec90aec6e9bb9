"""Keeps the requests of a process below what Discord allows a bot: in a second over all routes, and on each route.

What comes beyond is refused, and too many refusals get the bot banned for a while. Answers to commands in their own
name are not counted; their drafts pass through a throttle of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING

import discord
from discord.http import HTTPClient, Ratelimit

from adapters.retry import TOKEN_REFUSED, Gate, retry_after
from core.errors import RateLimited
from core.events import unobserved

if TYPE_CHECKING:
    from aiohttp import TraceRequestEndParams, TraceRequestHeadersSentParams

REQUESTS_PER_SECOND = 45.0  # Discord allows 50
AT_ONCE = 0.1  # of a second's requests: more would pass Discord's limit together with those of the second after
ENOUGH = 1 - 1e-6  # of a request: times are not exact, and a timer for nothing would come again and again
TOO_MANY_REQUESTS, UNAUTHORIZED, FIRST_SERVER_ERROR = 429, 401, 500
LONGEST_WAIT = 30.0  # seconds: what would have to wait longer fails, as soon as that is known
_OBSOLETE: ContextVar[asyncio.Event | None] = ContextVar("obsolete", default=None)  # past the library to the buckets


@contextmanager
def low_priority(obsolete: asyncio.Event | None) -> Generator[None]:
    """Have requests come after all that a reader waits for, until the event drops them; None marks nothing.

    Where the event is set already, they are made at once or not at all.
    """
    token = _OBSOLETE.set(obsolete)
    try:
        yield
    finally:
        _OBSOLETE.reset(token)


class Throttle:
    """Lets requests pass at an even rate, those first that a reader waits for; one for a process, whatever it does.

    What listens shares it with what answers: its requests are few, somebody waits for each of them, and Discord counts
    them together. The `gate` is shut while Discord takes nothing from the bot's token, or from its address.
    """

    def __init__(self, requests_per_second: float = REQUESTS_PER_SECOND, gate: Gate | None = None) -> None:
        self.gate = gate or Gate()
        self._rate = requests_per_second
        self._most = max(requests_per_second * AT_ONCE, 1.0)
        self._left = self._most
        self._counted_at = float("-inf")
        self._urgent = dict[asyncio.Future[None], None]()  # who waits, in order; done is who may send its request
        self._others = dict[asyncio.Future[None], None]()
        self._timer: asyncio.TimerHandle | None = None

    async def take(self, obsolete: asyncio.Event | None = None) -> None:
        """Wait until a request may be sent, behind all others if it can become *obsolete*.

        Raises `RateLimited` for one that is not to be sent any more.
        """
        self._count()
        is_first = not self._urgent and not (obsolete and self._others)
        if is_first and self._left >= ENOUGH:
            self._left -= 1
            return
        if obsolete is not None and obsolete.is_set():
            raise RateLimited(0.0)
        loop = asyncio.get_running_loop()
        granted: asyncio.Future[None] = loop.create_future()
        line = self._urgent if obsolete is None else self._others
        line[granted] = None
        self._schedule()
        dropped = loop.create_task(obsolete.wait()) if obsolete is not None else granted
        try:
            await asyncio.wait({granted, dropped}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if granted.done():  # in the same moment, so it is given back
                self._left += 1
                if self._timer is not None:
                    self._timer.cancel()
                self._serve()
            raise
        finally:
            line.pop(granted, None)
            if dropped is not granted:
                dropped.cancel()
        if not granted.done():
            raise RateLimited(0.0)

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
                granted = next(iter(line))
                del line[granted]
                self._left -= 1
                granted.set_result(None)
        self._schedule()


def admit(gate: Gate, request: TraceRequestHeadersSentParams) -> None:
    """Raise `ShutOut` for a request that comes while the *gate* is shut; the gateway is another place."""
    if "Upgrade" not in request.headers and _concerns(gate, request.headers):
        gate.check()


def judge(gate: Gate, ended: TraceRequestEndParams) -> None:
    """Shut the *gate* after a refusal of the token or of the address, and open it once something was let in.

    A limit that Discord itself sets comes with `Via`. Without it the network in front refuses an address altogether,
    and for longer if it is not left alone. What is sent without the token, such as the responses to a command, says
    nothing about that.
    """
    response = ended.response
    if response.status == TOO_MANY_REQUESTS and "Via" not in response.headers:
        gate.shut("its address is refused", retry_after(response.headers))
    elif response.status == UNAUTHORIZED and "Authorization" in ended.headers:
        gate.shut(TOKEN_REFUSED)
    elif response.status < FIRST_SERVER_ERROR and _concerns(gate, ended.headers):
        gate.open()


def _concerns(gate: Gate, headers: Mapping[str, str]) -> bool:
    """Return whether a request with these *headers* needs what the gate is about: all do but for the token."""
    return "Authorization" in headers or gate.reason != TOKEN_REFUSED


class Bucket(Ratelimit):
    """Lets the requests of one route and place pass, as often as Discord has said, and all through the throttle.

    The library has the request that uses up a bucket wait for the next window *after* its answer is there, and with a
    bound on waits it refuses requests of a long window although some are left. Here whoever has an answer gets it, and
    only what finds nothing left is refused: at once if the window is long, otherwise when it has waited for too long.
    *waited* hears how long requests were held back, as Discord wants it, and *broken_off* of each that came to no end.
    """

    __slots__ = ("_broken_off", "_renewal", "_throttle", "_waited")

    def __init__(
        self,
        throttle: Throttle,
        waited: Callable[[float], object] = unobserved,
        broken_off: Callable[[], object] = unobserved,
    ) -> None:
        super().__init__(None)
        self._throttle = throttle
        self._waited = waited
        self._broken_off = broken_off
        self._renewal: asyncio.Task[None] | None = None

    async def acquire(self) -> None:
        """Wait until a request may be made. Raises `discord.RateLimited` if that takes too long, or is not worth it."""
        if self.remaining <= 0 and self._lasts() > LONGEST_WAIT:
            raise discord.RateLimited(self._lasts())
        obsolete, loop = _OBSOLETE.get(), asyncio.get_running_loop()
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                if obsolete is not None:  # what need not be made holds no place while it waits
                    await self._throttle.take(obsolete)
                began, is_shut = loop.time(), self.remaining <= 0 and self._lasts() > 0
                await super().acquire()
                if is_shut:
                    self._waited(loop.time() - began)
                if obsolete is None:
                    try:
                        await self._throttle.take()
                    except BaseException:
                        self.remaining += 1  # what was taken of the route is given back
                        await self.__aexit__(None, None, None)
                        raise
        except TimeoutError as error:
            raise discord.RateLimited(max(self._lasts(), 1.0)) from error
        except RateLimited as failure:
            raise discord.RateLimited(failure.wait) from failure

    async def __aexit__(
        self,
        type: type[BaseException] | None,  # noqa: A002 - named by the library
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(value, discord.RateLimited):
            self.remaining, self.reset_after = 0, value.retry_after  # nothing passes for a while, as Discord has said
            self.expires = asyncio.get_running_loop().time() + value.retry_after
        if isinstance(value, asyncio.CancelledError):
            self._broken_off()
        self.outgoing -= 1
        if self._sleeping.locked() or not (self._renewal is None or self._renewal.done()):
            return
        if self.remaining - self.outgoing > 0:
            self._wake(self.remaining - self.outgoing)
        elif self.reset_after > 0:
            self._renewal = asyncio.create_task(self._refresh())
        else:  # at once: whoever is cancelled here would leave nobody to let the next ones pass
            self.reset()
            self._wake(self.remaining)

    def _lasts(self) -> float:
        """Return for how many seconds the window goes on; 0 where there is none."""
        return self.expires - asyncio.get_running_loop().time() if self.expires is not None else 0.0


def throttle_requests(http: HTTPClient, throttle: Throttle, waited: Callable[[float], object] = unobserved) -> None:
    """Let all requests of a client pass through such buckets; the library offers no other way to give its own."""
    usual, buckets = http.get_ratelimit, http._buckets  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

    def get_ratelimit(key: str) -> Ratelimit:
        if key not in buckets:
            usual(key)  # which forgets those that are not used any more
            buckets[key] = Bucket(throttle, waited, go_on)
        return buckets[key]

    def go_on() -> None:
        """Let all requests pass that wait for the end of a limit over everything.

        The library has the request announce it that was refused, which never comes to that if it is broken off. Whoever
        waits on account of another one is refused once more at worst.
        """
        http._global_over.set()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

    http.get_ratelimit = get_ratelimit
