"""The bot as it is in earnest, in a process of its own: what listens and what answers, over a real store and index."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncGenerator
from multiprocessing.connection import Connection

from bench.discord.load import DOCS, Addresses
from bench.discord.probes import Probes
from bot.app import Bot
from bot.commands.run import CROWDED
from bot.roles import Role
from bot.settings import Settings
from bot.wiring import App, assemble, folder
from tests.servers.openai import KEY


def serve(pipe: Connection, addresses: Addresses, seats: int) -> None:
    """Say when the bot is at work, then give the notes each time that somebody asks; until the pipe is closed."""
    with tempfile.TemporaryDirectory() as data:
        os.environ.update(_environment(data, addresses, seats))
        asyncio.run(_serve(pipe, Settings()))


def _environment(data: str, addresses: Addresses, seats: int) -> dict[str, str]:
    return {
        "FOOTNOTE_DATA_DIR": data,
        "FOOTNOTE_ANSWERS_AT_ONCE": str(seats),
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": addresses.model,
        "DISCORD_TOKEN": addresses.token,
        "DISCORD_API_URL": addresses.api,
        "DISCORD_GATEWAY_URL": addresses.gateway,
    }


async def _serve(pipe: Connection, settings: Settings) -> None:
    probes = Probes()
    probes.install()
    async with assemble(settings, memory=True, observer=probes.observe, rhythm=CROWDED) as app:
        async for _ in app.ingestion.run(folder(DOCS, name="docs", base_url="https://docs.example")):
            pass
        async with _at_work(settings, app, probes):
            pipe.send("at work")
            with contextlib.suppress(EOFError, ConnectionError):
                while True:
                    await asyncio.to_thread(pipe.recv)
                    pipe.send(probes.fresh())


@contextlib.asynccontextmanager
async def _at_work(settings: Settings, app: App, probes: Probes) -> AsyncGenerator[None]:
    """Let the bot listen and answer, under the eyes of the probes."""
    assert app.stores is not None
    bot = Bot(settings, app.agent, app.stores, probes.observe)
    running = asyncio.create_task(bot.run({Role.WORKER, Role.DISCORD}))
    watching = asyncio.create_task(probes.watch())
    connecting = asyncio.create_task(probes.connected.wait())
    await asyncio.wait({running, connecting}, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        await running
    yield
    watching.cancel()
    bot.stop()
    await running
