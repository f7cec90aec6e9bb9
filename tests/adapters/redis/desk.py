"""A server with an inbox on it, to look at what is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from redis.asyncio import Redis

from adapters.redis.inbox import RedisInbox, waking_time
from adapters.redis.inbox_store import PREFIX, Bounds
from adapters.redis.secrets import Seal
from core.events import Observer, unobserved
from tests.fixtures.redis import say
from tests.inboxes import SECRET, asked


@dataclass
class Desk:
    """A server, and ways to open its inbox."""

    client: Redis
    blocking: Redis

    def bounds(self, lease: float, **more: int) -> Bounds:
        """Say for how long tasks are held, and how many at once."""
        return Bounds(lease, **more)

    def inbox(
        self,
        *,
        lease: float = 20.0,
        secret: str = SECRET,
        bounds: Bounds | None = None,
        consumer: str | None = None,
        delays: tuple[float, ...] = (0.0, 0.0),
        now: Callable[[], float] = waking_time,
        observer: Observer = unobserved,
    ) -> RedisInbox:
        """Open the inbox."""
        return RedisInbox(
            self.client,
            self.blocking,
            seal=Seal([secret]),
            bounds=bounds or Bounds(lease=lease),
            block=0.05,
            delays=delays,
            consumer=consumer,
            now=now,
            observer=observer,
        )

    async def question(self, name: str = "m1") -> dict[bytes, bytes]:
        """Read what is known of a question."""
        return cast("dict[bytes, bytes]", await say(self.client, "HGETALL", key_of("question", name)))

    async def kept(self, name: str) -> str | None:
        """Read what is kept of a question to be tried again."""
        sealed = cast("bytes | None", await say(self.client, "GET", key_of("retry", name)))
        return Seal([SECRET]).read(str, sealed, place=f"{key_of('question', name)} text")


def key_of(kind: str, name: str) -> str:
    """Name the key of one kind about a question."""
    return f"{PREFIX}{kind}:{asked(name).message}"
