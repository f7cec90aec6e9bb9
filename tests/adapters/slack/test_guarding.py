"""Installations are given back to a store that has lost them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from adapters.chat.background import LOOK
from core.model import Kept
from tests.adapters.slack.intake import Place
from tests.adapters.slack.test_installing import HOUR, keep, workspaces
from tests.fakes.vault import MemoryVault

PATIENCE = 30  # seconds


@pytest.fixture(name="place")
async def _place() -> AsyncIterator[Place]:
    """Run Slack."""
    async with Place.open() as place:
        yield place


@pytest.mark.promise("several-workspaces")
async def test_a_store_that_is_emptied_is_given_installations_that_nobody_has_written_from(place: Place) -> None:
    """Whoever guards it reads them all at its start: a process that was alone with them may be gone by then."""
    vault, marks = MemoryVault(), iter(["one", "one", *["two"] * 20])
    await keep(place, vault, expires_in=HOUR)
    key = next(iter(await vault.keys("slack:")))

    async def kept_for() -> Kept:
        return Kept(age=timedelta(), mark=next(marks))

    guarding = asyncio.create_task(workspaces(place, vault).guard(kept_for))
    async with asyncio.timeout(PATIENCE):
        await asyncio.sleep(LOOK / 2)
        await vault.remove(key)
        while await vault.load(key) is None:  # noqa: ASYNC110 - the guard tells nobody
            await asyncio.sleep(LOOK / 10)
    guarding.cancel()
