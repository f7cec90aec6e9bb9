"""Words that stand there while somebody waits for an answer, and no longer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TypeAlias

from adapters.chat.insisting import insisted
from adapters.chat.posting import Posted, Poster
from core.model import MessageRef, Question, ThreadRef

Running: TypeAlias = Callable[[ThreadRef], Awaitable[Question | None]]
Sleep: TypeAlias = Callable[[float], Awaitable[object]]

PAUSE = 5.0  # seconds between two looks whether the answer is there
LOOKS = 120
LONGEST_END = 5.0  # seconds to take the words away, as it may be time to stop


@asynccontextmanager
async def shown(poster: Poster, posted: Posted) -> AsyncGenerator[None]:
    """Take a message away at the end of the block, also where that is broken off."""
    try:
        yield
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_END):
                await insisted(partial(poster.delete, posted.id))


async def answered(message: MessageRef, running: Running, *, sleep: Sleep = asyncio.sleep) -> None:
    """Wait until nobody waits for the answer to a message any more; some minutes are long enough."""
    for _ in range(LOOKS):
        await sleep(PAUSE)
        waiting = await running(message.thread)
        if waiting is None or waiting.message != message:
            return
