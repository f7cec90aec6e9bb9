"""A port of this machine that a server keeps while it goes down and comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

LARGEST_BODY = 64 * 1024 * 1024


class Listener:
    """Listens with one function for every request."""

    def __init__(self, handle: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
        self._handle = handle
        self.port = 0
        self._runner: web.AppRunner | None = None

    async def up(self) -> None:
        """Listen, on the same port as before; twice is once."""
        if self._runner is not None:
            return
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = int(runner.addresses[0][1])
        self._runner = runner

    async def down(self) -> None:
        """Close every connection and stop listening; whoever comes now is refused by the system."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()
