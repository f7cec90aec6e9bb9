"""Towns for the journeys: a community on each platform, with the bot's model and documents."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Generator
from importlib import import_module
from pathlib import Path

import pytest

from tests.builders import hit
from tests.end_to_end.community import ANSWER, Community, Town
from tests.end_to_end.on_discord import DiscordCommunity
from tests.end_to_end.on_slack import SlackCommunity, SlackOverHttp
from tests.fakes.shelf import Shelf
from tests.fixtures.nursery import NURSERY
from tests.fixtures.redis import clean
from tests.portion import WHOLE
from tests.servers.openai import ChatServer

PLATFORMS: dict[str, Callable[[], Community]] = {
    "discord": DiscordCommunity,
    "slack": SlackCommunity,
    "slack over http": SlackOverHttp,
}
USUAL = [name for name in PLATFORMS if WHOLE or name != "slack over http"]
"""Where a town is in the usual run, unless a module says otherwise: over HTTP, events only arrive in another way."""


@pytest.fixture(autouse=True, scope="session")
def _end_nursery() -> Generator[None]:
    """Leave no process behind."""
    yield
    NURSERY.close()


@contextlib.asynccontextmanager
async def town_on(platform: str, redis_url: str, folder: Path) -> AsyncGenerator[Town]:
    """Build a town on a platform; nobody has started the bot yet."""
    await asyncio.to_thread(import_module, "openai")  # which may take longer than a test waits for an answer
    async with contextlib.AsyncExitStack() as stack:
        community = PLATFORMS[platform]()
        await stack.enter_async_context(community.open())
        chat = await stack.enter_async_context(ChatServer())
        await stack.enter_async_context(clean(redis_url))
        shelf = Shelf(hit(text=f"{ANSWER}."), by_query={"What is the best pizza?": [hit(0.1)]})
        yield Town(community, chat, shelf, redis_url, folder)


@pytest.fixture(name="town", params=USUAL)
async def _town(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> AsyncGenerator[Town]:
    """Build a town on each platform."""
    async with town_on(request.param, redis_url, tmp_path) as town:
        yield town
