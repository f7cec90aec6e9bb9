"""Takes what is asked by a command or a form, so that a crash loses nothing between the platform and the inbox.

A platform wants to hear within seconds that an answer is on its way, and where that goes is known afterwards only. So a
question is accepted by the inbox before, and moved into its thread after. Of several processes, one is at it at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from adapters.chat.commands import Tell
from adapters.chat.services import ChatServices
from adapters.retry import BRIEF, NOT_NOW, PATIENT
from core.errors import StoreUnavailable
from core.events import Passed, Step
from core.messages import BROKEN, CANNOT_TAKE, WARNING
from core.model import Asked, Deleted

Find: TypeAlias = Callable[[Asked], Awaitable[Asked | None]]
"""Finds where the answer to what was accepted goes; None where nobody waits for it any more."""

LONGEST_WRITE = 1.5  # seconds; platforms wait three for the acknowledgement that comes after it
SHARE = 2 / 3  # of the time that it is ours, so that what is broken off has had its effect before others begin
LOOK = 1.0  # seconds between two looks for what others have left
NO_STORE = f"{WARNING} {CANNOT_TAKE}"


async def accepted(services: ChatServices, asked: Asked) -> float | None:
    """Have a question accepted, and return until when it is to be moved, by the loop's clock; None if it was before.

    Raises `StoreUnavailable` where nobody knows whether it is; then the platform must not be told that an answer is on
    its way, and the question has to be dropped.
    """
    until = _until(services)
    return until if await services.accepting.accept(asked, within=LONGEST_WRITE) else None


async def settle(services: ChatServices, asked: Asked, until: float, find: Find, tell: Tell) -> None:
    """Move what was accepted, once it is acknowledged; *tell* why not, if the store or the platform is away for long.

    What is not done in time is left to whoever takes it over.
    """
    services.observer(Passed(asked.message, Step.ACKNOWLEDGED))
    try:
        await _move(services, asked, until, find)
    except NOT_NOW:
        await tell(NO_STORE)
        await drop(services, asked)
    except Exception:
        await tell(f"{WARNING} {BROKEN}")
        await drop(services, asked)
        raise


async def drop(services: ChatServices, asked: Asked) -> None:
    """Withdraw what was accepted, as nobody will answer it."""
    with suppress(*NOT_NOW):
        await replace(PATIENT, sleep=services.sleep).call(partial(services.inbox.put, Deleted(message=asked.message)))


async def take_over(services: ChatServices, platform: str, find: Find) -> None:
    """Move, until this is cancelled, what processes have accepted that died over it or stand still."""
    while True:
        await take_over_once(services, platform, find)
        await services.sleep(LOOK)


async def take_over_once(services: ChatServices, platform: str, find: Find) -> None:
    """Move what is to be taken over now; what the store or the platform is away for is left until the next time."""
    moving: list[Awaitable[None]] = []
    with suppress(StoreUnavailable):
        until = _until(services)
        while asked := await services.accepting.overdue(platform):
            moving.append(_finish(services, asked, until, find))
            until = _until(services)
    await asyncio.gather(*moving)


async def _finish(services: ChatServices, asked: Asked, until: float, find: Find) -> None:
    try:
        await _move(services, asked, until, find)
    except NOT_NOW:
        pass
    except Exception as error:  # noqa: BLE001 - what is broken must keep nothing else from being done
        context: dict[str, Any] = {"message": "a question that was accepted broke", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)
        await drop(services, asked)


def _until(services: ChatServices) -> float:
    """Return until when something is ours that is taken now."""
    return asyncio.get_running_loop().time() + services.accepting.accepted_for * SHARE


async def _move(services: ChatServices, asked: Asked, until: float, find: Find) -> None:
    async def act() -> None:
        if found := await find(asked):
            await services.accepting.move(asked.message, found)
        else:
            await services.inbox.put(Deleted(message=asked.message))

    if asyncio.get_running_loop().time() < until:  # else this process was frozen, and others may be at it
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await replace(BRIEF, sleep=services.sleep).call(act)
