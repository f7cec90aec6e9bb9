"""A port of this machine that a server keeps while it goes down and comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from aiohttp import web

from adapters.web import stop_listening

LARGEST_BODY = 64 * 1024 * 1024


class Listener:
    """Listens with one function for every request, while a block of `async with` runs."""

    def __init__(self, handle: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
        self._answers = handle
        self.port = 0
        self._up: tuple[asyncio.Server, web.AppRunner] | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        """Begin to serve."""
        await self.up()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop serving."""
        await self.down()

    async def up(self) -> None:
        """Listen, on the same port as before; twice is once."""
        if self._up is not None:
            return
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._answers)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0, access_log=None)
        await runner.setup()
        assert runner.server is not None
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(runner.server, "127.0.0.1", self.port, reuse_address=True)
        self.port = int(listening.sockets[0].getsockname()[1])
        self._up = (listening, runner)

    async def down(self) -> None:
        """Close every connection and stop listening; whoever comes now is refused by the system."""
        up, self._up = self._up, None
        if up is not None:
            listening, runner = up
            await stop_listening(listening)
            await runner.cleanup()
