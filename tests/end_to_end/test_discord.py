"""The whole way on Discord: from what somebody writes to what everybody reads, by the real client on a real socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from discord import AutoShardedClient

from adapters.discord.connection import connect
from adapters.discord.surface import DiscordSurface
from adapters.drafts import Pace
from adapters.openai import OpenAIChat
from adapters.redis.connection import connect as connect_redis
from adapters.redis.conversations import RedisConversations
from adapters.redis.inbox import RedisInbox
from adapters.redis.ledger import Ledger
from adapters.redis.seal import Seal
from core.agent import Agent
from core.prompts import NO_CONTEXT, UNAVAILABLE
from core.responder import Responder
from core.worker import Pace as WorkPace
from core.worker import Worker
from tests.adapters.discord.test_listener import listening
from tests.builders import hit
from tests.fakes.shelf import Shelf
from tests.fixtures.redis import clean
from tests.servers.discord import Channel, DiscordServer, Guild, Message, User
from tests.servers.openai import KEY, MODEL, ChatServer

SECRET = "a secret that is long enough for a test"


@dataclass
class Club:
    """A guild with the bot in it and at work, somebody who asks, and what the bot finds."""

    server: DiscordServer
    chat: ChatServer
    shelf: Shelf
    guild: Guild
    channel: Channel
    ada: User

    def ask(self, text: str = "What is a robot?", *, place: Channel | None = None) -> Message:
        """Ada mentions the bot."""
        return self.server.post_as(self.ada, place or self.channel, text, mentions=[self.server.bot])

    def said(self, channel_id: int) -> list[str]:
        """What the bot says in a channel, as it stands."""
        return [
            one.content
            for one in self.server.platform.messages.values()
            if one.channel_id == channel_id and one.author_id == self.server.bot.id and one.content and not one.deleted
        ]

    async def sees(self, channel_id: int, words: str) -> str:
        """Wait for a message of the bot with these words, and give it."""
        await self.server.until(
            lambda: any(words in text for text in self.said(channel_id)), what=f"{words!r} in {channel_id}"
        )
        return next(text for text in self.said(channel_id) if words in text)


@pytest.fixture(name="club")
async def _club(redis_url: str) -> AsyncGenerator[Club]:
    """Let the bot listen and one worker work, over a real store and a real socket for everything."""
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(DiscordServer())
        chat = await stack.enter_async_context(ChatServer())
        redis = await stack.enter_async_context(clean(redis_url))
        blocking = connect_redis(redis_url, blocking=True)
        stack.push_async_callback(blocking.aclose)
        seal = Seal([SECRET])
        inbox = await stack.enter_async_context(RedisInbox(Ledger(redis, blocking, seal=seal), block=0.05))
        guild = server.add_guild()
        shelf = Shelf(hit(text="A robot acts in the world."), by_query={"What is the best pizza?": [hit(0.1)]})
        conversations = RedisConversations(redis, ttl=timedelta(hours=1), seal=seal)
        await stack.enter_async_context(listening(server, inbox))
        await stack.enter_async_context(_working(server, chat, shelf, inbox, conversations))
        yield Club(server, chat, shelf, guild, server.add_channel(guild), server.add_member(guild))


@contextlib.asynccontextmanager
async def _working(
    server: DiscordServer, chat: ChatServer, shelf: Shelf, inbox: RedisInbox, conversations: RedisConversations
) -> AsyncGenerator[None]:
    """Answer what is in the inbox, by a client that is logged in and hears nothing."""
    speaker = connect(AutoShardedClient, message_content=False, api_url=server.api_url, gateway_url=server.gateway_url)
    await speaker.login(server.token)
    model = OpenAIChat(MODEL, api_key=KEY, base_url=chat.base_url)
    agent = Agent(model, shelf, clock=lambda: 0.0)
    responder = Responder(agent, conversations, now=lambda: datetime.now(UTC), deliveries=inbox)
    surface = DiscordSurface(speaker, reads_all=True, pace=Pace(interval=0.001))
    worker = Worker(inbox, responder, {"discord": surface}, conversations, now=lambda: datetime.now(UTC))
    working = asyncio.create_task(worker.run(WorkPace(seats=2)))
    yield
    worker.stop()
    await working
    await model.aclose()
    await speaker.close()


@pytest.mark.promise("discord-journey")
async def test_a_mention_is_answered_in_a_thread_and_followed_up(club: Club) -> None:
    """With a footnote that leads to the page; the next question there needs no mention and knows what was said."""
    asked = club.ask()
    answer = await club.sees(asked.id, "A robot acts in the world")
    thread = club.server.platform.channels[asked.id]
    club.server.post_as(club.ada, thread, "And an arm?")
    await club.server.until(lambda: len(club.said(thread.id)) == 2, what="a second answer")

    assert thread.name == "What is a robot?"
    assert "(<https://docs.example/robots#what>)" in answer
    followed_up = [message["content"] for message in club.chat.received[-1].body["messages"]]
    assert "What is a robot?" in followed_up
    assert followed_up.count("And an arm?") == 1


@pytest.mark.promise("discord-journey")
async def test_a_failed_search_is_a_warning_and_a_sentence(club: Club) -> None:
    """On the question, and in its thread."""
    club.shelf.fails_on = ["What is a robot?"]

    asked = club.ask()
    await club.sees(asked.id, UNAVAILABLE)
    await club.server.until(lambda: asked.reactions, what="a reaction")

    assert set(asked.reactions) == {"⚠️"}


@pytest.mark.promise("discord-journey")
async def test_what_nothing_fits_is_said_without_a_warning(club: Club) -> None:
    """It is an honest end."""
    asked = club.ask("What is the best pizza?")
    await club.sees(asked.id, NO_CONTEXT)

    assert asked.reactions == {}


@pytest.mark.promise("discord-journey")
async def test_an_event_that_comes_twice_is_answered_once(club: Club) -> None:
    """As after a reconnect; the answer to the next question shows that nothing more is under way."""
    asked = club.ask()
    await club.sees(asked.id, "A robot acts")
    club.server.repeat(asked)
    later = club.ask("And an arm?")
    await club.sees(later.id, "A robot acts")

    assert len(club.said(asked.id)) == 1


@pytest.mark.promise("discord-journey")
async def test_a_deleted_question_takes_its_answer_along(club: Club) -> None:
    """Unless somebody has said something below it."""
    asked, other = club.ask(), club.ask("What is an arm?")
    await club.sees(asked.id, "A robot acts")
    await club.sees(other.id, "A robot acts")
    club.server.post_as(club.ada, club.server.platform.channels[other.id], "Thank you, that helps my homework.")
    kept = club.said(other.id)
    club.server.delete_as(club.ada, other)
    looked = "GET /channels/{channel}/messages"
    await club.server.until(lambda: club.server.requests_to(looked), what="a look at what was said below")
    club.server.delete_as(club.ada, asked)

    await club.server.until(lambda: not club.said(asked.id), what="the end of the answer")

    assert club.said(other.id)[: len(kept)] == kept
