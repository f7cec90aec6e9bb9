"""Notes how long the platform holds back what the bot sends on the way to its first words."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from bench.chat.probes import Probes

if TYPE_CHECKING:
    from aiohttp import ClientSession, TraceRequestEndParams, TraceRequestStartParams
    from discord.http import HTTPClient, Route

_OPENING = re.compile(r"/messages/(\d+)/threads$")
_POSTING = re.compile(r"/channels/(\d+)/messages$")
_TRIES: ContextVar[list[float]] = ContextVar("tries")


class DiscordProbes(Probes):
    """The same, with the waits of the client, which holds requests back by itself."""

    def __init__(self) -> None:
        super().__init__()
        self._posted: set[str] = set()

    def install(self) -> None:
        """Note how long requests are held back before they are sent."""
        from aiohttp import TraceConfig
        from discord.http import HTTPClient

        super().install()
        request, log_in = HTTPClient.request, HTTPClient.static_login
        trace = TraceConfig()
        trace.on_request_start.append(_sending)
        trace.on_request_end.append(_answered)

        async def timed_request(client: HTTPClient, route: Route, **options: Any) -> Any:
            return await self._timed(route, lambda: request(client, route, **options))

        async def traced_login(client: HTTPClient, token: str) -> Any:
            client.http_trace = trace
            return await log_in(client, token)

        for name, timed in (("request", timed_request), ("static_login", traced_login)):
            setattr(HTTPClient, name, timed)

    async def _timed(self, route: Route, call: Callable[[], Awaitable[Any]]) -> Any:
        """Make a call; on the way to the first text, what passes beside its last try has been a wait."""
        opening, posting = _OPENING.search(route.url), _POSTING.search(route.url)
        if route.method != "POST" or not (opening or posting):
            return await call()
        tries: list[float] = []
        _TRIES.set(tries)
        begun = time.time()
        try:
            return await call()
        finally:
            ended = time.time()
            sent, answered = tries[-2:] if len(tries) > 1 else (ended, ended)
            if opening:
                self.wait(opening[1], ended - begun - (answered - sent))
            elif posting and (message := posting[1]) not in self._posted:
                self._posted.add(message)
                self.wait(message, sent - begun)


async def _sending(_session: ClientSession, _context: Any, _params: TraceRequestStartParams) -> None:
    _TRIES.get([]).append(time.time())


async def _answered(_session: ClientSession, _context: Any, _params: TraceRequestEndParams) -> None:
    _TRIES.get([]).append(time.time())
