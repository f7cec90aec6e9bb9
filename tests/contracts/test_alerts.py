"""What moderators are told where only they read it, whatever the platform."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest

from bot.sync import SourceAlerts
from core.model import Origin, SourceKind, SourceRecord, SyncReport
from core.ports import ChatSurface
from tests.builders import NOON
from tests.fakes.communities import MemoryCommunities
from tests.fakes.dedup import MemoryDedup
from tests.fakes.index import MemoryIndex
from tests.on_discord import OnDiscord, on_discord
from tests.on_slack import OnSlack, on_slack
from tests.platforms import ChatPlatform

HOUR = 3_600
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


@pytest.mark.promise("syncs-by-itself")
async def test_moderators_are_told_once_of_a_source_that_fails(chat: ChatPlatform) -> None:
    """And again after it could be read in between; never why, which may name what is the operator's alone."""
    home = (await chat.asks()).message.thread.home
    origin = Origin(kind=SourceKind.FOLDER, address="/home/secret", every=HOUR)
    fails, works = (
        SourceRecord(name="docs", origin=origin, last=SyncReport(tried_at=NOON, problem=problem))
        for problem in ("There is no folder at /home/secret.", "")
    )
    index = MemoryIndex()

    async def entrance() -> ChatSurface:
        return chat.surface

    alerts = SourceAlerts(index, MemoryCommunities(home), MemoryDedup(), {home.platform: entrance})
    told: list[int] = []
    for known in (fails, fails, works, fails):
        await index.record(known)
        await alerts.look()
        told.append(len(chat.told()))

    assert told == [1, 1, 1, 2]
    for text in chat.told():
        assert "I couldn't update the documents from 'docs'." in text
        assert "secret" not in text
