"""All services at once, with settings that name them; each can go down and come back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.settings import Settings
from tests.servers.cohere import CohereServer
from tests.servers.openai import ChatServer
from tests.servers.qdrant import QdrantServer
from tests.servers.service import Reset, Service
from tests.servers.valkey import Node, alone, wait_for

QDRANT_KEY = "qdrant-key-of-the-tests"


@dataclass(frozen=True, slots=True)
class World:
    """The services, by the names that `down` and `up` take: chat, cohere, qdrant, redis."""

    chat: ChatServer
    cohere: CohereServer
    qdrant: QdrantServer
    redis: Node

    def environment(self, folder: Path) -> dict[str, str]:
        """Give the settings as a person would write them."""
        return {
            "FOOTNOTE_DATA_DIR": str(folder),
            "OPENAI_API_KEY": self.chat.key,
            "OPENAI_BASE_URL": self.chat.base_url,
            "COHERE_API_KEY": self.cohere.key,
            "COHERE_BASE_URL": self.cohere.url,
            "QDRANT_URL": self.qdrant.url,
            "QDRANT_API_KEY": QDRANT_KEY,
            "REDIS_URL": f"redis://{self.redis.host}/0",
        }

    def settings(self, folder: Path) -> Settings:
        """Give the settings as the product reads them."""
        values: dict[str, Any] = self.environment(folder)
        return Settings(**values)

    async def down(self, *names: str) -> None:
        """Nobody answers at their addresses any more."""
        for name in names:
            if name == "redis":
                self.redis.kill()
            else:
                await self._service(name).down()

    def fall(self, *names: str) -> None:
        """From this moment on, in the middle of whatever is going on, connections are reset."""
        for name in names:
            if name == "redis":
                self.redis.kill()
            else:
                self._service(name).broken = Reset()

    async def up(self) -> None:
        """Everything answers again, with what it held."""
        for service in (self.chat, self.cohere, self.qdrant):
            service.broken = None
            await service.up()
        await asyncio.to_thread(self._restart_redis)  # meanwhile the loop hears of connections that were closed

    def _restart_redis(self) -> None:
        self.redis.kill()
        self.redis.start()
        wait_for(self.redis)

    def _service(self, name: str) -> Service:
        services: dict[str, Service] = {"chat": self.chat, "cohere": self.cohere, "qdrant": self.qdrant}
        return services[name]


@contextlib.asynccontextmanager
async def everything(folder: Path) -> AsyncGenerator[World]:
    """Run all services."""
    # With less than "always", a crash while the disk is busy loses what was acknowledged.
    with alone(folder, appendfsync="always") as redis:
        async with (
            ChatServer() as chat,
            CohereServer() as cohere,
            QdrantServer(api_key=QDRANT_KEY) as qdrant,
        ):
            yield World(chat, cohere, qdrant, redis)
