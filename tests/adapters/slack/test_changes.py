"""What people do to their questions afterwards: edits and deletions follow them into the inbox."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from core.events import AnswerAssumed, Event
from core.model import QUESTION_LIMIT, Asked, Deleted, Edited, ReplyAddress, Signal
from tests.adapters.slack.ears import Place, listening, place_fixture
from tests.fakes.box import Box
from tests.servers.slack import refuse

__all__ = ["place_fixture"]


@pytest.mark.promise("edits-count")
async def test_an_edit_and_a_deletion_follow_the_question(place: Place) -> None:
    """Once each, although an edit comes as two events; a preview is none; without the mention it is one as well."""
    box = Box()
    async with listening(place, box):
        message = place.ask("What is a robt?")
        asked = await box.question()
        place.server.unfurl(message, "a page")
        place.server.edit_as(place.ada, message, f"{place.bot.mention} What is a robot?")
        edited = await box.next()
        await place.server.settled()
        place.server.edit_as(place.ada, message, "What are robots?")
        again = await box.next()
        place.server.delete_as(place.ada, message)
        deleted = await box.next()
        await place.server.settled()

    assert isinstance(edited, Edited)
    assert isinstance(again, Edited)
    assert [edited.question.text, again.question.text] == ["What is a robot?", "What are robots?"]
    assert asked.question.revision < edited.question.revision < again.question.revision
    assert deleted == Deleted(message=asked.message)
    assert box.signals == []


async def test_what_was_said_to_nobody_is_left_alone_in_whatever_words(place: Place) -> None:
    """Also where the bot was mentioned elsewhere."""
    box = Box()
    async with listening(place, box):
        chat = place.server.post_as(place.ada, place.channel, "Who has eaten my lunch?")
        place.server.edit_as(place.ada, chat, "Who has eaten it?")
        await place.server.settled()

    assert box.signals == []


async def test_a_mention_that_was_forgotten_can_be_added(place: Place) -> None:
    """It is a question then, with all that belongs to one; a message that is old asks nothing any more."""
    box = Box()
    async with listening(place, box):
        old = place.server.post_as(place.ada, place.channel, "What is an arm?")
        place.server.clock.advance(31 * 60)
        message = place.server.post_as(place.ada, place.channel, "What is a robot?")
        place.server.edit_as(place.ada, old, f"{place.bot.mention} What is an arm?")
        dropped = await box.next()
        place.server.edit_as(place.ada, message, f"{place.bot.mention} What is a robot?")
        asked = await box.question()

    assert isinstance(dropped, Edited)  # of which an inbox makes nothing
    assert asked.question.text == "What is a robot?"
    assert asked.address == ReplyAddress(thread=asked.message.thread, message=asked.message)


class Unknowing(Box):
    """Knows no message that is deleted, and has been empty a moment ago."""

    async def put(self, signal: Signal) -> bool | None:
        """Take in questions alone."""
        return False if isinstance(signal, Deleted) else await super().put(signal)


@pytest.mark.promise("catches-up")
async def test_a_deletion_that_a_new_store_knows_nothing_of_is_acknowledged(place: Place) -> None:
    """Whatever Slack says of its thread, where there is none, in which half an answer may stand."""
    async with listening(place, Unknowing(age=timedelta(seconds=1))):
        message = place.server.post_as(place.ada, place.channel, "Well.")
        (gone,) = place.server.delete_as(place.ada, message)
        await gone.acknowledged()
        await place.server.until(lambda: place.server.requests_to("conversations.replies"), what="a look")

    assert place.server.outbox.unacknowledged == []


async def test_an_edit_that_asks_nothing_is_told_so_once_and_changes_nothing(place: Place) -> None:
    """As a mention without words is, or one with too many."""
    box = Box()
    async with listening(place, box):
        message = place.ask("What is a robot?")
        await box.question()
        for number, text in enumerate(("", "x" * (QUESTION_LIMIT + 1)), 1):
            place.server.edit_as(place.ada, message, f"{place.bot.mention} {text}")
            await place.server.settled()
            await place.server.until(lambda number=number: len(place.said()) == number, what="a reply")

    assert box.signals == []
    assert [text.split()[0] for text in place.said()] == ["Please", "The"]


@pytest.mark.promise("changes-are-kept")
async def test_changes_come_again_while_the_store_is_away(place: Place) -> None:
    """They are not acknowledged, and those that come for the last time are kept until it is back."""
    box = Box()
    async with listening(place, box):
        message = place.ask("What is a robt?")
        asked = await box.question()
        await place.server.settled()
        box.fails = True
        gone = place.server.delete_as(place.ada, message)
        taken: list[bool] = []
        for _ in range(3):
            await box.refused.wait()
            box.refused.clear()
            taken.append(gone[0].acked)
            await place.server.redeliver(*gone)
        await place.server.settled()
        box.fails = False
        deleted = await box.next()

    assert (taken, deleted) == ([False] * 3, Deleted(message=asked.message))
    assert (place.said(), message.reactions) == ([], {})


async def test_an_edit_counts_in_a_thread_that_is_the_bots(place: Place) -> None:
    """There no mention is needed, for the first words or for others."""
    box = Box()
    async with listening(place, box):
        root = place.bot_says("Ada asks: What is a robot?")
        message = place.server.post_as(place.ada, place.channel, "Is an arm?", root)
        asked = await box.question()
        place.server.edit_as(place.ada, message, "Is an arm one?")
        edited = await box.next()

    assert isinstance(asked, Asked)
    assert isinstance(edited, Edited)
    assert (edited.message, edited.question.text) == (asked.message, "Is an arm one?")


@pytest.mark.promise("deletions-count")
async def test_a_question_that_the_bot_has_written_down_can_be_deleted(place: Place) -> None:
    """As after a command, whose question stands in the bot's own message."""
    box = Box()
    async with listening(place, box):
        root = place.bot_says("Ada asks: What is a robot?")
        place.server.delete_as(place.ada, root)
        deleted = await box.next()
        await place.server.settled()

    assert isinstance(deleted, Deleted)
    assert (deleted.message.id, deleted.message.thread.thread) == (root.ts, root.ts)


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("hindrance", ["missing_scope", "thread_not_found"])
async def test_an_edit_is_left_where_nobody_can_know_whether_there_is_an_answer(place: Place, hindrance: str) -> None:
    """The store was emptied, and Slack does not let the bot read what stands there; this is told."""
    box, told = Box(), asyncio.Queue[Event]()
    async with listening(place, box, observer=told.put_nowait):
        message = place.ask("What is a robt?")
        asked = await box.question()
        await place.server.settled()
        box.lose()
        place.server.faults.break_("conversations.replies", refuse(hindrance))
        place.server.edit_as(place.ada, message, f"{place.bot.mention} What is a robot?")
        await place.server.settled()

    assert box.signals == []
    assert {told.get_nowait() for _ in range(told.qsize())} == {AnswerAssumed(asked.message)}
