"""What somebody sees while nothing comes, on every platform."""

from __future__ import annotations

import pytest

from core.answering.agent import Limits
from tests.end_to_end.community import ANSWER, Town

MODEL = "I'm still waiting for the language model"


@pytest.mark.promise("never-silent")
async def test_who_asks_is_told_that_the_model_is_waited_for(town: Town) -> None:
    """Until the answer is there, of which nothing says so any more."""
    town.limits = Limits(silence=0.05)
    town.chat.pauses_before = b"data"
    town.chat.goes_on.clear()
    town.chat.say(f"{ANSWER} [1].")
    async with town.bot():
        asked = town.community.ask()
        await town.community.until(lambda: any(MODEL in said for said in town.community.said(asked)), what="the words")
        town.chat.goes_on.set()
        await town.sees(asked, ANSWER)

        assert [MODEL in said for said in town.community.said(asked)] == [False]
        assert not town.community.warned(asked)
