"""What people do to their questions afterwards: edits and deletions follow them into the inbox."""

from __future__ import annotations

import asyncio

import pytest

from core.events import AnswerAssumed, Event
from core.model import QUESTION_LIMIT, Asked, Deleted, Edited, ReplyAddress
from tests.adapters.discord.conftest import Place
from tests.adapters.discord.ears import answers, listening
from tests.fakes.box import Box
from tests.servers.discord import DiscordServer, Permission


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


async def test_the_deletion_of_many_is_many_deletions(server: DiscordServer, place: Place) -> None:
    """A moderator who cleans up deletes questions too."""
    box = Box()
    async with listening(server, box):
        messages = [server.post_as(place.ada, place.channel, "Robots?", mentions=[server.bot]) for _ in range(2)]
        asked = [await box.question() for _ in messages]
        server.delete_as(place.ada, *messages)
        deleted = [await box.next() for _ in messages]

    assert all(isinstance(each, Deleted) for each in deleted)
    assert {str(each.message) for each in deleted} == {str(each.message) for each in asked}


@pytest.mark.promise("edits-count")
async def test_an_edit_without_the_mention_is_one_of_the_same_question(server: DiscordServer, place: Place) -> None:
    """What was said to nobody is left alone, in whatever words."""
    box = Box()
    async with listening(server, box):
        chat = server.post_as(place.ada, place.channel, "Who has eaten my lunch?")
        message = server.post_as(place.ada, place.channel, "What is a robt?", mentions=[server.bot])
        asked = await box.question()
        server.edit_as(place.ada, chat, "Who has eaten it?")
        server.edit_as(place.ada, message, "What is a robot?")
        edited = await box.next()

    assert isinstance(edited, Edited)
    assert (edited.question.text, edited.message) == ("What is a robot?", asked.message)


async def test_a_mention_that_was_forgotten_can_be_added(server: DiscordServer, place: Place) -> None:
    """It is a question then, with all that belongs to one; a message that is old asks nothing any more."""
    box = Box()
    async with listening(server, box, now=server.clock.now):
        old = server.post_as(place.ada, place.channel, "What is an arm?")
        server.clock.advance(31 * 60)
        message = server.post_as(place.ada, place.channel, "What is a robot?")
        server.edit_as(place.ada, old, f"{server.bot.mention} What is an arm?")
        dropped = await box.next()
        server.edit_as(place.ada, message, f"{server.bot.mention} What is a robot?")
        asked = await box.question()

    assert isinstance(dropped, Edited)  # of which an inbox makes nothing
    assert asked.question.text == "What is a robot?"
    assert asked.address == ReplyAddress(thread=asked.message.thread, message=asked.message)


@pytest.mark.parametrize("text", ["{bot}", "{bot} " + "x" * (QUESTION_LIMIT + 1)])
async def test_an_edit_that_asks_nothing_is_told_so_and_changes_nothing(
    server: DiscordServer, place: Place, text: str
) -> None:
    """As a mention without words is, or one with too many."""
    box = Box()
    async with listening(server, box):
        message = server.post_as(place.ada, place.channel, "What is a robot?", mentions=[server.bot])
        await box.question()
        server.edit_as(place.ada, message, text.format(bot=server.bot.mention))
        await server.until(lambda: answers(server), what="a reply")

    assert box.signals == []
    assert [one.content.split()[0] for one in answers(server)] == ["Please" if text == "{bot}" else "The"]


@pytest.mark.promise("changes-are-kept")
async def test_changes_wait_for_a_store_that_is_away(server: DiscordServer, place: Place) -> None:
    """In their order; who wants to edit or delete something is told nothing."""
    box = Box()
    async with listening(server, box):
        message = server.post_as(place.ada, place.channel, "What is a robt?", mentions=[server.bot])
        await box.question()
        box.fails = True
        server.edit_as(place.ada, message, f"{server.bot.mention} What is a robot?")
        server.delete_as(place.ada, message)
        await box.refused.wait()
        box.fails = False
        changes = [await box.next(), await box.next()]

    assert [one.kind for one in changes] == ["edited", "deleted"]
    assert (answers(server), message.reactions) == ([], {})


async def test_many_deletions_at_once_are_one_each(server: DiscordServer, place: Place) -> None:
    """As moderators do it."""
    box = Box()
    async with listening(server, box):
        said = [server.post_as(place.ada, place.channel, f"line {number}") for number in range(3)]
        server.delete_as(server.platform.owner, *said)
        heard = {(await box.next()).message.id for _ in said}

    assert heard == {str(message.id) for message in said}


async def test_nobody_knows_a_question_while_the_store_is_away(server: DiscordServer, place: Place) -> None:
    """So an edit that speaks to nobody is left alone, rather than keeping what may be none of the bot's business."""
    box = Box()
    async with listening(server, box):
        message = server.post_as(place.ada, place.channel, "What is a robt?", mentions=[server.bot])
        await box.question()
        box.fails = True
        server.edit_as(place.ada, message, "What is a robot?")
        await box.refused.wait()
        box.fails = False
        server.delete_as(place.ada, message)
        change = await box.next()

    assert change.kind == "deleted"


@pytest.mark.promise("asked-once")
async def test_an_edit_is_left_where_nobody_can_know_whether_there_is_an_answer(
    server: DiscordServer, place: Place
) -> None:
    """The store was emptied, and Discord says of a channel without its history that nothing was said; this is told."""
    box, told = Box(), asyncio.Queue[Event]()
    server.deny(place.channel, Permission.READ_MESSAGE_HISTORY)
    async with listening(server, box, observer=told.put_nowait):
        message = server.post_as(place.ada, place.channel, "What is a robt?", mentions=[server.bot])
        asked = await box.question()
        box.lose()
        server.edit_as(place.ada, message, f"{server.bot.mention} What is a robot?")
        async with asyncio.timeout(5):
            while not isinstance(event := await told.get(), AnswerAssumed):
                pass

    assert (event, box.signals) == (AnswerAssumed(asked.message), [])
