"""What a question refers to: the messages it replies to, and what was said before in a thread of people."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from adapters.discord.gateway import CHAIN
from core.model import Asked
from core.model.question import NO_QUESTION
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import listening, words
from tests.fakes.box import Box
from tests.servers.discord import DiscordServer, Message
from tests.servers.discord.permissions import Permission
from tests.servers.service import Reply

ONE = "GET /channels/{channel}/messages/{message}"


def chain(server: DiscordServer, place: Place, length: int) -> list[Message]:
    """Ada and Bob reply to each other."""
    bob = server.add_member(place.guild, "Bob")
    said = [server.post_as(place.ada, place.channel, "line 0")]
    for number in range(1, length):
        author = bob if number % 2 else place.ada
        said.append(server.post_as(author, place.channel, f"line {number}", reply_to=said[-1]))
    return said


def context(asked: Asked) -> Sequence[str]:
    """What the question comes with."""
    return [f"{line.author}: {line.text}" for line in asked.question.context]


async def asked_below(server: DiscordServer, place: Place, replied: Message, text: str = "Is that so?") -> Asked:
    """Let Ada reply and mention the bot, and take the question."""
    box = Box()
    async with listening(server, box):
        server.post_as(place.ada, place.channel, text, mentions=[server.bot], reply_to=replied)
        return await box.question()


@pytest.mark.promise("points-at")
async def test_a_reply_comes_with_the_messages_before_it(server: DiscordServer, place: Place) -> None:
    """Oldest first, marked with who wrote them, and no more than a few; each request gives two of them."""
    said = chain(server, place, CHAIN + 2)

    asked = await asked_below(server, place, said[-1])

    assert context(asked) == ["Ada: line 2", "Bob: line 3", "Ada: line 4", "Bob: line 5", "Ada: line 6"]
    assert asked.question.reply_to is not None
    assert asked.question.reply_to.id == str(said[-1].id)
    assert len(server.requests_to(ONE)) == 2


async def test_a_chain_ends_where_it_cannot_be_read(server: DiscordServer, place: Place) -> None:
    """At a message that is gone, or where the bot may not read what was said."""
    said = chain(server, place, 4)
    server.delete_as(place.ada, said[0])
    server.delete_as(server.platform.owner, said[1])
    gone = await asked_below(server, place, said[-1])
    server.deny(place.channel, Permission.READ_MESSAGE_HISTORY)
    hidden = await asked_below(server, place, said[-1], "And now?")

    assert (context(gone), context(hidden)) == (["Ada: line 2", "Bob: line 3"], ["Bob: line 3"])


async def test_a_mention_below_a_question_asks_that_question(server: DiscordServer, place: Place) -> None:
    """What that question replied to is its context."""
    said = chain(server, place, 3)

    asked = await asked_below(server, place, said[-1], "")

    assert (asked.question.text, context(asked)) == ("line 2", ["Ada: line 0", "Bob: line 1"])


@pytest.mark.promise("points-at")
async def test_a_mention_below_an_answer_of_the_bots_asks_nothing(server: DiscordServer, place: Place) -> None:
    """The bot's own words are no question; whoever mentions it is told that there is none."""
    answer = server.post_as(server.bot, place.channel, "A robot acts.")
    async with listening(server, Box()):
        server.post_as(place.ada, place.channel, "", mentions=[server.bot], reply_to=answer)
        await server.until(lambda: len(words(server)) > 1, what="a reply")

    assert words(server) == ["A robot acts.", NO_QUESTION]


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_message_replied_to_that_was_left_out_is_looked_up(
    server: DiscordServer, place: Place, is_there: bool
) -> None:
    """Discord leaves it out at times; in the bot's own thread it also tells who is spoken to."""
    bob = server.add_member(place.guild, "Bob")
    thread = server.thread_as(server.bot, server.post_as(place.ada, place.channel, "What is a robot?"), "A robot")
    bobs = server.post_as(bob, thread, "I built one?")
    box = Box()
    async with listening(server, box) as client:
        await box.question()
        reply = server.post_as(place.ada, thread, "Nice, Bob.", reply_to=bobs, ping=False)
        if not is_there:
            server.delete_as(bob, bobs)
            await box.next()
        told = next(iter(server.gateway.sessions.values())).told
        frame = json.loads(next(one for one in told if f'"{reply.id}"' in one))
        del frame["d"]["referenced_message"]
        await client.on_socket_raw_receive(json.dumps(frame))
        server.post_as(place.ada, place.channel, "And here?", mentions=[server.bot])
        asked = await box.question()

    assert asked.question.text == ("And here?" if is_there else "Nice, Bob.")
    assert [one.status for one in server.requests_to(ONE)] == [200 if is_there else 404]


async def test_a_thread_of_people_begins_with_the_message_it_was_opened_on(server: DiscordServer, place: Place) -> None:
    """What the platform itself says in it is nobody's; what the bot said is marked as its own."""
    bob = server.add_member(place.guild, "Bob")
    thread = server.thread_as(bob, server.post_as(place.ada, place.channel, "Let us talk about arms."), "Arms")
    server.post_as(bob, thread, "Mine has seven joints.")
    server.post_as(server.bot, thread, "Six are enough.")
    box = Box()
    async with listening(server, box):
        question = server.post_as(place.ada, thread, "Why?", mentions=[server.bot])
        server.post_as(bob, thread, "Because.")
        asked = await box.question()

    lines = [(line.role, line.author, line.text) for line in asked.question.context]
    assert asked.message.id == str(question.id)
    assert lines == [
        ("user", "Ada", "Let us talk about arms."),
        ("user", "Bob", "Mine has seven joints."),
        ("assistant", "Footnote", "Six are enough."),
    ]


async def test_a_message_that_was_said_just_before_and_is_replied_to_is_there_once(
    server: DiscordServer, place: Place
) -> None:
    """As what is replied to, next to the question."""
    bob = server.add_member(place.guild, "Bob")
    thread = server.thread_as(bob, server.post_as(place.ada, place.channel, "Arms"), "Arms")
    replied = server.post_as(bob, thread, "Mine has seven joints.")
    server.post_as(bob, thread, "Hello?")
    box = Box()
    async with listening(server, box):
        server.post_as(place.ada, thread, "Why seven?", mentions=[server.bot], reply_to=replied)
        asked = await box.question()

    assert context(asked) == ["Ada: Arms", "Bob: Hello?", "Bob: Mine has seven joints."]


async def test_a_thread_that_may_not_be_read_gives_no_context(server: DiscordServer, place: Place) -> None:
    """The question alone is answered."""
    thread = server.thread_as(place.ada, server.post_as(place.ada, place.channel, "Arms"), "Arms")
    box = Box()
    async with listening(server, box):
        server.faults.add("GET /channels/{channel}/messages", Reply(403, {"code": 50001, "message": "Missing Access"}))
        server.post_as(place.ada, thread, "Why?", mentions=[server.bot])
        asked = await box.question()

    assert asked.question.context == ()
