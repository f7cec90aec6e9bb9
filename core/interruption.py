"""Ending work early: as soon as somebody asks for it, and without a task for every step."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

from core.model import Cancellation, Interruption

Item = TypeVar("Item")


@asynccontextmanager
async def ended_by(cancelled: Cancellation, reasons: Collection[Interruption]) -> AsyncGenerator[None]:
    """Cancel what runs inside as soon as there is one of the *reasons*, and go on behind the block."""
    loop = asyncio.get_running_loop()
    scope = asyncio.timeout(None)

    def end(reason: Interruption) -> None:
        if reason in reasons and scope.when() is None:  # it ends once
            scope.reschedule(loop.time())

    try:
        async with scope:
            with cancelled.telling(end):
                yield
    except TimeoutError:
        if not scope.expired():
            raise


async def until(
    items: AsyncGenerator[Item, None], cancelled: Cancellation, reasons: Collection[Interruption]
) -> AsyncGenerator[Item, None]:
    """Pass on *items* until they end, or there is one of the *reasons*: then they are closed at once.

    Only waiting for the next item is broken off, never what is done with one.
    """
    async with aclosing(items):
        while cancelled.reason not in reasons:
            found: list[Item] = []
            try:
                async with ended_by(cancelled, reasons):
                    found.append(await anext(items))
            except StopAsyncIteration:
                return
            for item in found:
                yield item
