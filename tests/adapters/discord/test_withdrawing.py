"""What is left on Discord of a question that was deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from adapters.discord.answering.withdrawing import UNTITLED
from core.model import Withdrawal
from tests.on_discord import ASKED, OnDiscord, on_discord
from tests.platforms import ANSWER, progress

RENAMES = "PATCH /channels/{channel}"


@pytest.fixture(name="discord")
async def _discord() -> AsyncIterator[OnDiscord]:
    async with on_discord(OnDiscord) as discord:
        yield discord


@pytest.mark.promise("deletions-count")
async def test_the_words_of_a_deleted_question_leave_the_name_of_its_thread(discord: OnDiscord) -> None:
    """The bot has opened the thread, so it may rename it."""
    claim = await discord.asks()
    delivery = await discord.surface.reply(claim, progress(ANSWER))
    thread = discord.server.platform.channels[int(claim.thread.thread)]
    before = thread.name

    await discord.surface.withdraw(Withdrawal(claim.message, delivery=delivery))

    assert (before, thread.name) == (ASKED, UNTITLED)


async def test_a_thread_that_others_opened_keeps_its_name(discord: OnDiscord) -> None:
    """It is theirs; nothing is tried."""
    claim = await discord.asks()
    asked = discord.server.platform.messages[int(claim.message.id)]
    thread = discord.server.thread_as(discord.ada, asked, "Our thread")
    delivery = await discord.surface.reply(claim, progress(ANSWER))

    await discord.surface.withdraw(Withdrawal(claim.message, delivery=delivery))

    assert thread.name == "Our thread"
    assert discord.server.requests_to(RENAMES) == []
