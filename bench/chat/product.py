"""The bot as it is in earnest, in a process of its own: what listens and what answers, over a real store and index."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection

import uvloop

from bench.chat.load import DOCS
from bench.chat.probes import Probes
from bot.app import CROWDED, Bot
from bot.roles import Role
from bot.settings import Settings
from bot.wiring import App, assemble, folder
from bot.wiring.stores import Stores
from core.model import Audience, SourceRecord
from tests.servers.openai import KEY


async def nothing(stores: Stores) -> None:
    """Put nothing into the stores."""


@dataclass(frozen=True, slots=True)
class Product:
    """A bot on one platform: its settings, who watches it, and what is *prepared* in its stores before it begins."""

    role: Role
    environment: Mapping[str, str]
    probes: Probes
    prepared: Callable[[Stores], Awaitable[None]] = nothing

    def serve(self, pipe: Connection, *, model: str, seats: int) -> None:
        """Say when the bot is at work, then give the notes each time that somebody asks; until the pipe is closed."""
        with tempfile.TemporaryDirectory() as data:
            os.environ.update(
                FOOTNOTE_DATA_DIR=data,
                FOOTNOTE_ANSWERS_AT_ONCE=str(seats),
                FOOTNOTE_ANSWERS_PER_WORKSPACE=str(seats),
                OPENAI_API_KEY=KEY,
                OPENAI_BASE_URL=model,
                **self.environment,
            )
            uvloop.run(self._serve(pipe, Settings()))

    async def _serve(self, pipe: Connection, settings: Settings) -> None:
        self.probes.install()
        async with assemble(settings, memory=True, observer=self.probes.observe, timing=CROWDED) as app:
            async for _ in app.ingestion.run(folder(DOCS, name="docs", base_url="https://docs.example")):
                pass
            await app.index.record(SourceRecord(name="docs", audience=Audience(everyone=True)))
            async with self._at_work(settings, app):
                pipe.send("at work")
                with contextlib.suppress(EOFError, ConnectionError):
                    while True:
                        await asyncio.to_thread(pipe.recv)
                        pipe.send(self.probes.fresh())

    @contextlib.asynccontextmanager
    async def _at_work(self, settings: Settings, app: App) -> AsyncGenerator[None]:
        """Let the bot listen and answer, under the eyes of the probes."""
        assert app.stores is not None
        await self.prepared(app.stores)
        bot = Bot(settings, app.agent, app.stores, self.probes.observe, app.index)
        running = asyncio.create_task(bot.run({Role.WORKER, self.role}))
        watching = asyncio.create_task(self.probes.watch())
        connecting = asyncio.create_task(self.probes.connected.wait())
        await asyncio.wait({running, connecting}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
        yield
        watching.cancel()
        bot.stop()
        await running
