"""A stop leaves nothing behind on Slack, also where it is said twice."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest

from adapters.slack.api import open_session
from bot.settings import Settings
from bot.wiring.slack import SlackPlatform
from bot.wiring.stores import Stores
from core.events import unobserved
from tests.adapters.slack.ears import SOCKETS, Place, place_fixture
from tests.builders import NOON
from tests.fakes.channel_cursor import MemoryChannelCursor
from tests.fakes.communities import MemoryCommunities
from tests.fakes.conversations import MemoryConversations
from tests.fakes.dedup import MemoryDedup
from tests.fakes.inbox import MemoryInbox
from tests.fakes.index import MemoryIndex
from tests.fakes.moderation import MemoryPolicies
from tests.fakes.quota import MemoryQuota
from tests.fakes.removals import MemoryRemovals
from tests.fakes.vault import MemoryVault
from tests.fakes.votes import MemoryVotes
from tests.servers.slack import Hold
from tests.waiting import adapters_at_work

__all__ = ["place_fixture"]


@contextlib.asynccontextmanager
async def platform(place: Place) -> AsyncGenerator[asyncio.Task[None]]:
    """Hear Slack as the bot does, over two sockets."""
    unopened: Any = None  # the inbox is there
    dedup = MemoryDedup()
    stores = Stores(
        conversations=MemoryConversations(ttl=timedelta(hours=1), now=lambda: NOON),
        policies=MemoryPolicies(),
        communities=MemoryCommunities(),
        votes=MemoryVotes(),
        quota=MemoryQuota(now=lambda: NOON),
        dedup=dedup,
        seen=dedup,
        address="",
        channel_cursor=MemoryChannelCursor(),
        removals=MemoryRemovals(),
        vault=MemoryVault(),
        opened=unopened,
        require_durable=unopened,
    )
    values: dict[str, Any] = {
        "SLACK_BOT_TOKEN": place.workspace.token,
        "SLACK_APP_TOKEN": place.server.app_token,
        "SLACK_API_URL": place.server.api_url,
    }
    inbox: Any = MemoryInbox()
    async with open_session() as session:
        slack = SlackPlatform(Settings(**values), unobserved, session, stores, MemoryIndex())
        running = asyncio.create_task(slack.listen(stores, inbox))
        await place.server.connected(SOCKETS)
        yield running
        running.cancel()
        await asyncio.wait({running})


@pytest.mark.promise("orderly-stop")
async def test_a_second_stop_ends_what_the_first_one_waits_for(place: Place) -> None:
    """What people have used is given some seconds; then, or when that takes too long for somebody, all of it ends."""
    never = asyncio.Event()
    for method in ("users.conversations", "chat.postMessage"):  # what was missed is read, and a question is shown
        place.server.faults.break_(method, Hold(never))
    async with platform(place) as running:
        await place.server.slash(place.ada, place.channel, "/footnote", "ask What is a robot?").acknowledged()
        await place.server.until(lambda: len(place.server.faults.met) >= 2)
        running.cancel()
        await place.server.until(lambda: not any(one.open for one in place.server.sockets.arrivals))
        was_finishing = not running.done()
        running.cancel()
        await asyncio.wait({running})

        assert (was_finishing, adapters_at_work()) == (True, set())
