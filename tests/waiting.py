"""Waiting for something that has to become true soon."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

PATIENCE = 5.0


async def wait_until(is_true: Callable[[], bool], *, what: str) -> None:
    """Return as soon as *is_true* says so; fail with *what* was missing after five seconds."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not is_true():  # noqa: ASYNC110 - what is waited for happens outside of this process
                await asyncio.sleep(0.005)
    except TimeoutError as error:
        raise AssertionError(f"{what} did not come within {PATIENCE:g} s") from error


async def at_once(_seconds: float) -> None:
    """Wait for a time in which nothing happens, in none."""
    await asyncio.sleep(0)


async def cancelled(task: asyncio.Task[object]) -> None:
    """End a task as if its process had died, and wait for that."""
    task.cancel()
    await asyncio.wait({task})


def adapters_at_work() -> set[asyncio.Task[Any]]:
    """Return the tasks of this loop that run code of the adapters."""
    return {task for task in asyncio.all_tasks() if "/adapters/" in repr(task) and "/tests/" not in repr(task)}
