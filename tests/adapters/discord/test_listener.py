"""From the gateway into the inbox: what people write to the bot, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from adapters.discord.connection import connect
from adapters.discord.listener import BUSY, RECALLED, Listener
from core.errors import StoreUnavailable
from core.model import NO_QUESTION, Asked, Deleted, Edited, Signal, Stopped, Task
from core.ports import Inbox
from tests.adapters.discord.conftest import Place
from tests.servers.discord import DiscordServer, Message


@dataclass
class Box:
    """The end of the inbox that a listener sees; it keeps what comes, in order."""

    signals: list[Signal] = field(default_factory=list[Signal])
    fails: bool = False
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def put(self, signal: Signal) -> bool:
        """Keep a signal."""
        if self.fails:
            raise StoreUnavailable("The store cannot be reached. Try again in a moment.")
        self.signals.append(signal)
        self.came.set()
        return True

    def claim(self) -> contextlib.AbstractAsyncContextManager[Task]:
        """Nobody works here."""
        raise NotImplementedError

    async def next(self) -> Signal:
        """Wait for one signal and take it."""
        async with asyncio.timeout(5):
            while not self.signals:
                self.came.clear()
                await self.came.wait()
        return self.signals.pop(0)


class EagerListener(Listener):
    """Identifies at once: the five seconds between two shards are the real platform's."""

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait for nothing."""


@contextlib.asynccontextmanager
async def listening(server: DiscordServer, box: Inbox) -> AsyncGenerator[None]:
    """Run a listener that is connected."""
    client = connect(
        EagerListener,
        message_content=True,
        api_url=server.api_url,
        gateway_url=server.gateway_url,
        inbox=box,
        guild_ready_timeout=0.05,
    )
    running = asyncio.create_task(client.start(server.token))
    try:
        await server.connected()
        await client.wait_until_ready()
        yield
    finally:
        await client.close()
        await running


def answers(server: DiscordServer) -> Sequence[Message]:
    """What the bot has said."""
    return [one for one in server.platform.messages.values() if one.author_id == server.bot.id and one.content]


async def test_a_mention_in_a_channel_is_a_question_that_opens_a_thread(server: DiscordServer, place: Place) -> None:
    """The mention is taken out of the text, and the thread will bear the message's id."""
    box = Box()
    async with listening(server, box):
        message = server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])

        asked = await box.next()

    assert isinstance(asked, Asked)
    assert (asked.question.text, asked.question.author.name) == ("What is a robot?", "Ada")
    assert asked.address is not None
    assert asked.address.message == asked.message
    assert str(asked.message.thread) == f"discord:{place.guild.id}:{place.channel.id}:{message.id}"


async def test_what_is_not_for_the_bot_stays_out(server: DiscordServer, place: Place) -> None:
    """Talk among people, other bots, and the bot's own words; the mention after them is the first to come."""
    other = server.add_member(place.guild, "Bob", bot=True)
    box = Box()
    async with listening(server, box):
        server.post_as(place.ada, place.channel, "Who has eaten my lunch?")
        server.post_as(other, place.channel, "What is a robot?", mentions=[server.bot])
        server.post_as(place.ada, place.channel, "And now?", mentions=[server.bot])

        asked = await box.next()

    assert isinstance(asked, Asked)
    assert asked.question.text == "And now?"


async def test_an_edit_and_a_deletion_follow_the_question(server: DiscordServer, place: Place) -> None:
    """In their order, about the same message, and the edit's revision is higher."""
    box = Box()
    async with listening(server, box):
        message = server.post_as(place.ada, place.channel, "What is a robt?", mentions=[server.bot])
        asked = await box.next()
        server.edit_as(place.ada, message, f"{server.bot.mention} What is a robot?")
        edited = await box.next()
        server.delete_as(place.ada, message)
        deleted = await box.next()

    assert isinstance(asked, Asked)
    assert isinstance(edited, Edited)
    assert isinstance(deleted, Deleted)
    assert edited.question.text == "What is a robot?"
    assert edited.question.revision > asked.question.revision
    assert asked.message == edited.message == deleted.message


async def test_a_direct_message_needs_no_mention(server: DiscordServer) -> None:
    """It is answered in place."""
    ada = server.add_user()
    box = Box()
    async with listening(server, box):
        server.post_as(ada, server.dm(ada), "What is a robot?")

        asked = await box.next()

    assert isinstance(asked, Asked)
    assert asked.address is not None
    assert (asked.message.thread.workspace, asked.address.message) == ("@me", None)


async def test_in_a_thread_of_people_what_was_said_before_is_context(server: DiscordServer, place: Place) -> None:
    """The newest messages, marked as theirs, without the question itself."""
    starter = server.post_as(place.ada, place.channel, "Let us talk about arms.")
    thread = server.thread_as(place.ada, starter, "Arms")
    for number in range(RECALLED + 3):
        server.post_as(place.ada, thread, f"line {number}", mentions=[server.bot])
    box = Box()
    async with listening(server, box):
        server.post_as(place.ada, thread, "What do they mean?", mentions=[server.bot])

        asked = await box.next()

    assert isinstance(asked, Asked)
    assert [line.text.split()[-1] for line in asked.question.context][-2:] == ["21", "22"]
    assert (len(asked.question.context), {line.author for line in asked.question.context}) == (RECALLED, {"Ada"})


async def test_a_mention_without_a_question_is_told_what_to_do(server: DiscordServer, place: Place) -> None:
    """Once, as a reply, and nothing is put."""
    box = Box()
    async with listening(server, box):
        server.post_as(place.ada, place.channel, "", mentions=[server.bot])

        await server.until(lambda: answers(server), what="a reply")

    assert ([message.content for message in answers(server)], box.signals) == ([NO_QUESTION], [])


async def test_a_question_that_cannot_be_kept_gets_a_warning_and_a_sentence(
    server: DiscordServer, place: Place
) -> None:
    """Nobody waits for an answer that will not come; an edit is not told."""
    box = Box()
    async with listening(server, box):
        box.fails = True
        message = server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])

        await server.until(lambda: answers(server), what="a reply")

    assert [one.content for one in answers(server)] == [f"⚠️ {BUSY}"]
    assert message.reactions == {"⚠️": [server.bot.id]}


async def test_what_was_missed_while_the_connection_was_gone_comes_once(server: DiscordServer, place: Place) -> None:
    """The gateway sends it again when the session is resumed."""
    box = Box()
    async with listening(server, box):
        server.gateway.drop()
        server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])

        asked = await box.next()
        server.post_as(place.ada, place.channel, "And an arm?", mentions=[server.bot])
        later = await box.next()

    assert not isinstance(asked, Stopped)
    assert [one.question.text for one in (asked, later) if isinstance(one, Asked)] == [
        "What is a robot?",
        "And an arm?",
    ]
