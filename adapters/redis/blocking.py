"""Reads that wait for something to come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from adapters.redis.connection import PATIENCE, translated

Result = TypeVar("Result")


async def bounded(read: Awaitable[Result], *, block: float, patience: float = PATIENCE) -> Result:
    """Await a read on a blocking client that the server ends after *block* seconds.

    Raises `StoreUnavailable` if the server fails, or does not end it: then it hangs, though its machine is alive.
    """
    with translated():
        async with asyncio.timeout(block + patience):
            return await read
