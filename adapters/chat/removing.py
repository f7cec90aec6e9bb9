"""Removes what the bot has said beside answers and is to stand for a short time only, such as a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta

from adapters.chat.platform import ChatPlatform, utc_now
from core.errors import Gone, PostingFailed, Rejected, StoreUnavailable
from core.model import MessageRef
from core.ports import Removals

STANDS = timedelta(minutes=1)  # as long as it takes to see and to read a sentence
LOOK = 5.0  # seconds between two looks for what is due
AT_ONCE = 50  # messages for each look


@dataclass
class Remover:
    """Removes messages on the platform of a *key* a while after they were posted, whichever process has posted them.

    They are noted in *removals*, so that a process that ends in between leaves nothing behind.
    """

    platform: ChatPlatform
    key: str
    removals: Removals
    _: KW_ONLY
    now: Callable[[], datetime] = utc_now
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def later(self, message: MessageRef) -> None:
        """Have a message removed in a minute; while the store is away, one that was just posted stays."""
        with suppress(StoreUnavailable):
            await self.removals.add(message, self.now() + STANDS)

    async def run(self) -> None:
        """Remove what is due, until this is cancelled; what the platform is away for is tried again in a minute."""
        while True:
            with suppress(StoreUnavailable):
                for message in await self.removals.due(self.key, self.now(), limit=AT_ONCE):
                    with suppress(PostingFailed):
                        with suppress(Gone, Rejected):  # somebody has removed it, or the bot may not see it any more
                            await self.platform.delete(message)
                        await self.removals.done(message)
            await self.sleep(LOOK)
