"""What people do beside asking: they edit, delete, stop, ask in private or alone with the bot, and are forgotten."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tests.faults.community import STOPS, Asked
from tests.faults.rig import LISTENERS, Rig

Deed: TypeAlias = Callable[[Rig, random.Random], Awaitable[bool]]
"""Says whether it came to that."""

WAITS = (0.0, 3.0)  # seconds after a question until somebody does something about it
PATIENCE = 5.0  # seconds to be told that one is forgotten


async def edited(rig: Rig, chance: random.Random) -> bool:
    """A question is edited while it waits, is being answered, or is answered."""
    asked = _asks(rig, chance)
    await asyncio.sleep(chance.uniform(*WAITS))
    rig.edit(asked)
    return True


async def deleted(rig: Rig, chance: random.Random) -> bool:
    """A question is deleted, and its answer goes."""
    asked = _asks(rig, chance)
    await asyncio.sleep(chance.uniform(*WAITS))
    rig.delete(asked)
    return True


async def stopped(rig: Rig, chance: random.Random) -> bool:
    """Whoever asked, by a mention or a command, stops an answer that takes seconds."""
    asked = chance.choice((rig.ask, rig.command))(chance.choice(LISTENERS))
    begins = rig.model.slow_down(asked.number)
    try:
        async with asyncio.timeout(WAITS[1] * 3):
            await begins.wait()
    except TimeoutError:
        return False
    await asyncio.sleep(chance.uniform(0.3, WAITS[1]))
    rig.deeds.stopped.add(asked.number)
    return rig.on(asked.platform).press(asked, STOPS)


async def private(rig: Rig, chance: random.Random) -> bool:
    """Somebody asks for an answer that nobody else sees."""
    rig.command(chance.choice(LISTENERS), private=True)
    return True


async def direct(rig: Rig, chance: random.Random) -> bool:
    """Somebody asks in a direct message."""
    rig.ask(chance.choice(LISTENERS), how="direct")
    return True


async def forgotten(rig: Rig, chance: random.Random) -> bool:
    """Somebody asks, and wants to be forgotten."""
    asked = rig.ask(chance.choice(LISTENERS), how="newcomer")
    await asyncio.sleep(chance.uniform(*WAITS))
    is_told = rig.forget(asked)
    with contextlib.suppress(AssertionError):
        await rig.on(asked.platform).changes.until(is_told, PATIENCE, "that one is forgotten")
    return is_told()


DEEDS: dict[str, Deed] = {
    "a question edited": edited,
    "a question deleted": deleted,
    "an answer stopped": stopped,
    "a private answer": private,
    "a direct message": direct,
    "a person forgotten": forgotten,
}


def _asks(rig: Rig, chance: random.Random) -> Asked:
    asked = rig.ask(chance.choice(LISTENERS))
    if chance.random() < 0.5:
        rig.model.slow_down(asked.number)
    return asked
