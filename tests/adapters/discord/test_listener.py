"""From the gateway into the inbox: what people write to the bot, and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
from discord import AutoShardedClient

from adapters.discord.gateway import RECALLED
from core.community.routing import Company
from core.errors import StoreUnavailable
from core.messages import NOT_TAKEN
from core.model import (
    NO_QUESTION,
    QUESTION_LIMIT,
    Asked,
    Signal,
    Stopped,
    Terms,
    ThreadRef,
    WorkspaceRef,
)
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import answers, listening, words
from tests.fakes.box import Box
from tests.servers.discord import DiscordServer
from tests.servers.faults import Hold
from tests.servers.service import Reply
from tests.waiting import adapters_at_work, at_once

SENDING = "POST /channels/{channel}/messages"


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


class SlowBox(Box):
    """Says only once it is asked to that it cannot be reached."""

    def __init__(self) -> None:
        super().__init__(fails=True)
        self.tried, self.answers = asyncio.Event(), asyncio.Event()

    async def put(self, signal: Signal) -> bool | None:
        """Let whoever puts something wait."""
        self.tried.set()
        await self.answers.wait()
        return await super().put(signal)


@pytest.mark.promise("orderly-stop")
async def test_what_is_heard_at_the_very_end_begins_nothing_that_nobody_ends(
    server: DiscordServer, place: Place
) -> None:
    """The question is read again at the next start."""
    box = SlowBox()
    async with listening(server, box):
        server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])
        await box.tried.wait()
    box.answers.set()
    await box.refused.wait()
    await at_once(0)

    assert adapters_at_work() == set()


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


async def test_a_question_that_is_too_long_is_told_so(server: DiscordServer, place: Place) -> None:
    """It is not cut, since what was meant may stand at its end."""
    box = Box()
    async with listening(server, box):
        server.post_as(place.ada, server.dm(place.ada), "x" * (QUESTION_LIMIT + 1))
        await server.until(lambda: answers(server), what="a reply")

    assert words(server) == ["The question has 2,001 characters; the limit is 2,000. Please shorten it and ask again."]


async def test_a_remark_survives_a_platform_that_stumbles(server: DiscordServer, place: Place) -> None:
    """It is said once."""
    box = Box()
    async with listening(server, box):
        server.faults.add(SENDING, Reply(503, {"message": "overloaded", "code": 0}))
        server.post_as(place.ada, place.channel, "", mentions=[server.bot])
        await server.until(lambda: answers(server), what="a reply")

    assert (words(server), [one.status for one in server.requests_to(SENDING)]) == ([NO_QUESTION], [503, 200])


async def test_a_direct_message_needs_no_mention(server: DiscordServer) -> None:
    """It is answered in place."""
    ada = server.add_user()
    box = Box()
    async with listening(server, box):
        server.post_as(ada, server.dm(ada), "What is a robot?")

        asked = await box.next()

    assert isinstance(asked, Asked)
    assert asked.address is not None
    assert (asked.message.thread.workspace, asked.address.message) == ("@me", asked.message)


@pytest.mark.promise("points-at")
async def test_in_a_thread_of_people_what_was_said_before_is_context(server: DiscordServer, place: Place) -> None:
    """The newest messages, marked as theirs, without the question itself."""
    starter = server.post_as(place.ada, place.channel, "Let us talk about arms.")
    thread = server.thread_as(place.ada, starter, "Arms")
    for number in range(RECALLED + 3):
        server.post_as(place.ada, thread, f"line {number}")
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


@pytest.mark.parametrize("sleep", [at_once, partial(asyncio.sleep, 60)], ids=["it refuses", "it says nothing"])
async def test_a_question_that_cannot_be_kept_gets_a_warning_and_a_sentence(
    server: DiscordServer, place: Place, sleep: Callable[[float], Awaitable[object]]
) -> None:
    """Nobody waits for an answer that will not come, whatever the store does; an edit is not told."""
    box = Box()
    async with listening(server, box, sleep=sleep, silence=0.3):
        box.fails = True
        message = server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])

        await server.until(lambda: answers(server) and message.reactions, what="a reply and a mark")

    assert [one.content for one in answers(server)] == [f"⚠️ {NOT_TAKEN}"]
    assert message.reactions == {"⚠️": [server.bot.id]}


@pytest.mark.promise("asked-once")
async def test_a_question_that_cannot_be_kept_is_kept_as_soon_as_it_can_be(server: DiscordServer, place: Place) -> None:
    """It may have been put although no answer came: then an excuse would stand beside an answer."""
    box = Box()

    async def back(_seconds: float) -> None:
        box.fails = False

    async with listening(server, box, sleep=back):
        box.fails = True
        message = server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])
        asked = await box.question()

    assert (asked.message.id, answers(server), message.reactions) == (str(message.id), [], {})


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


async def test_questions_are_asked_on_the_terms_of_the_settings(server: DiscordServer, place: Place) -> None:
    """How much is searched is not the platform's business."""
    terms, box = Terms(top_k=3, relevance_threshold=0.4), Box()
    async with listening(server, box, terms=terms):
        server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])
        asked = await box.question()

    assert (asked.question.top_k, asked.question.relevance_threshold) == (3, 0.4)


async def test_what_is_heard_beside_messages_is_prepared_before_anything_is_heard(server: DiscordServer) -> None:
    """Once for each client, which is logged in then."""
    prepared: list[tuple[int | None, bool]] = []

    async def setup(client: AutoShardedClient) -> None:
        prepared.append((client.application_id, client.is_ready()))

    async with listening(server, Box(), setup=setup):
        pass

    assert prepared == [(server.bot.id, False)]


async def test_a_guild_that_throws_the_bot_out_is_forgotten(server: DiscordServer, place: Place) -> None:
    """An outage of a guild forgets nothing, and a store that is away stops nothing: it is forgotten afterwards."""
    forgotten: list[WorkspaceRef] = []
    other = server.add_guild("Others")
    done = asyncio.Event()

    async def purge(home: WorkspaceRef) -> None:
        forgotten.append(home)
        if len(forgotten) == 1:
            raise StoreUnavailable("The store cannot be reached. Try again in a moment.")
        done.set()

    box = Box()
    async with listening(server, box, purge=purge):
        server.lose(other)
        server.kick_bot(place.guild)
        server.post_as(place.ada, server.dm(place.ada), "Are you there?")
        await box.next()
        await done.wait()

    assert forgotten == [WorkspaceRef(platform="discord", workspace=str(place.guild.id))] * 2


async def test_roles_and_channels_have_their_names_in_a_question(server: DiscordServer, place: Place) -> None:
    """Those that the guild has."""
    everyone = place.guild.roles[place.guild.id]
    box = Box()
    async with listening(server, box):
        text = f"Does {everyone.mention} read {place.channel.mention} or <#1>?"
        server.post_as(place.ada, place.channel, text, mentions=[server.bot])
        asked = await box.question()

    assert asked.question.text == "Does @@everyone read #general or #channel?"


async def test_what_is_no_message_is_not_heard(server: DiscordServer, place: Place) -> None:
    """Nor is a guild missed that nobody wants to be forgotten."""
    box = Box()
    async with listening(server, box) as client:
        await client.on_socket_raw_receive(json.dumps({"t": "MESSAGE_POLL_VOTE_ADD", "d": {"user_id": "1"}}))
        server.kick_bot(place.guild)
        server.post_as(place.ada, server.dm(place.ada), "Are you there?")
        asked = await box.question()

    assert asked.question.text == "Are you there?"


async def test_bystanders_in_a_thread_of_the_bot_are_left_alone(server: DiscordServer, place: Place) -> None:
    """Who has asked there needs no question mark; what is answered beside others there is answered by a reply."""
    looked_up: list[str] = []
    bob = server.add_member(place.guild, "Bob")
    thread = server.thread_as(server.bot, server.post_as(place.ada, place.channel, "What is a robot?"), "A robot")

    async def company(ref: ThreadRef) -> Company:
        looked_up.append(ref.thread)
        return Company({str(place.ada.id)})

    box = Box()
    async with listening(server, box, company=company):
        server.post_as(bob, place.channel, "Hello.")
        server.post_as(bob, thread, "I like it.")
        server.post_as(bob, thread, "And you?", mentions=[place.ada])
        server.post_as(place.ada, thread, "Go on.")
        server.post_as(bob, thread, "What now?", mentions=[server.bot])
        heard = [await box.question() for _ in range(2)]

    replies = [asked.address.message if asked.address else None for asked in heard]
    assert [asked.question.text for asked in heard] == ["Go on.", "What now?"]
    assert replies == [None, heard[1].message]
    assert looked_up == [str(thread.id)] * 3


async def test_without_a_store_everybody_in_a_thread_of_the_bot_is_heard(server: DiscordServer, place: Place) -> None:
    """Rather one answer too many than a question without one."""
    thread = server.thread_as(server.bot, server.post_as(place.ada, place.channel, "What is a robot?"), "A robot")

    async def company(_: ThreadRef) -> Company:
        raise StoreUnavailable("The store cannot be reached. Try again in a moment.")

    box = Box()
    async with listening(server, box, company=company):
        server.post_as(place.ada, thread, "Go on.")
        asked = await box.question()

    assert asked.question.text == "Go on."


async def test_a_thread_that_was_archived_is_known_when_somebody_writes_there(
    server: DiscordServer, place: Place
) -> None:
    """Nobody is told of it at the start, so it is asked for; its questions keep their order."""
    thread = server.thread_as(place.ada, server.post_as(place.ada, place.channel, "Arms"), "Arms")
    server.change_thread(thread, archived=True)
    box = Box()
    async with listening(server, box):
        for number in range(3):
            server.post_as(place.ada, thread, f"question {number}", mentions=[server.bot])
        heard = [await box.question() for _ in range(3)]

    assert [one.question.text for one in heard] == ["question 0", "question 1", "question 2"]
    assert {one.message.thread.channel for one in heard} == {str(place.channel.id)}


async def test_a_slow_lookup_keeps_the_order_of_its_thread_and_holds_up_no_other(
    server: DiscordServer, place: Place
) -> None:
    """The deletion of a question waits until the question is put; questions elsewhere do not."""
    thread = server.thread_as(place.ada, server.post_as(place.ada, place.channel, "Arms"), "Arms")
    held, box = Hold(asyncio.Event()), Box()
    async with listening(server, box):
        server.faults.add("GET /channels/{channel}/messages", held)
        question = server.post_as(place.ada, thread, "What do they mean?", mentions=[server.bot])
        server.delete_as(place.ada, question)
        server.post_as(place.ada, place.channel, "And elsewhere?", mentions=[server.bot])
        first = await box.question()
        held.until.set()
        rest = [await box.next(), await box.next()]

    assert first.question.text == "And elsewhere?"
    assert [(one.kind, one.message.id) for one in rest] == [
        ("asked", str(question.id)),
        ("deleted", str(question.id)),
    ]


async def test_places_where_the_bot_sees_nothing_break_nothing(server: DiscordServer, place: Place) -> None:
    """Channels that are gone or hidden, and those of a kind that the library does not know."""
    hidden, strange, gone = (server.add_channel(place.guild, name) for name in ("hidden", "strange", "gone"))
    said = [server.post_as(place.ada, one, "A?", mentions=[server.bot]) for one in (hidden, strange, gone)]
    for channel in (hidden, strange, gone):
        server.delete_channel(channel)
    server.faults.add("GET /channels/{channel}", Reply(403, {"code": 50001, "message": "Missing Access"}))
    server.faults.add("GET /channels/{channel}", Reply(200, {"id": str(strange.id), "type": 99, "name": "x"}))
    asked_for = "GET /channels/{channel}"
    box = Box()
    async with listening(server, box):
        for number, message in enumerate(said, 1):
            server.repeat(message)
            await server.until(lambda number=number: len(server.requests_to(asked_for)) == number, what="a look")
        server.post_as(place.ada, place.channel, "And here?", mentions=[server.bot])
        asked = await box.question()

    assert [one.status for one in server.requests_to(asked_for)] == [403, 200, 404]
    assert asked.question.text == "And here?"


async def test_the_chat_of_a_voice_channel_is_answered_in_place(server: DiscordServer, place: Place) -> None:
    """It has no threads, so the answer is a reply in the channel."""
    voice = server.add_channel(place.guild, "lounge", voice=True)
    box = Box()
    async with listening(server, box):
        message = server.post_as(place.ada, voice, "What is a robot?", mentions=[server.bot])
        asked = await box.question()

    assert asked.address is not None
    assert (asked.address.thread.thread, asked.address.message) == (str(voice.id), asked.message)
    assert asked.message.thread.thread == str(message.id)
