"""Places that refuse posts although the gateway showed nothing of it: nobody writes answers for them for a while."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.chat.services import LASTING
from core.model import Delivery, Progress
from tests.adapters.discord.test_surface import in_place
from tests.on_discord import POST, OnDiscord, OnDiscordByCommand, on_discord
from tests.platforms import ANSWER, progress
from tests.servers.discord import Permission, Reply

BARRED = Reply(403, {"code": 50013, "message": "Missing Permissions"})
NO_CHANNEL = Reply(404, {"code": 10003, "message": "Unknown Channel"})
AUTOMOD = Reply(403, {"code": 200000, "message": "Message was blocked by automatic moderation"})


@pytest.fixture(name="discord")
async def _discord() -> AsyncIterator[OnDiscord]:
    async with on_discord(OnDiscord) as discord:
        yield discord


async def never() -> AsyncIterator[Progress]:
    """An answer that costs too much to be written for nobody."""
    raise AssertionError("the model was asked")
    yield ANSWER


@pytest.mark.promise("refusals-end")
@pytest.mark.parametrize("refusal", [BARRED, AUTOMOD, NO_CHANNEL], ids=lambda each: each.body["message"])
async def test_the_next_question_in_a_place_that_refused_costs_no_answer(discord: OnDiscord, refusal: Reply) -> None:
    """It is marked, whoever runs the bot hears of the first one only, and after some minutes it is tried again."""
    now = [datetime.now(UTC)]
    surface = discord.surfaced(now=lambda: now[0])
    first, second, third = [await discord.asks() for _ in range(3)]
    discord.server.faults.add(POST, refusal)

    await surface.reply(first, progress(ANSWER))
    sent = len(discord.server.requests)
    known = Delivery(messages=(first.message,))
    kept = await surface.reply(replace(second, delivery=known), never())
    asked = len(discord.server.requests) - sent
    now[0] += LASTING
    await surface.reply(third, progress(ANSWER))

    assert (kept, asked) == (known.model_copy(update={"is_marked": True}), 1)
    assert [discord.warnings(each) for each in (first, second, third)] == [1, 1, 0]
    assert (len(discord.stands(third)), discord.refused) == (1, [first.message])


async def test_what_only_a_thread_refuses_closes_nothing(discord: OnDiscord) -> None:
    """Moderators have locked it: questions beside it are answered."""
    locked = discord.mention()
    discord.server.change_thread(discord.server.thread_as(discord.ada, locked), locked=True, archived=True)
    await discord.surface.reply(discord.claim(locked), progress(ANSWER))
    fine = await discord.asks()

    await discord.surface.reply(fine, progress(ANSWER))

    assert (len(discord.stands(fine)), len(discord.refused)) == (1, 1)


async def test_a_thread_that_refuses_leaves_its_channel_open(discord: OnDiscord) -> None:
    """Only the thread is kept out of."""
    asked = discord.mention()
    thread = discord.server.thread_as(discord.ada, asked)
    more = [in_place(discord.claim(asked), thread, discord.server.post_as(discord.ada, thread, "And?")) for _ in "ab"]
    beside = await discord.asks()
    discord.server.faults.add(POST, BARRED)

    await discord.surface.reply(more[0], progress(ANSWER))
    await discord.surface.reply(more[1], never())
    await discord.surface.reply(beside, progress(ANSWER))

    assert [discord.warnings(each) for each in (*more, beside)] == [1, 1, 0]


async def test_a_command_is_answered_in_a_place_that_refuses_posts() -> None:
    """Its response needs no right there."""
    async with on_discord(OnDiscordByCommand) as discord:
        discord.server.deny(discord.channel, Permission.SEND_MESSAGES | Permission.CREATE_PUBLIC_THREADS)
        await discord.surface.reply(discord.claim(discord.mention()), progress(ANSWER))

        used = await discord.asks()
        await discord.surface.reply(used, progress(ANSWER))

        assert (len(discord.refused), len(discord.stands(used))) == (1, 1)
