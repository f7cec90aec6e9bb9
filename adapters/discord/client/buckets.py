"""The limits of single routes, as the library keeps them, but for waits that nobody should have to bear."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType

import discord
from discord.http import HTTPClient, Ratelimit

from adapters.discord.client.throttle import Leisure, Throttle
from core.errors import RateLimited
from core.events import unobserved

LONGEST_WAIT = 30.0  # seconds: what would have to wait longer fails, as soon as that is known


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
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                await self._wait()
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
            self._shut(value.retry_after)
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

    async def _wait(self) -> None:
        """Wait for the route and for the throttle; what need not be made holds no place while it waits."""
        leisure = Leisure.current()
        if leisure is not None:
            await self._throttle.take(leisure)
            await self._pass()
            return
        await self._pass()
        try:
            await self._throttle.take()
        except BaseException:
            self.remaining += 1
            await self.__aexit__(None, None, None)
            raise

    async def _pass(self) -> None:
        """Wait for the route."""
        began, is_shut = asyncio.get_running_loop().time(), self.remaining <= 0 and self._lasts() > 0
        await super().acquire()
        if is_shut:
            self._waited(asyncio.get_running_loop().time() - began)

    def _lasts(self) -> float:
        """Say for how many seconds the window goes on."""
        return self.expires - asyncio.get_running_loop().time() if self.expires is not None else 0.0

    def _shut(self, seconds: float) -> None:
        """Let nothing pass for a while, as Discord has said so in a refusal."""
        self.remaining, self.reset_after = 0, seconds
        self.expires = asyncio.get_running_loop().time() + seconds


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
