"""What people delete on a platform is forgotten, wherever it stands, and also where nobody hears of it then."""

from __future__ import annotations

import pytest

from tests.end_to_end.community import ANSWER, Room, Town, half_written

LONG = f"{ANSWER} [1].\n\n" + f"{'word ' * 150}[1].\n\n" * 10  # longer than a message of any platform

pytestmark = [pytest.mark.promise("forget"), pytest.mark.parametrize("room", Room)]


async def test_what_was_deleted_while_the_bot_was_away_is_forgotten(town: Town, room: Room) -> None:
    """One part of an answer is enough, and what stands there as it did is remembered."""
    async with town.bot():
        kept = town.community.ask()
        await town.remembers(kept)
        town.chat.say(LONG)
        asked = town.community.ask("What is an arm?", room=room)
        await town.remembers(asked)
        parts = len(town.community.said(asked))
    town.community.delete_answer(asked, part=-1)
    async with town.bot():
        await town.forgets(asked)

    assert parts > 1
    assert await town.is_remembered(kept)


async def test_an_answer_that_is_deleted_is_forgotten(town: Town, room: Room) -> None:
    """At once; and of one that is still being written nothing is left, and nothing remembered."""
    async with town.bot():
        asked = town.community.ask(room=room)
        await town.remembers(asked)
        town.community.delete_answer(asked)
        await town.forgets(asked)
        before = len(town.community.said(asked))
        async with half_written(town, room) as deleted:
            town.community.delete_answer(deleted, part=-1)
        await town.remembers(deleted)
        await town.forgets(deleted)

    assert len(town.community.said(deleted)) == before
