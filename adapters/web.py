"""Serves pages over HTTP, at a port or at a socket in a folder."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, cast

from aiohttp import web

from adapters.unix import socket_folder
from core.errors import Misconfigured

LONGEST_IDLE = 75.0  # seconds for a connection to bring a whole head; proxies let theirs rest for about 60
TURNS = 2  # of the event loop, after which a connection that has come in is set up


@contextlib.asynccontextmanager
async def served(
    routes: Iterable[web.AbstractRouteDef], host: str, port: int, *, refusal: str, largest: int = 2**20, **limits: float
) -> AsyncGenerator[int]:
    """Serve *routes* while the block runs, and yield the port, which the system chooses for 0.

    A request may have *largest* bytes. The *limits* are the library's, in seconds: what is under way at the end is
    finished within `shutdown_timeout`, and a connection that has brought no whole head for `keepalive_timeout` is
    closed, however slowly one comes in. Raises `Misconfigured` with the sentence *refusal* if nothing can be served.
    """
    limits = {"keepalive_timeout": LONGEST_IDLE, **limits}
    listen = partial(asyncio.get_running_loop().create_server, host=host, port=port)
    async with _serving(routes, listen, refusal, largest, **limits) as listening:
        yield int(listening.sockets[0].getsockname()[1])


@contextlib.asynccontextmanager
async def served_at(
    path: Path, routes: Iterable[web.AbstractRouteDef], *, refusal: str, shutdown_timeout: float, largest: int
) -> AsyncGenerator[None]:
    """Serve *routes* as `served` does, at a socket that nobody but its user can reach; one that is left is replaced.

    Raises `Misconfigured`.
    """

    def listen(answering: web.Server) -> Awaitable[asyncio.Server]:
        path.unlink(missing_ok=True)
        line = socket.socket(socket.AF_UNIX)
        before = os.umask(0o177)  # since a mode that is set afterwards comes a moment late
        try:
            with socket_folder(path.parent, path.name) as folder:
                line.bind(os.fspath(folder / path.name))
        finally:
            os.umask(before)
        return asyncio.get_running_loop().create_unix_server(answering, sock=line)

    async with _serving(routes, listen, refusal, largest, shutdown_timeout=shutdown_timeout):
        yield


@contextlib.asynccontextmanager
async def _serving(
    routes: Iterable[web.AbstractRouteDef],
    listen: Callable[[web.Server], Awaitable[asyncio.Server]],
    refusal: str,
    largest: int,
    **limits: float,
) -> AsyncGenerator[asyncio.Server]:
    application = web.Application(client_max_size=largest)
    application.add_routes(routes)
    given: dict[str, Any] = dict(limits)
    runner = web.AppRunner(application, access_log=None, **given)
    await runner.setup()
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(runner.cleanup)
        answering = cast("web.Server", runner.server)  # there is one as soon as it is set up
        try:
            listening = await listen(answering)
        except OSError as error:
            raise Misconfigured(refusal) from error
        stack.push_async_callback(stop_listening, listening)
        yield listening


async def stop_listening(listening: asyncio.Server) -> None:
    """Take no more connections, and only then close.

    Python 3.11 loses a connection that has just come in if the server closes before it is set up: nobody answers it,
    and nobody hangs up.
    """
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):  # where the system itself takes them
        for socket in listening.sockets:
            loop.remove_reader(socket)
    try:
        for _ in range(TURNS):
            await asyncio.sleep(0)
    finally:
        listening.close()
