"""The group of users in SLACK_MODERATORS, where the bot is installed in several workspaces."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.oauth.installation_store import Bot

from adapters.slack.health import LACKING_THERE
from adapters.slack.oauth import VaultInstallations
from bot.settings import Settings, read_settings
from bot.wiring.services import Advice
from bot.wiring.slack import GROUP_COUNTS, GROUP_UNKNOWN, NO_SUCH_GROUP, check_slack
from bot.wiring.stores import open_stores
from core.errors import Misconfigured
from tests.adapters.slack.intake import Place
from tests.servers.slack import refuse

LINE = "receives events over HTTP at port 3000, where /slack/install installs it in workspaces"
GROUPS = "usergroups.users.list"


@pytest.fixture(name="place")
async def _place() -> AsyncIterator[Place]:
    """Run Slack."""
    async with Place.open() as place:
        yield place


@pytest.fixture(name="settings")
def _settings(place: Place, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Set what an app needs that is installed in many workspaces."""
    for name, value in {
        "SLACK_CLIENT_ID": place.server.client_id,
        "SLACK_CLIENT_SECRET": place.server.client_secret,
        "SLACK_SIGNING_SECRET": "5ecret",
        "SLACK_API_URL": place.server.api_url,
        "SLACK_MODERATORS": place.server.add_group(place.workspace, place.ada),
        "REDIS_URL": redis_url,
        "FOOTNOTE_DATA_DIR": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    with chdir(tmp_path):  # no `.env` of whoever runs the tests is read
        return read_settings()


async def installed(settings: Settings, *workspaces: Any) -> None:
    """Keep that these workspaces have installed the bot, and no others."""
    async with open_stores(settings) as stores:
        for key in await stores.vault.keys("slack:installation:"):
            await stores.vault.remove(key)
        for at, each in enumerate(workspaces):
            given: dict[str, Any] = {
                "team_id": each.team_id,
                "team_name": each.name,
                "bot_id": each.bot_id,
                "installed_at": float(at),
            }
            bot = Bot(app_id=each.app_id, bot_token=each.token, bot_user_id=each.bot.id, **given)
            await VaultInstallations(stores.vault).async_save_bot(bot)


@pytest.mark.promise("says-what-to-do")
async def test_the_doctor_asks_each_workspace_for_the_group_of_moderators(place: Place, settings: Settings) -> None:
    """One knows it, one does not, and of one Slack does not say; nobody may moderate by a mistake that nobody sees."""
    other, third = place.server.add_workspace("Arms"), place.server.add_workspace("Legs")
    first = place.workspace
    found = list[str]()
    for workspaces in ((), (first,), (first, other)):
        await installed(settings, *workspaces)
        found.append(await check_slack(settings))
    await installed(settings, other)
    with pytest.raises(Misconfigured) as nowhere:
        await check_slack(settings)
    await installed(settings, third)
    place.server.faults.add(GROUPS, refuse("fatal_error"), refuse("fatal_error"), refuse("fatal_error"))
    found.append(await check_slack(settings))

    names = [f"{each.team_id} ({each.name})" for each in (first, other, third)]
    counts, unknown = GROUP_COUNTS.format(names[0]), GROUP_UNKNOWN.format(names[1])
    assert found == [
        LINE,
        f"{LINE}. {counts}",
        f"{LINE}. {counts} {unknown}",
        f"{LINE}. {names[2]}: Slack did not say (fatal_error).",
    ]
    assert [isinstance(each, Advice) for each in found] == [False, False, True, True]
    assert str(nowhere.value) == NO_SUCH_GROUP


@pytest.mark.promise("says-what-to-do")
async def test_workspaces_that_have_installed_the_bot_with_fewer_scopes_are_named(
    place: Place, settings: Settings
) -> None:
    """As many have after an update, whether or not a group of users moderates."""
    other = place.server.add_workspace("Arms")
    other.scopes.discard("files:read")
    await installed(settings, place.workspace, other)
    says = await check_slack(settings.model_copy(update={"slack_moderators": None}))

    lacking = LACKING_THERE.format(f"{other.team_id} (Arms) lacks files:read")
    assert (says, type(says)) == (f"{LINE}. {lacking}", Advice)
