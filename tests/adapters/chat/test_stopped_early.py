"""A model is stopped before its first words where it is known by then that nobody can be shown any."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from core.model import Claim, Delivery, Progress, Waiting
from tests.on_discord import OnDiscord, OnDiscordByCommand, on_discord
from tests.on_slack import OnSlack, on_slack
from tests.servers.discord import Reply
from tests.servers.slack import refuse

TYPING, SESSION = "POST /channels/{channel}/typing", "agents.sessions.setStatus"


async def ended(chat: OnDiscord | OnSlack, claim: Claim, *items: Progress) -> Delivery:
    """Reply with what a model writes that would go on for ever, and return once it was stopped."""
    stopped = asyncio.Event()

    async def written() -> AsyncGenerator[Progress]:
        try:
            for item in items:
                yield item
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with asyncio.timeout(10), aclosing(written()) as writing:
        delivery = await chat.surface.reply(claim, writing)
    await stopped.wait()
    return delivery


@pytest.mark.promise("refusals-end")
@pytest.mark.parametrize("code", [10003, 50001])
async def test_on_discord_a_place_that_is_gone_ends_it(code: int) -> None:
    """As soon as the bot may not show there that it types."""
    async with on_discord(OnDiscord) as chat:
        claim = await chat.asks()
        chat.server.faults.add(TYPING, Reply(403, {"code": code, "message": "Missing Access"}))
        delivery = await ended(chat, claim)

        assert (chat.stands(claim), delivery.messages) == ([], ())


@pytest.mark.promise("refusals-end")
@pytest.mark.parametrize("code", ["channel_not_found", "not_in_channel", "is_archived", "thread_not_found"])
async def test_on_slack_a_place_that_is_gone_ends_it(code: str) -> None:
    """As soon as the bot may not show there that it works."""
    async with on_slack(OnSlack) as chat:
        claim = await chat.asks()
        chat.server.faults.add(SESSION, refuse(code))
        delivery = await ended(chat, claim)

        assert (chat.stands(claim), delivery.messages) == ([], ())


@pytest.mark.promise("refusals-end")
async def test_a_response_that_nobody_sees_any_more_ends_a_private_answer() -> None:
    """Where what is waited for cannot be shown, the answer cannot either."""
    async with on_discord(OnDiscordByCommand) as chat:
        claim = await chat.commanded(is_private=True)
        chat.server.faults.break_(chat.whole, Reply(404, {"code": 10015, "message": "Unknown Webhook"}))
        delivery = await ended(chat, claim, Waiting(after=0.0))

        assert not delivery.is_marked
