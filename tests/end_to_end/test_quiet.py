"""How the bot keeps quiet among people, on every platform."""

from __future__ import annotations

import pytest

from core.messages import UNAVAILABLE
from tests.end_to_end.community import ANSWER, Town


@pytest.mark.promise("quiet-among-people")
async def test_people_who_talk_below_an_answer_are_left_alone(town: Town) -> None:
    """Reactions, thanks and what they ask each other; a whole question is answered, whoever asks it."""
    said = ["👍", ":tada:", "thanks :pray:", "oh really? since when?", "did you finish lab 3?", "Ada, what is a robot?"]
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        for text in said:
            town.community.follow_up(asked, text, by="Bob")
        town.community.follow_up(asked, "and which one did you take?")
        town.community.follow_up(asked, "How does a robot move its arm?", by="Bob")
        await town.sees(asked, ANSWER, times=2)

    assert len(town.community.said(asked)) == 2
    assert not any(text in f"{request.body}" for request in town.chat.received for text in said)


@pytest.mark.promise("quiet-among-people")
async def test_whoever_is_alone_with_the_bot_need_not_ask(town: Town) -> None:
    """What they tell is for it; their thanks need no answer."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.community.follow_up(asked, "thanks!")
        town.community.follow_up(asked, "Mine does not move.")
        await town.sees(asked, ANSWER, times=2)

    assert len(town.community.said(asked)) == 2


@pytest.mark.promise("silence-unasked")
async def test_what_is_asked_among_people_and_cannot_be_answered_is_left_to_them(town: Town) -> None:
    """No message and no mark, and nothing to try again; with a mention, it is told."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.shelf.fails = True
        town.community.follow_up(asked, "I took the other one.", by="Bob")
        overheard = town.community.follow_up(asked, "How do I reset the router?", by="Bob")
        await town.remembers(overheard)
        told = town.community.ask()
        await town.sees(told, UNAVAILABLE)

    assert len(town.community.said(asked)) == 1
    assert (town.community.warned(overheard), town.community.warned(told)) == (False, True)
