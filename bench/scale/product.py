"""A worker of the bot as it is in earnest, in a process of its own, with a wall in place of a platform."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import uvloop

from bench.agent.job import pin
from bench.chat.load import DOCS, Notes
from bench.chat.probes import Probes
from bench.scale.wall import Seen, Wall
from bot.app import CROWDED, spare_the_collector
from bot.settings import Settings
from bot.wiring import App, assemble, folder
from core.answering.responder import Responder
from core.community.admission import Admission
from core.community.visibility import Visibility
from core.model import WorkspaceRef
from core.worker import Worker
from tests.servers.openai import KEY

PLATFORM = "wall"
SECRET = "a secret that is long enough for a benchmark"
NO_BOUND = 10_000


@dataclass(frozen=True, slots=True)
class Post:
    """Where a worker finds everything, how much it does at once, and on which core."""

    redis: str
    model: str
    data: str
    seats: int
    core: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker noted since the last report."""

    notes: Notes
    seen: Seen


def prepare(data: str) -> None:
    """Make the index that all workers get a copy of."""
    asyncio.run(_prepare(_settings(Post("redis://localhost", "http://localhost", data, 1))))


async def _prepare(settings: Settings) -> None:
    async with assemble(settings) as app:
        async for _ in app.ingestion.run(folder(DOCS, name="docs", base_url="https://docs.example")):
            pass


def _settings(post: Post) -> Settings:
    os.environ.update(
        FOOTNOTE_DATA_DIR=post.data,
        FOOTNOTE_SECRET_KEY=SECRET,
        FOOTNOTE_ANSWERS_PER_WORKSPACE=str(NO_BOUND),
        OPENAI_API_KEY=KEY,
        OPENAI_BASE_URL=post.model,
        REDIS_URL=post.redis,
    )
    return Settings()


def serve(pipe: Connection, post: Post) -> None:
    """Say that the worker is there; begin with the first word, report at each further one, until the pipe is closed."""
    pin(post.core)
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        shutil.copytree(post.data, data)
        uvloop.run(_serve(pipe, post, _settings(Post(post.redis, post.model, str(data), post.seats))))


async def _serve(pipe: Connection, post: Post, settings: Settings) -> None:
    probes = Probes()
    async with assemble(settings, memory=True, observer=probes.observe, timing=CROWDED) as app:
        await app.index.outline()
        async with _at_work(app, probes, post.seats, pipe) as wall:
            with contextlib.suppress(EOFError, ConnectionError):
                while True:
                    await asyncio.to_thread(pipe.recv)
                    seen, wall.seen = wall.seen, Seen()
                    pipe.send(Report(probes.fresh(), seen))


@contextlib.asynccontextmanager
async def _at_work(app: App, probes: Probes, seats: int, pipe: Connection) -> AsyncGenerator[Wall]:
    """Answer, under the eyes of the probes, from the first word on."""
    assert app.stores is not None
    stores, now = app.stores, partial(datetime.now, UTC)
    for workspace in ("w", "another"):
        await stores.communities.allow(WorkspaceRef(platform=PLATFORM, workspace=workspace))
    await stores.communities.settle(PLATFORM, [WorkspaceRef(platform=PLATFORM, workspace="w")])
    async with stores.inbox(probes.observe) as inbox:
        wall = Wall(inbox)
        visibility = Visibility(app.index, stores.communities, stores.policies, memberships={})
        responder = Responder(
            app.agent,
            stores.conversations,
            now=now,
            deliveries=inbox,
            admission=Admission(visibility, stores.policies, stores.quota, stores.dedup, now=now),
            observer=probes.observe,
        )

        async def there() -> Wall:
            return wall

        worker = Worker(inbox, responder, {PLATFORM: there}, stores.conversations, now=now, observer=probes.observe)
        spare_the_collector()
        pipe.send("ready")
        await asyncio.to_thread(pipe.recv)
        probes.fresh()
        pipe.send("at work")
        watching = asyncio.create_task(probes.watch())
        working = asyncio.create_task(worker.run(concurrency=seats))
        yield wall
        watching.cancel()
        working.cancel()
        await asyncio.wait({watching, working})
