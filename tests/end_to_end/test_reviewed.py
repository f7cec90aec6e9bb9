"""Another model reviews an answer, on every platform."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.end_to_end.community import ANSWER, Town
from tests.end_to_end.conftest import PLATFORMS, town_on


@pytest.fixture(name="town", params=PLATFORMS)
async def _town(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> AsyncGenerator[Town]:
    """Build a town wherever there can be one."""
    async with town_on(request.param, redis_url, tmp_path) as town:
        yield town


@pytest.mark.promise("answers-reviewed")
async def test_an_answer_can_be_read_while_it_is_reviewed(town: Town) -> None:
    """Its sources and a warning come after it, in the same message."""
    town.is_reviewed, wrong = True, "Robots do not act in the world"
    town.chat.pauses_before = b'"2"'
    town.chat.goes_on.clear()
    town.chat.say(f"{ANSWER} [1]. {wrong} [1].")
    town.chat.say("2")
    async with town.bot():
        asked = town.community.ask()
        await town.community.until(lambda: any(wrong in said for said in town.community.said(asked)), what="the whole")
        (draft,) = town.community.said(asked)
        town.chat.goes_on.set()
        answer = await town.sees(asked, f"“{wrong}.”")

    assert ("https://docs.example/robots#what" in answer, "didn't find" in draft) == (True, False)
    assert len(town.community.said(asked)) == 1
