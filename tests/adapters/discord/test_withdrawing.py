"""What is left on Discord of a question that was deleted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from core.messages import UNTITLED
from core.model import Claim, MessageRef, ReplyAddress, Withdrawal
from tests.on_discord import ASKED, OnDiscord, on_discord
from tests.platforms import ANSWER, progress, silence
from tests.waiting import cancelled

MUTE = ANSWER.model_copy(update={"text": "Hello, I am a bot.", "citations": ()})
LONG = ANSWER.model_copy(update={"text": "\n\n".join(f"Robot number {n}. {'word ' * 60}[1]" for n in range(18))})
RENAMES = "PATCH /channels/{channel}"


@pytest.fixture(name="discord")
async def _discord() -> AsyncIterator[OnDiscord]:
    async with on_discord(OnDiscord) as discord:
        yield discord


@pytest.mark.promise("deletions-count")
async def test_the_words_of_a_deleted_question_leave_the_name_of_its_thread(discord: OnDiscord) -> None:
    """The bot has opened the thread, so it may rename and close it: nothing stands there any more."""
    claim = await discord.asks()
    delivery = await discord.surface.reply(claim, progress(ANSWER))
    thread = discord.server.platform.channels[int(claim.message.thread.thread)]
    before = thread.name

    await discord.surface.withdraw(Withdrawal(claim.message, delivery=delivery))

    assert (before, thread.name, thread.archived) == (ASKED, UNTITLED, True)


@pytest.mark.promise("deletions-count")
async def test_they_leave_it_also_where_nothing_was_posted_yet(discord: OnDiscord) -> None:
    """Its worker was killed while it searched, and the thread was there."""
    claim = await discord.asks()
    working = asyncio.create_task(discord.surface.reply(claim, silence()))
    threads = discord.server.platform.channels
    await discord.server.until(lambda: int(claim.message.thread.thread) in threads, what="the thread")
    await cancelled(working)
    thread = threads[int(claim.message.thread.thread)]
    before = thread.name

    await discord.surface.withdraw(Withdrawal(claim.message, was_released=True))

    assert (before, thread.name) == (ASKED, UNTITLED)


@pytest.mark.promise("edits-count")
async def test_the_thread_of_an_edited_question_is_named_after_its_new_words(discord: OnDiscord) -> None:
    """Once in a while, as Discord takes few new names, and one is kept for when the question is deleted."""
    claim = await discord.asks()
    delivery = await discord.surface.reply(claim, progress(ANSWER))
    thread = discord.server.platform.channels[int(claim.message.thread.thread)]
    names: list[str] = []
    for revision, text in enumerate(["What is an arm?", "What is an arm?", "What is a leg?"], start=1):
        edited = claim.question.model_copy(update={"text": text, "revision": revision})
        again = replace(claim, question=edited, is_update=True, delivery=delivery)
        delivery = await discord.surface.reply(again, progress(ANSWER))
        names.append(thread.name)

    assert names == ["What is an arm?"] * 3
    assert len(discord.server.requests_to(RENAMES)) == 1


async def test_a_thread_that_others_opened_keeps_its_name(discord: OnDiscord) -> None:
    """It is theirs; nothing is tried."""
    claim = await discord.asks()
    asked = discord.server.platform.messages[int(claim.message.id)]
    thread = discord.server.thread_as(discord.ada, asked, "Our thread")
    delivery = await discord.surface.reply(claim, progress(ANSWER))
    edited = claim.question.model_copy(update={"text": "What is an arm?", "revision": 1})
    again = replace(claim, question=edited, is_update=True, delivery=delivery)
    delivery = await discord.surface.reply(again, progress(ANSWER))

    await discord.surface.withdraw(Withdrawal(claim.message, delivery=delivery))

    assert thread.name == "Our thread"
    assert discord.server.requests_to(RENAMES) == []


@pytest.mark.promise("deletions-count")
async def test_an_answer_without_buttons_to_another_question_in_the_thread_stays(discord: OnDiscord) -> None:
    """It was asked before, and answered after that; the store has lost what was posted for both."""
    first = await discord.asks()
    await discord.surface.reply(first, progress(ANSWER))
    thread = discord.server.platform.channels[int(first.message.thread.thread)]
    claims: list[Claim] = []
    for text in ("Hello?", "What is an arm?"):
        asked = discord.server.post_as(discord.ada, thread, text, mentions=[discord.server.bot])
        message = MessageRef(thread=first.message.thread, id=str(asked.id))
        claims.append(Claim(discord.question(message), address=ReplyAddress(thread=message.thread)))
    for each, answer in zip(claims, (MUTE, LONG), strict=True):
        await discord.surface.reply(each, progress(answer))
    before = discord.stands(first)

    await discord.surface.withdraw(Withdrawal(claims[1].message, was_released=True))

    assert len(before) > 4
    assert discord.stands(first)[:2] == before[:2] == [before[0], "Hello, I am a bot."]
