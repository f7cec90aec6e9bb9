"""A command beside a bot waits as long as the bot is alive, and no longer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest

from adapters.beside import Finding, Handshake, OwnerClient, OwnerServer, reached
from core.errors import RetrievalUnavailable
from core.model import EVERYTHING, Outline, Scope
from tests.fakes.index import MemoryIndex

PATIENCE = 1.0  # seconds
LONG = 1.5 * PATIENCE


class SlowIndex(MemoryIndex):
    """An index that takes its time to count; one that is *frozen* lets its process do nothing else until it `thaws`."""

    def __init__(self, *, is_frozen: bool) -> None:
        super().__init__()
        self.is_frozen = is_frozen
        self.thaws = Event()

    async def pause(self) -> None:
        """Take that time."""
        if self.is_frozen:
            self.thaws.wait()  # as in a frozen process
        else:
            await asyncio.sleep(LONG)

    async def outline(self, scope: Scope = EVERYTHING) -> Outline:
        """Count, late."""
        await self.pause()
        return await super().outline(scope)


@asynccontextmanager
async def owner(folder: Path, index: SlowIndex) -> AsyncGenerator[OwnerClient]:
    """Such an owner on a thread of its own, as it is another process, seen by a command."""
    ready, over = Event(), Event()

    async def findings() -> AsyncIterator[Finding]:
        yield "ok", "index", "is there"
        await index.pause()
        yield "ok", "store", "is there too"

    async def serve() -> None:
        async with OwnerServer(Handshake("0"), index, findings).shared(folder):
            ready.set()
            await asyncio.to_thread(over.wait)

    serving = asyncio.create_task(asyncio.to_thread(asyncio.run, serve()))
    await asyncio.to_thread(ready.wait)
    try:
        async with reached(folder, patience=PATIENCE) as client:
            assert client is not None
            yield client
    finally:
        over.set()
        await serving


async def count(client: OwnerClient) -> None:
    """Call the index."""
    await client.outline()


async def examine(client: OwnerClient) -> None:
    """Read what the doctor finds."""
    assert [name async for _, name, _ in client.findings()] == ["index", "store"]


@pytest.mark.promise("beside-the-bot")
@pytest.mark.parametrize("call", [count, examine])
async def test_a_command_waits_for_a_bot_that_is_slow_and_not_for_one_that_is_frozen(
    tmp_path: Path, call: Callable[[OwnerClient], Awaitable[None]]
) -> None:
    """A bot that is slow does its work, and greets meanwhile."""
    index = SlowIndex(is_frozen=False)
    async with owner(tmp_path, index) as client:
        await call(client)
        index.is_frozen = True
        try:
            with pytest.raises(RetrievalUnavailable, match="has not answered for 2 seconds"):
                await call(client)
        finally:
            index.thaws.set()
