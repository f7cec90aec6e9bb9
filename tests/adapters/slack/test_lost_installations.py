"""A store that was emptied, and the workspaces that have installed the bot."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.oauth.installation_store import Bot

from adapters.slack.oauth import VaultInstallations
from adapters.slack.workspaces import NotInstalled
from core.model import Kept
from tests.adapters.slack.intake import Place
from tests.adapters.slack.test_installing import HOUR, keep, workspaces
from tests.fakes.vault import MemoryVault


@pytest.fixture(name="place")
async def _place() -> AsyncIterator[Place]:
    """Run Slack."""
    async with Place.open() as place:
        yield place


@pytest.mark.promise("nothing-lost")
@pytest.mark.parametrize("is_found", [True, False])
async def test_a_store_that_was_emptied_gets_the_tokens_back(place: Place, *, is_found: bool) -> None:
    """Also of workspaces where nobody has written since the start; but not where the bot was thrown out meanwhile."""
    vault, other = MemoryVault(), place.server.add_workspace("Arms")
    await keep(place, vault, expires_in=HOUR * 10)
    before = await everything(vault)
    ids: dict[str, Any] = {"team_id": other.team_id, "bot_id": other.bot_id, "bot_user_id": other.bot.id}
    await VaultInstallations(vault).async_save_bot(Bot(bot_token=other.token, installed_at=time.time(), **ids))
    known = workspaces(place, vault)
    await known.joined()
    for key in await vault.keys(""):
        await vault.remove(key)
    other.installation.revoked = "account_inactive"
    await (known.find(place.workspace.team_id) if is_found else known.put_back())

    assert await everything(vault) == before
    with pytest.raises(NotInstalled):
        await known.find(other.team_id)


@pytest.mark.promise("nothing-lost")
async def test_whoever_answers_gives_a_store_that_was_emptied_the_tokens_back(place: Place) -> None:
    """A listener that has just started knows of none."""
    vault, looked, is_back = MemoryVault(), asyncio.Event(), asyncio.Event()
    await keep(place, vault, expires_in=HOUR * 10)
    before = await everything(vault)
    known = workspaces(place, vault)
    await known.find(place.workspace.team_id)

    async def kept_for() -> Kept:
        if not looked.is_set():
            looked.set()
            return Kept(timedelta(0), "1")
        if await everything(vault) != before:
            return Kept(timedelta(0), "2")
        is_back.set()
        return Kept(timedelta(0), "2")

    guarding = asyncio.create_task(known.guard(kept_for))
    await looked.wait()
    for key in await vault.keys(""):
        await vault.remove(key)
    async with asyncio.timeout(10):
        await is_back.wait()
    guarding.cancel()

    assert await everything(vault) == before


async def everything(vault: MemoryVault) -> dict[str, str | None]:
    """Give all that is kept."""
    return {key: await vault.load(key) for key in await vault.keys("")}
