"""Why a question is not answered: said to whoever asks and nobody else, or for a minute only, and in no new thread."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from core import messages
from core.messages import PAUSED
from tests.end_to_end.community import ANSWER, Room, Town
from tests.fixtures.redis import all_keys, say

REMOVALS = b"footnote:removals:"
TOO_MANY = "That's a lot of questions"


async def let_the_minute_pass(client: Redis) -> int:
    """Make everything due that is to be removed later; return how much that is."""
    noted = 0
    for key in [key for key in await all_keys(client) if key.startswith(REMOVALS)]:
        for member in await say(client, "ZRANGE", key, "0", "-1"):
            noted += 1
            await say(client, "ZADD", key, "XX", "1", member)
    return noted


@pytest.mark.promise("refused-quietly")
async def test_a_refusal_opens_no_thread_and_does_not_stay_before_others(town: Town, redis_client: Redis) -> None:
    """Who alone has read it is not disturbed; what others can read goes, also after a restart."""
    async with town.bot():
        await town.community.command("pause", moderates=True)
        asked = town.community.ask()
        await town.hears(asked, PAUSED)
        await town.remembers(asked)
        is_opened = town.community.has_thread(asked)
    noted = await let_the_minute_pass(redis_client)
    async with town.bot():
        if noted:
            await town.community.until(lambda: not town.community.told(asked), what="the end of the refusal")
        await town.community.command("resume", moderates=True)
        await town.sees(town.community.ask("And now?"), ANSWER)

    assert (is_opened, noted) == (False, 0 if town.community.tells_alone else 1)
    assert town.chat.received


@pytest.mark.promise("refused-quietly")
async def test_a_refusal_stands_where_the_question_does(town: Town) -> None:
    """In a thread of others too."""
    async with town.bot():
        await town.community.command("pause", moderates=True)
        await town.hears(town.community.ask(room=Room.SHARED), PAUSED)


@pytest.mark.promise("refused-quietly")
async def test_a_refusal_in_direct_messages_stays(town: Town, redis_client: Redis) -> None:
    """Nobody else reads it there."""
    async with town.bot(FOOTNOTE_QUESTIONS_PER_MINUTE="1"):
        await town.sees(town.community.ask(room=Room.DIRECT), ANSWER)
        asked = town.community.ask("And now?", room=Room.DIRECT)
        await town.sees(asked, TOO_MANY)
        await town.remembers(asked)

    assert await let_the_minute_pass(redis_client) == 0


@pytest.mark.promise("refused-quietly")
async def test_who_uses_a_command_hears_it_alone(town: Town) -> None:
    """Nothing stands in the channel for a question that nobody answers."""
    async with town.bot():
        await town.community.command("pause", moderates=True)
        told = await town.community.command("ask", question="What is a robot?")
        await town.community.until(lambda: not town.community.public(), what="an empty channel")

    assert told.endswith(PAUSED)


@pytest.mark.promise("refused-quietly")
async def test_an_answer_stays_where_the_question_is_edited_after_a_switch_off(town: Town) -> None:
    """And once more edited after that is over, it is written anew in its place."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        await town.community.command("pause", moderates=True)
        town.community.edit(asked, "What is an arm?")
        await town.hears(asked, PAUSED)
        stood = town.community.said(asked)
        await town.community.command("resume", moderates=True)
        town.chat.say("An arm is a limb.")
        town.community.edit(asked, "What is a limb?")
        await town.sees(asked, messages.UPDATED)

    assert [ANSWER in said for said in stood] == [True]
    assert len(town.community.said(asked)) == 1
