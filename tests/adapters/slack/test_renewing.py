"""Several processes that would renew the token of one workspace, of which Slack gives the next one once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.slack.oauth import TURN
from tests.adapters.slack.intake import Place
from tests.adapters.slack.test_installing import HOUR, found_later, keep, workspaces
from tests.fakes.clock import Clock
from tests.fakes.dedup import MemoryDedup
from tests.fakes.vault import MemoryVault
from tests.servers.faults import Hold


@pytest.fixture(name="place")
async def _place() -> AsyncIterator[Place]:
    """Run Slack."""
    async with Place.open() as place:
        yield place


@pytest.mark.promise("several-workspaces")
@pytest.mark.parametrize("skew", [1.0, TURN, -1.5 * TURN])
async def test_whatever_their_clocks_say_one_process_renews_and_the_others_read(place: Place, skew: float) -> None:
    """Slack takes what a token is renewed with once; nobody waits for it, and all have the new token after that."""
    vault, notes, server, team = MemoryVault(), MemoryDedup(), place.server, place.workspace.team_id
    await keep(place, vault, expires_in=HOUR, now=0.0)
    clocks = Clock(), Clock()
    clocks[1].advance(max(skew, 0.0))
    clocks[0].advance(max(-skew, 0.0))
    here, there = (workspaces(place, vault, clock, notes) for clock in clocks)
    old = place.workspace.token
    server.faults.add("oauth.v2.access", held := Hold(asyncio.Event()))

    first = [await here.find(team)]
    await server.until(lambda: server.faults.met)
    first += [await there.find(team), await there.find(team)]
    await there.background.finish()
    during = await there.find(team)
    held.until.set()
    await asyncio.gather(here.background.finish(), there.background.finish())
    later = [(await each.find(team)).client.token for each in (here, there)]

    assert {each.client.token for each in (*first, during)} == {old}
    assert later == [place.workspace.token] * 2 != [old] * 2
    assert len(server.requests_to("oauth.v2.access")) == 1


class Late(MemoryDedup):
    """Answers whoever wants to hold something once it `may`."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()

    async def hold(self, key: str, holder: str, *, seconds: float) -> bool:
        """Hold it later."""
        await self.may.wait()
        return await super().hold(key, holder, seconds=seconds)


@pytest.mark.promise("several-workspaces")
async def test_whoever_is_late_does_not_renew_what_was_renewed_meanwhile(place: Place) -> None:
    """It stood still for so long that nobody holds the renewal any more, and reads what the other one has kept."""
    vault, late, team = MemoryVault(), Late(), place.workspace.team_id
    await keep(place, vault, expires_in=HOUR)
    here, there = workspaces(place, vault), workspaces(place, vault, notes=late)
    await there.find(team)
    token = await found_later(here, team)
    late.may.set()

    assert await found_later(there, team) == token == place.workspace.token
    assert len(place.server.requests_to("oauth.v2.access")) == 1
