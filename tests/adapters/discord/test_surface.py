"""Answers on Discord: where they appear, how they come, and what happens when something is missing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, replace

import pytest
from discord import AutoShardedClient

from adapters.discord.connection import connect
from adapters.discord.surface import DiscordSurface
from adapters.drafts import Pace
from core.model import (
    Answer,
    Citation,
    Claim,
    Delivery,
    MessageRef,
    Progress,
    Question,
    Reaction,
    ReplyAddress,
    Restarted,
    Searching,
    Status,
    TextDelta,
    ThreadRef,
)
from tests.builders import NOON
from tests.servers.discord import DiscordServer
from tests.servers.discord.channels import Channel
from tests.servers.discord.faults import Fault, Lost
from tests.servers.discord.guilds import User
from tests.servers.discord.mentions import Pings
from tests.servers.discord.messages import Message
from tests.servers.discord.permissions import Permission
from tests.servers.discord.server import TOKEN
from tests.servers.service import Reply, Reset

CITED = Citation(
    number=1,
    chapter="one",
    section="What",
    title="Robots",
    url="https://docs.example/robots#what",
    relevance_score=0.93,
)
ANSWER = Answer(id="a", text="A robot acts. [1]", citations=(CITED,), status=Status.ANSWERED)
QUICK = Pace(interval=0.001)


@dataclass
class Scene:
    """A server with one channel, somebody in it, and the bot's surface."""

    server: DiscordServer
    channel: Channel
    ada: User
    surface: DiscordSurface

    def asks(self, text: str = "What is a robot?") -> Message:
        """Ada mentions the bot in the channel."""
        return self.server.post_as(self.ada, self.channel, text, mentions=[self.server.bot])

    def claim(self, asked: Message, *, delivery: Delivery | None = None) -> Claim:
        """The question as a worker holds it: the answer opens a thread on the message."""
        guild = str(self.channel.guild_id)
        place = ThreadRef(platform="discord", workspace=guild, channel=str(self.channel.id), thread=str(asked.id))
        message = MessageRef(thread=place, id=str(asked.id))
        question = Question.model_validate(
            {"message": message, "text": "What is a robot?", "author": {"id": "1"}, "asked_at": NOON}
        )
        return Claim(question, delivery=delivery or Delivery(), address=ReplyAddress(thread=place, message=message))

    def said(self, channel_id: int) -> list[str]:
        """What the bot has said in a channel and nobody deleted."""
        return [
            message.content
            for message in self.server.platform.messages.values()
            if message.channel_id == channel_id and message.author_id == self.server.bot.id and not message.deleted
        ]


@pytest.fixture(name="scene")
async def _scene() -> AsyncGenerator[Scene]:
    """Set the scene; the client is logged in, without a gateway, as a worker's is."""
    async with DiscordServer() as server:
        guild = server.add_guild()
        channel = server.add_channel(guild)
        client = connect(
            AutoShardedClient, message_content=False, api_url=server.api_url, gateway_url=server.gateway_url
        )
        await client.login(TOKEN)
        yield Scene(server, channel, server.add_member(guild), DiscordSurface(client, pace=QUICK))
        await client.close()


async def progress(*items: Progress) -> AsyncIterator[Progress]:
    """What the core says, one after the other."""
    for item in items:
        yield item


WRITTEN = (Searching("robot"), TextDelta("A robot "), TextDelta("acts. [1]"), ANSWER)


async def test_an_answer_opens_a_thread_on_the_question(scene: Scene) -> None:
    """It is named after the question, and the answer in it has its footnote as a link and its source below."""
    asked = scene.asks()

    delivery = await scene.surface.reply(scene.claim(asked), progress(*WRITTEN))

    thread = scene.server.platform.channels[asked.id]
    (said,) = scene.said(thread.id)
    assert thread.name == "What is a robot?"
    assert "(<https://docs.example/robots#what>)" in said
    assert "mention me" in said
    assert [message.id for message in delivery.messages] == [
        str(message.id) for message in scene.server.platform.messages.values() if message.content == said
    ]
    assert scene.said(scene.channel.id) == []


async def test_what_was_taken_back_is_not_there_in_the_end(scene: Scene) -> None:
    """The final answer replaces all that was shown before."""
    asked = scene.asks()
    taken_back = (TextDelta("Robots are made of cheese."), Restarted(), TextDelta("A robot acts. [1]"), ANSWER)

    await scene.surface.reply(scene.claim(asked), progress(*taken_back))

    (said,) = scene.said(asked.id)
    assert "cheese" not in said


async def test_the_next_attempt_edits_what_the_one_before_has_posted(scene: Scene) -> None:
    """A question that is answered again has one answer."""
    asked = scene.asks()
    first = await scene.surface.reply(scene.claim(asked), progress(*WRITTEN))
    better = ANSWER.model_copy(update={"text": "A robot moves. [1]"})

    second = await scene.surface.reply(scene.claim(asked, delivery=first), progress(better))

    (said,) = scene.said(asked.id)
    assert "moves" in said
    assert second == first


async def test_without_the_right_to_open_threads_the_answer_is_a_reply(scene: Scene) -> None:
    """In the channel, below the question."""
    scene.server.deny(scene.channel, Permission.CREATE_PUBLIC_THREADS)
    asked = scene.asks()

    await scene.surface.reply(scene.claim(asked), progress(*WRITTEN))

    assert len(scene.said(scene.channel.id)) == 1
    assert asked.id not in scene.server.platform.channels


async def test_a_thread_that_is_there_already_is_used(scene: Scene) -> None:
    """An attempt before may have opened it and come no further."""
    asked = scene.asks()
    claim = scene.claim(asked)
    await scene.surface.reply(claim, progress(*WRITTEN))
    again = replace(claim, delivery=Delivery())

    await scene.surface.reply(again, progress(*WRITTEN))

    assert len(scene.said(asked.id)) == 1


async def test_a_warning_is_a_reaction_on_the_question(scene: Scene) -> None:
    """Twice is once, and a message that is gone is left alone."""
    asked = scene.asks()
    to = scene.claim(asked).message
    await scene.surface.react(to, Reaction.WARNING)
    await scene.surface.react(to, Reaction.WARNING)
    reactions = dict(asked.reactions)
    scene.server.delete_as(scene.ada, asked)

    await scene.surface.react(to, Reaction.WARNING)

    assert {emoji: set(people) for emoji, people in reactions.items()} == {"⚠️": {scene.server.bot.id}}


POST = "POST /channels/{channel}/messages"
PATCH = "PATCH /channels/{channel}/messages/{message}"


@pytest.mark.parametrize(
    "fault",
    [Reset(), Lost(), Reply(503, {"message": "busy"})],
    ids=["reset", "carried out, but the answer was lost", "503"],
)
async def test_a_post_that_fails_is_made_again_and_stands_there_once(scene: Scene, fault: Fault) -> None:
    """Its nonce is the same each time, so Discord knows it."""
    scene.server.faults.add(POST, fault)
    asked = scene.asks()

    await scene.surface.reply(scene.claim(asked), progress(*WRITTEN))

    assert len(scene.said(asked.id)) == 1


@pytest.mark.promise("nothing-pings")
async def test_nothing_that_is_posted_or_edited_pings_or_previews(scene: Scene) -> None:
    """Whatever the model writes, each request says so by itself, and the text does too."""
    asked = scene.asks()
    text = f"@everyone @here <@{scene.ada.id}> see https://evil.example [1]"
    answer = ANSWER.model_copy(update={"text": text})

    first = await scene.surface.reply(scene.claim(asked), progress(TextDelta(text), answer))
    await scene.surface.reply(scene.claim(asked, delivery=first), progress(ANSWER))

    (message,) = [one for one in scene.server.platform.messages.values() if str(one.id) == first.messages[0].id]
    assert message.edits
    assert [message.allowed_mentions, *(edit.allowed_mentions for edit in message.edits)] == [{"parse": []}] * (
        1 + len(message.edits)
    )
    assert (message.pings, message.mentioned, message.suppresses_embeds) == (Pings(), Pings(), True)


async def test_a_long_answer_is_several_messages_in_order(scene: Scene) -> None:
    """None is longer than Discord allows, and the sources are in the last one."""
    asked = scene.asks()
    answer = ANSWER.model_copy(update={"text": "\n\n".join(f"Robot {n} acts. [1] {'word ' * 60}" for n in range(12))})

    delivery = await scene.surface.reply(scene.claim(asked), progress(answer))

    said = scene.said(asked.id)
    assert (len(said) > 2, len(delivery.messages)) == (True, len(said))
    assert max(map(len, said)) <= 2_000
    assert ["Robots" in part for part in said] == [False] * (len(said) - 1) + [True]


async def test_an_answer_that_somebody_deletes_meanwhile_is_not_posted_again(scene: Scene) -> None:
    """Who deletes a message of it wants none of it."""
    asked = scene.asks()
    first = await scene.surface.reply(scene.claim(asked), progress(*WRITTEN))
    (message,) = [one for one in scene.server.platform.messages.values() if str(one.id) == first.messages[0].id]
    scene.server.delete_as(scene.ada, message)

    delivery = await scene.surface.reply(scene.claim(asked, delivery=first), progress(*WRITTEN))

    assert (scene.said(asked.id), delivery.messages) == ([], ())


async def test_a_channel_that_is_gone_is_no_failure(scene: Scene) -> None:
    """There is nowhere to say it, and trying again would change nothing."""
    asked = scene.asks()
    scene.server.delete_channel(scene.channel)

    assert await scene.surface.reply(scene.claim(asked), progress(*WRITTEN)) == Delivery()


async def test_the_newest_messages_of_a_thread_are_read_oldest_first(scene: Scene) -> None:
    """With who said them, and as people read them."""
    asked = scene.asks()
    claim = scene.claim(asked)
    await scene.surface.reply(claim, progress(*WRITTEN))
    thread = scene.server.platform.channels[asked.id]
    for text in ("one", "two"):
        scene.server.post_as(scene.ada, thread, text, mentions=[scene.server.bot])

    recalled = await scene.surface.recall(claim.thread, limit=2)

    assert [(line.role, line.author, line.text.split()[-1]) for line in recalled] == [
        ("user", "Ada", "one"),
        ("user", "Ada", "two"),
    ]
    assert await scene.surface.recall(claim.thread.model_copy(update={"thread": "1"}), limit=2) == ()
