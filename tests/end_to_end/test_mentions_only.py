"""A bot that may not read what does not mention it: the first answer says how to go on, and that works."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from core.messages import UNHEARD
from tests.builders import hit
from tests.end_to_end.community import Town
from tests.end_to_end.on_discord import DiscordCommunity
from tests.fakes.chat import asked_of
from tests.fakes.shelf import Shelf
from tests.fixtures.redis import clean
from tests.servers.discord.mentions import Pings
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

    told = [asked_of(message) for message in town.chat.received[-1].body["messages"]]
    assert "mention me" in first.lower()
    assert "And an arm?" in told
    assert any(text.endswith("Question: And a leg?") for text in told)  # behind what it replies to and what was found
    assert not any("Does nobody hear this?" in str(text) for text in told)


@pytest.mark.promise("says-how-to-go-on")
async def test_whoever_goes_on_without_a_mention_is_told_once_how_to(town: Town, discord: DiscordCommunity) -> None:
    """Only whoever has asked, as a reply without a ping, and only where nobody else has spoken since the answer."""
    server = discord.server
    async with town.bot(**CLOSED):
        quiet, talk = discord.ask(), discord.ask("What is an arm?")
        for asked in (quiet, talk):
            await town.sees(asked, ANSWER)
            await town.remembers(asked)
        discord.follow_up(talk, "Look at this.", by="Bob")
        discord.follow_up(talk, "Does nobody hear this?")
        first, _ = (discord.follow_up(quiet, text) for text in ("And an arm?", "And a leg?"))
        await town.sees(quiet, UNHEARD)
        discord.follow_up(quiet, "Let me see.", by="Bob")
        again = discord.ask("What is a leg?")
        await town.sees(again, ANSWER)

    place = server.platform.channels[int(quiet)]
    [hint] = [one for one in server.platform.messages_in(place) if one.content == UNHEARD]
    assert hint.reference is not None
    assert (hint.reference[1], hint.pings) == (int(first), Pings())
    assert [UNHEARD in discord.said(asked) for asked in (quiet, talk)] == [True, False]
