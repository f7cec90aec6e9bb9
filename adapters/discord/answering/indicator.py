"""Lets people see that an answer is on its way, until its first words appear."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from adapters.discord.client.poster import translated
from adapters.discord.client.throttle import Leisure
from core.errors import PostingFailed, RateLimited

if TYPE_CHECKING:
    from discord import AutoShardedClient

RENEWED = 8.0  # seconds; Discord shows it for ten


class Indicator:
    """Says that the bot types in a channel while the context is open, or until `stop`; None shows nothing.

    A channel where this fails is left alone: the answer itself meets the same trouble, and deals with it.
    """

    def __init__(
        self,
        client: AutoShardedClient,
        channel: str | None,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._channel = channel
        self._sleep = sleep
        self._typing: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Say it no more; Discord takes it away itself when a message comes."""
        if self._typing is not None:
            self._typing.cancel()

    async def __aenter__(self) -> Self:
        if self._channel is not None:
            self._typing = asyncio.create_task(self._type(self._channel))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._typing is not None:
            self._typing.cancel()
            await asyncio.wait([self._typing])

    async def _type(self, channel: str) -> None:
        leisure = Leisure(queues=False)
        while True:
            try:
                with leisure.applies():
                    await translated(self._client.http.send_typing(int(channel)))
            except RateLimited:
                pass  # answers are worth more
            except PostingFailed:
                return
            await self._sleep(RENEWED)
