"""Workers wait for a platform while the bot starts, and no longer, since others have questions too."""

from __future__ import annotations

import asyncio

import pytest

from bot.app import SOON, USUAL_START, Entrance
from core.errors import ShutOut
from tests.fakes.surface import RecordingSurface
from tests.virtual_time import run


async def _turned_away(entrance: Entrance) -> tuple[float, float]:
    """Come in vain; give how long that took, and after which time one is to come back."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with pytest.raises(ShutOut) as caught:
        await entrance()
    return loop.time() - begun, caught.value.wait


def test_a_platform_that_cannot_be_reached_keeps_no_worker() -> None:
    """Only the first ones wait for as long as a start takes; all get in once the bot has."""
    surface = RecordingSurface()

    async def come() -> None:
        entrance = Entrance()
        assert await asyncio.gather(_turned_away(entrance), _turned_away(entrance)) == [(USUAL_START, SOON)] * 2
        assert await _turned_away(entrance) == (0.0, SOON)
        entrance.open(surface)
        assert await entrance() is surface

    run(come())


def test_a_platform_that_refuses_the_bot_is_come_back_to_later() -> None:
    """Nobody waits, as nothing will change soon."""

    async def come() -> None:
        entrance = Entrance()
        entrance.refuse()
        took, wait = await _turned_away(entrance)
        assert (took, wait > SOON) == (0.0, True)

    run(come())


def test_whoever_comes_while_the_bot_starts_is_let_in_with_it() -> None:
    """As soon as it is there."""
    surface = RecordingSurface()

    async def come() -> float:
        entrance = Entrance()
        waiting = asyncio.create_task(entrance())
        await asyncio.sleep(1.0)
        entrance.open(surface)
        assert await waiting is surface
        return asyncio.get_running_loop().time()

    assert run(come()) < USUAL_START
