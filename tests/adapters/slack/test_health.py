"""The doctor's look at Slack, and the first word with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from adapters.retry import CONNECTING
from adapters.slack.api import connect
from adapters.slack.health import (
    APP_TOKEN_REFUSED,
    BOT_TOKEN_REFUSED,
    LACKING,
    NO_GROUP,
    SOCKET_MODE_OFF,
    check,
    log_in,
)
from adapters.slack.workspaces import ORGANIZATION, OneWorkspace
from core.errors import FootnoteError, Misconfigured
from tests.adapters.slack.intake import Place
from tests.servers.slack import limit, refuse

OPEN = "apps.connections.open"


@pytest.fixture(name="place")
async def _place() -> AsyncIterator[Place]:
    """Run Slack."""
    async with Place.open() as place:
        yield place


async def looked(place: Place, *, token: str = "", app_token: str | None = "", moderators: str = "") -> str:
    """Give what the doctor says, with the right tokens unless others are given; none of them is in it."""
    server: Any = place.server
    client = connect(place.client.session, token=token or place.workspace.token, api_url=server.api_url)
    try:
        app_token = server.app_token if app_token == "" else app_token
        says = await check(client, app_token=app_token, moderators=moderators)
    except FootnoteError as error:
        says = str(error)
    assert "hunter2" not in says
    return says


@pytest.mark.promise("says-what-to-do")
@pytest.mark.promise("no-secrets")
async def test_the_doctor_says_who_the_bot_is_or_what_to_do(place: Place) -> None:
    """With the tokens as they are, with wrong ones, with Socket Mode switched off, with a scope missing, and away."""
    found = [
        await looked(place),
        await looked(place, app_token=None),
        await looked(place, token="xoxb-hunter2"),
        await looked(place, app_token="xapp-hunter2"),
    ]
    place.server.faults.add(OPEN, refuse("socket_mode_not_enabled"))
    found.append(await looked(place))
    place.server.faults.add(OPEN, refuse("internal_error"))
    found.append(await looked(place))
    group = place.server.add_group(place.workspace, place.ada)
    found += [await looked(place, moderators=each) for each in (group, "S404")]
    place.workspace.scopes.discard("users:read")
    found.append(await looked(place))
    place.workspace.installation.is_enterprise_install = True
    found.append(await looked(place))

    assert found == [
        "footnote in Robots, over Socket Mode",
        "footnote in Robots, over HTTP",
        BOT_TOKEN_REFUSED,
        APP_TOKEN_REFUSED,
        SOCKET_MODE_OFF,
        "Slack cannot be reached (internal_error). Try again in a moment.",
        "footnote in Robots, over Socket Mode",
        NO_GROUP,
        LACKING.format(scopes="users:read"),
        ORGANIZATION,
    ]


@pytest.mark.promise("stays-connected")
async def test_the_bot_logs_in_as_soon_as_slack_can_be_reached(place: Place) -> None:
    """Whoever runs it is told; a token that was thrown out ends it."""
    told: list[tuple[int, str]] = []
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(0)

    def tell(attempt: int, reason: str) -> None:
        told.append((attempt, reason))

    retries = replace(CONNECTING, sleep=sleep, told=tell)
    workspace = OneWorkspace(place.client.session, place.workspace.token, place.server.api_url)
    place.server.faults.add("auth.test", refuse("fatal_error"), limit(30), refuse("team_access_not_granted"))
    await log_in(workspace, retries)
    place.workspace.installation.revoked = "account_inactive"
    later = OneWorkspace(place.client.session, place.workspace.token, place.server.api_url)
    with pytest.raises(Misconfigured, match="Bot User OAuth Token"):
        await log_in(later, retries)
    place.workspace.installation.revoked, place.workspace.installation.is_enterprise_install = None, True
    with pytest.raises(Misconfigured, match="whole organization"):
        await log_in(later, retries)

    reasons = ("fatal_error", "rate limit", "Slack says team_access_not_granted")
    assert told == list(enumerate(reasons, start=1))
    assert waits == [1.0, 30.0, 5.0]
