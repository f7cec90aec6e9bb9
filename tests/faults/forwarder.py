"""A way between two programs of this machine that can be cut."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Self

PIECE = 65_536  # bytes


class Forwarder:
    """Listens on a port of its own and passes everything on to another one, until it is cut."""

    def __init__(self, port: int) -> None:
        """Pass on to *port*."""
        self._held = _bound(0)
        self.port = int(self._held.getsockname()[1])
        self._target = port
        self._server: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self.mend()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()
        self._held.close()

    async def mend(self) -> None:
        """Listen, on the same port as before; twice is once."""
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, sock=self._held)

    async def cut(self) -> None:
        """Close every connection; whoever comes now is refused by the system, which gives the port to nobody else."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
            self._held = _bound(self.port)
        passing = tuple(self._passing)
        for task in passing:
            task.cancel()
        if passing:
            await asyncio.wait(passing)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await self._both(reader, writer)
        finally:
            self._passing.discard(task)
            writer.close()

    async def _both(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        try:
            ways = {asyncio.ensure_future(_pass(reader, back)), asyncio.ensure_future(_pass(there, writer))}
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        finally:
            back.close()


def _bound(port: int) -> socket.socket:
    """Give what has a port, of which 0 is any, and does not listen there as yet."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", port))
    return held


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(PIECE):
        writer.write(piece)
        await writer.drain()
