"""What moderators are told where only they read it, whatever the platform."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.on_discord import OnDiscord, on_discord
from tests.on_slack import OnSlack, on_slack
from tests.platforms import ChatPlatform

PLATFORMS = {"discord": partial(on_discord, OnDiscord), "slack": partial(on_slack, OnSlack)}


@pytest.fixture(name="chat", params=list(PLATFORMS.values()), ids=list(PLATFORMS))
async def _chat(request: pytest.FixtureRequest) -> AsyncIterator[ChatPlatform]:
    async with request.param() as chat:
        yield chat


@pytest.mark.promise("nothing-pings")
async def test_what_moderators_are_told_shows_no_preview(chat: ChatPlatform) -> None:
    """The name of a source may be a host, of whose page clients would show the beginning."""
    claim = await chat.asks()

    await chat.surface.alert(claim.message.thread.home, "I couldn't update the documents from a website.")

    assert (chat.changes() != [], chat.alarms()) == (True, [])
