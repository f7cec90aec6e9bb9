"""Direct messages of several people, which the bot is one of: it answers there as in a channel."""

from __future__ import annotations

import pytest

from core.community.routing import Company
from core.model import Asked, Deleted
from tests.adapters.slack.ears import Place, listening, place_fixture
from tests.fakes.box import Box

__all__ = ["place_fixture"]


@pytest.mark.promise("follow-ups")
@pytest.mark.promise("only-when-asked")
async def test_a_mention_begins_a_thread_that_goes_on_without_one(place: Place) -> None:
    """What people say to each other outside of it is theirs."""
    box, bob = Box(), place.server.add_member(place.workspace, "bob")
    talk = place.server.add_group_talk(place.workspace, place.ada, bob)

    async def company(_: object) -> Company:
        return Company(askers={place.ada.id})

    async with listening(place, box, company=company):
        place.server.post_as(bob, talk, "Shall we ask it?")
        root = place.server.post_as(place.ada, talk, f"{place.bot.mention} What is a robot?")
        first = await box.question()
        place.server.post_as(place.bot, talk, "It acts.", root, bot_id=place.workspace.installation.bot_id)
        place.server.post_as(place.ada, talk, "And an arm?", root)
        then = await box.question()
        place.server.delete_as(place.ada, root)
        gone = await box.next()
        await place.server.settled()

    said = [(each.question.text, each.message.thread.thread) for each in (first, then)]
    assert said == [("What is a robot?", root.ts), ("And an arm?", root.ts)]
    assert isinstance(gone, Deleted)
    assert [type(each) for each in box.known] == [Asked, Asked, Deleted]


@pytest.mark.promise("catches-up")
async def test_what_was_missed_there_is_answered_late(place: Place) -> None:
    """Like in a channel that nothing was heard in before."""
    box = Box()
    talk = place.server.add_group_talk(place.workspace, place.ada)
    place.server.post_as(place.ada, talk, f"{place.bot.mention} What is a robot?")
    async with listening(place, box, catches_up=True):
        asked = await box.question()

    assert asked.message.thread.channel == talk.id
