"""Installing the bot in several workspaces, with tokens that are renewed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from html import unescape
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from slack_sdk.oauth.installation_store import Bot

from adapters.chat.services import KEPT, CommunityGates
from adapters.retry import TOKEN_REFUSED
from adapters.slack.api import ask
from adapters.slack.oauth import BEGIN, END, SCOPES, TURN, InstalledWorkspaces, VaultInstallations, install_pages
from adapters.slack.workspaces import NotInstalled
from adapters.web import served
from core.errors import ShutOut, StoreUnavailable, Unreachable
from core.events import CommunityBack, CommunityLost, Event
from tests.adapters.slack.intake import Place
from tests.fakes.clock import Clock
from tests.fakes.dedup import MemoryDedup
from tests.fakes.vault import MemoryVault
from tests.servers.faults import Hold
from tests.servers.slack import refuse

HOUR = 3_600


@pytest.fixture(name="place")
async def _place() -> AsyncIterator[Place]:
    """Run Slack."""
    async with Place.open() as place:
        yield place


class Browser:
    """Somebody who installs the bot in a workspace."""

    def __init__(self, place: Place, vault: MemoryVault) -> None:
        secret = place.server.client_secret
        pages = install_pages(place.client, vault, client_id=place.server.client_id, client_secret=secret)
        self._place = place
        self._served = served(pages, "127.0.0.1", 0, refusal="", shutdown_timeout=0)
        self._port = 0
        self.cookie = ""

    async def __aenter__(self) -> Self:
        """Begin."""
        self._port = await self._served.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End."""
        await self._served.__aexit__(None, None, None)

    async def get(self, path: str) -> tuple[int, str]:
        """Look at a page; cookies are kept."""
        address = f"http://127.0.0.1:{self._port}{path}"
        async with self._place.client.session.get(address, headers={"Cookie": self.cookie}) as response:
            if cookies := response.headers.getall("Set-Cookie", []):
                self.cookie = cookies[0].partition(";")[0]
            return response.status, await response.text()

    async def begin(self) -> dict[str, list[str]]:
        """Go to the page that leads to Slack; give what Slack is asked."""
        _, page = await self.get(BEGIN)
        link = unescape(page.partition('<a href="')[2].partition('"')[0])
        return parse_qs(urlsplit(link).query)

    async def end(self, state: str, code: str) -> tuple[int, str]:
        """Come back from Slack."""
        return await self.get(f"{END}?{urlencode({'state': state, 'code': code})}")


class Full(MemoryVault):
    """Takes nothing while it `is_full`."""

    is_full = False

    async def save(self, key: str, text: str, ttl: timedelta | None = None) -> None:
        """Keep it, where there is room."""
        if self.is_full:
            raise StoreUnavailable("The data store is full.")
        await super().save(key, text, ttl)


class Noting(MemoryVault):
    """Knows what it was ever given to keep."""

    def __init__(self) -> None:
        super().__init__()
        self.saved = list[str]()

    async def save(self, key: str, text: str, ttl: timedelta | None = None) -> None:
        """Keep it."""
        self.saved.append(key)
        await super().save(key, text, ttl)


class Slow(MemoryVault):
    """Says when it is asked to keep something, and keeps it once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.may = asyncio.Event(), asyncio.Event()

    async def save(self, key: str, text: str, ttl: timedelta | None = None) -> None:
        """Keep it later."""
        self.asked.set()
        await self.may.wait()
        await super().save(key, text, ttl)


def workspaces(
    place: Place, vault: MemoryVault, clock: Clock | None = None, notes: MemoryDedup | None = None, **more: Any
) -> InstalledWorkspaces:
    """Give what one process knows of the installations."""
    server = place.server
    return InstalledWorkspaces(
        place.client.session,
        vault,
        notes or MemoryDedup(clock or time.monotonic),
        client_id=server.client_id,
        client_secret=server.client_secret,
        api_url=server.api_url,
        clock=clock or time.time,
        **more,
    )


async def keep(place: Place, vault: MemoryVault, *, expires_in: int, now: float | None = None) -> None:
    """Keep an installation whose token ends at some time."""
    place.server.rotates = True
    workspace = place.workspace
    workspace.installation.refresh_token = "xoxe-first"
    bot = Bot(
        app_id=workspace.app_id,
        team_id=workspace.team_id,
        bot_token=workspace.token,
        bot_id=workspace.bot_id,
        bot_user_id=workspace.bot.id,
        bot_refresh_token="xoxe-first",
        bot_token_expires_at=int(time.time() if now is None else now) + expires_in,
        installed_at=time.time(),
    )
    await VaultInstallations(vault).async_save_bot(bot)


async def who(client: Any) -> str:
    """Ask Slack whose token it is."""
    return str((await client.auth_test())["user_id"])


@pytest.mark.promise("several-workspaces")
async def test_the_bot_is_installed_in_the_browser_and_speaks_with_that_workspaces_token(place: Place) -> None:
    """In two workspaces, one of which has a token that expires; what is kept has no token of a person."""
    vault, server = MemoryVault(), place.server
    other = server.add_workspace()
    async with Browser(place, vault) as browser:
        for workspace, rotates in ((place.workspace, False), (other, True)):
            server.rotates = rotates
            asked = await browser.begin()
            assert asked["scope"] == [",".join(SCOPES)]
            status, page = await browser.end(asked["state"][0], server.authorize(workspace, place.ada))
            assert (status, "Thank you" in page) == (200, True)
    found = workspaces(place, vault)

    mine, theirs = await found.find(place.workspace.team_id), await found.find(other.team_id)
    assert (mine.bot_user_id, await who(mine.client)) == (place.workspace.bot.id, place.workspace.bot.id)
    assert (theirs.bot_user_id, await who(theirs.client)) == (other.bot.id, other.bot.id)
    assert (theirs.app_id, theirs.bot_id, theirs.client.token) == (other.app_id, other.bot_id, other.token)
    await found.uninstalled(other.team_id)
    for known, name in ((found, other.team_id), (workspaces(place, vault), other.team_id), (found, "")):
        with pytest.raises(NotInstalled):
            await known.find(name)


async def test_a_workspace_that_has_thrown_the_bot_out_unnoticed_is_left_alone(place: Place) -> None:
    """Its token was refused from the first call of this process on."""
    vault = MemoryVault()
    await keep(place, vault, expires_in=HOUR)
    place.workspace.installation.revoked = "token_revoked"
    found = workspaces(place, vault)

    for _ in range(5):
        workspace = await found.find(place.workspace.team_id)
        with pytest.raises(ShutOut):
            await ask(workspace.client, "auth.test")

    assert [each.method for each in place.server.requests].count("auth.test") == 1


@pytest.mark.promise("tells-how-it-is")
async def test_a_workspace_that_refuses_its_token_is_told_once_and_so_is_its_return(place: Place) -> None:
    """Until the bot is installed there with another token; of one that the bot has left nothing more is said."""
    vault, told, team = MemoryVault(), list[Event](), place.workspace.team_id
    await keep(place, vault, expires_in=HOUR)
    found = workspaces(place, vault, gates=CommunityGates("Slack", told.append))

    async def refused() -> None:
        for _ in range(3):
            with pytest.raises(ShutOut):
                await ask((await found.find(team)).client, "auth.test")

    await who((await found.find(team)).client)
    place.workspace.installation.revoked = "token_revoked"
    await refused()
    place.workspace.installation.revoked, place.workspace.installation.token = None, "xoxb-another"
    await keep(place, vault, expires_in=HOUR)
    for _ in range(2):
        await who((await found.find(team)).client)
    place.workspace.installation.revoked = "token_revoked"
    await refused()
    await found.uninstalled(team)
    with pytest.raises(NotInstalled):
        await found.find(team)

    home = f"slack:{team}"
    lost, back = CommunityLost("Slack", home, home, TOKEN_REFUSED), CommunityBack("Slack", home, home)
    assert told == [lost, back, lost, replace(back, has_left=True)]


async def test_nobody_can_be_made_to_finish_what_somebody_else_began(place: Place) -> None:
    """A state of another browser, a code that Slack does not know, and states that nobody began, or long ago.

    However many begin, nothing is kept of it.
    """
    vault, server = Noting(), place.server
    async with Browser(place, vault) as browser:
        state = (await browser.begin())["state"][0]
        mine, browser.cookie = browser.cookie, ""
        refused = [await browser.end(state, server.authorize(place.workspace, place.ada))]
        browser.cookie = mine
        refused.append(await browser.end(state, "unknown"))
        browser.cookie = mine
        refused.append(await browser.end(state, server.authorize(place.workspace, place.ada)))
        code, _, time_and_signature = state.partition(".")
        old = f"{code}.{int(time_and_signature.partition('.')[0]) - HOUR}.{time_and_signature.partition('.')[2]}"
        for forged in ("made-up", old, f"{state}0", "ö"):
            browser.cookie = mine.replace(state, forged)
            refused.append(await browser.end(forged, server.authorize(place.workspace, place.ada)))

    assert [status for status, _ in refused] == [400, 401, 200, 401, 401, 401, 401]
    assert vault.saved == [f"slack:installation:{place.workspace.team_id}"]


async def test_an_organization_is_installed_once_for_all_its_workspaces(place: Place) -> None:
    """Each is found by the organization's installation, and calls name the workspace."""
    vault, server = MemoryVault(), place.server
    part = server.add_workspace(enterprise_id="E1", org_wide=True)
    async with Browser(place, vault) as browser:
        asked = await browser.begin()
        status, _ = await browser.end(asked["state"][0], server.authorize(part, place.ada))
    found = await workspaces(place, vault).find(f"E1/{part.team_id}")

    assert (status, found.team_id, found.enterprise_id) == (200, part.team_id, "E1")
    client: Any = found.client
    assert client.default_params["team_id"] == part.team_id
    with pytest.raises(NotInstalled):
        await workspaces(place, vault).find(part.team_id)


async def found_later(installed: InstalledWorkspaces, team: str) -> str:
    """Ask for a workspace, and once more when what that began is over; give the token."""
    await installed.find(team)
    await installed.background.finish()
    return (await installed.find(team)).client.token or ""


@pytest.mark.promise("several-workspaces")
async def test_a_token_is_renewed_before_it_expires_by_one_process(place: Place) -> None:
    """Nobody waits for that, and of two processes that ask at once, one renews."""
    vault, notes, server = MemoryVault(), MemoryDedup(), place.server
    await keep(place, vault, expires_in=HOUR)
    here, there = (workspaces(place, vault, notes=notes) for _ in range(2))
    old, team = place.workspace.token, place.workspace.team_id
    server.faults.add("oauth.v2.access", held := Hold(asyncio.Event()))

    first = await asyncio.gather(*(each.find(team) for each in (here, there) for _ in range(5)))
    await server.until(lambda: server.faults.met)
    held.until.set()
    await asyncio.gather(*(each.background.finish() for each in (here, there)))
    later = [(await workspaces(place, vault).find(team)).client.token]

    assert {each.client.token for each in first} == {old}
    assert later == [place.workspace.token] != [old]
    assert len(server.requests_to("oauth.v2.access")) == 1


@pytest.mark.promise("several-workspaces")
async def test_a_token_that_cannot_be_renewed_is_tried_again_later_and_used_all_the_same(place: Place) -> None:
    """Once in some minutes, whoever asks; while it is good it does its work, and after that Slack says so."""
    vault, clock, team = MemoryVault(), Clock(), place.workspace.team_id
    await keep(place, vault, expires_in=HOUR + 300, now=clock())
    place.server.faults.break_("oauth.v2.access", refuse("invalid_refresh_token"))
    here, tries = workspaces(place, vault, clock), list[int]()
    for seconds in (0.0, 1.0, KEPT - 100, TURN, TURN):
        clock.advance(seconds)
        await here.find(team)
        await here.background.finish()
        tries.append(len(place.server.requests_to("oauth.v2.access")))
    place.server.faults.mend()
    clock.advance(TURN)

    assert tries == [1, 1, 1, 2, 3]
    assert await found_later(here, team) == place.workspace.token


@pytest.mark.promise("degradation")
async def test_a_store_that_is_away_costs_no_workspace_that_is_known(place: Place) -> None:
    """Of one that is not known, nobody can say anything."""
    vault, clock, team = MemoryVault(), Clock(), place.workspace.team_id
    await keep(place, vault, expires_in=HOUR)
    known = workspaces(place, vault, clock)
    before = await known.find(team)
    vault.fails = True
    clock.advance(KEPT + 1)

    assert (await known.find(team)).client.token == before.client.token
    with pytest.raises(Unreachable):
        await workspaces(place, vault).find(team)


@pytest.mark.promise("several-workspaces")
async def test_a_token_that_cannot_be_kept_now_is_kept_later(place: Place) -> None:
    """Slack gives it once."""
    vault, clock, team = Full(), Clock(), place.workspace.team_id
    await keep(place, vault, expires_in=HOUR + 300, now=clock())
    vault.is_full = True
    known = workspaces(place, vault, clock)
    renewed = await found_later(known, team)
    vault.is_full = False
    clock.advance(KEPT + 1)
    await found_later(known, team)

    found = await workspaces(place, vault, clock).find(team)
    assert found.client.token == renewed == place.workspace.token
    assert len(place.server.requests_to("oauth.v2.access")) == 1


@pytest.mark.promise("forget-workspace")
async def test_a_workspace_that_goes_while_its_token_is_renewed_is_forgotten_all_the_same(place: Place) -> None:
    """Nothing is kept of it after that, neither here nor in the store."""
    vault, team = Slow(), place.workspace.team_id
    vault.may.set()
    await keep(place, vault, expires_in=HOUR)
    vault.may.clear()
    vault.asked.clear()
    found = workspaces(place, vault)

    await found.find(team)
    await vault.asked.wait()
    forgetting = asyncio.create_task(found.uninstalled(team))
    for _ in range(10):
        await asyncio.sleep(0)
    vault.may.set()
    await asyncio.wait({forgetting})

    with pytest.raises(NotInstalled):
        await found.find(team)
    assert forgetting.exception() is None


async def test_those_that_have_installed_the_bot_are_known_in_their_order(place: Place) -> None:
    """Organizations as well as workspaces, under the names that Slack gave; what cannot be read comes last."""
    vault = MemoryVault()
    kept = VaultInstallations(vault)
    whole: dict[str, Any] = {
        "team_id": None,
        "enterprise_id": "E1",
        "enterprise_name": "Robotics",
        "is_enterprise_install": True,
    }
    late: dict[str, Any] = {"team_id": "T3", "team_name": "Late"}
    first: dict[str, Any] = {"team_id": "T1"}
    for at, more in ((3.0, late), (2.0, whole), (1.0, first)):
        await kept.async_save_bot(Bot(bot_token="xoxb-1", bot_id="B", bot_user_id="U", installed_at=at, **more))
    await vault.save("slack:installation:T9", "{}")

    found = [(str(home), name) for home, name in await workspaces(place, vault).joined()]

    assert found == [("slack:T1", ""), ("slack:E1", "Robotics"), ("slack:T3", "Late"), ("slack:T9", "")]
