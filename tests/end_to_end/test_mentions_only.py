"""A bot that may not read what does not mention it: the first answer says how to go on, and that works."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.builders import hit
from tests.end_to_end.community import Town
from tests.end_to_end.on_discord import DiscordCommunity
from tests.fakes.shelf import Shelf
from tests.fixtures.redis import clean
from tests.servers.openai import ChatServer

ANSWER = "A robot acts in the world"
CLOSED = {"DISCORD_MESSAGE_CONTENT": "false"}


@pytest.fixture(name="discord")
def _discord() -> DiscordCommunity:
    community = DiscordCommunity()
    community.server.platform.message_content = False
    return community


@pytest.fixture(name="town")
async def _town(discord: DiscordCommunity, redis_url: str, tmp_path: Path) -> AsyncGenerator[Town]:
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(discord.open())
        chat = await stack.enter_async_context(ChatServer())
        await stack.enter_async_context(clean(redis_url))
        yield Town(discord, chat, Shelf(hit(text=f"{ANSWER}.")), redis_url, tmp_path)


@pytest.mark.promise("says-how-to-go-on")
async def test_a_conversation_goes_on_by_mention_and_by_reply(town: Town, discord: DiscordCommunity) -> None:
    """What does neither is not heard, though it is asked in between."""
    server = discord.server
    async with town.bot(**CLOSED):
        asked = discord.ask()
        first = await town.sees(asked, ANSWER)
        thread = server.platform.channels[int(asked)]
        answer = next(one for one in server.platform.messages_in(thread) if one.author_id == server.bot.id)
        server.post_as(discord.ada, thread, "Does nobody hear this?")
        server.post_as(discord.ada, thread, "And an arm?", mentions=[server.bot])
        await town.sees(asked, ANSWER, times=2)
        server.post_as(discord.ada, thread, "And a leg?", reply_to=answer)
        await town.sees(asked, ANSWER, times=3)

    told = [message["content"] for message in town.chat.received[-1].body["messages"]]
    assert "mention me" in first.lower()
    assert "And an arm?" in told
    assert "And a leg?" in told
    assert not any("Does nobody hear this?" in str(text) for text in told)
