"""A store that loses everything: nothing is answered twice, and what was begun is finished in its place."""

from __future__ import annotations

import pytest

from adapters.chat.platform import Controls
from adapters.redis.connection import connect
from core.events import LostByStore
from tests.end_to_end.community import ANSWER, Town, half_written
from tests.fixtures.redis import say
from tests.waiting import wait_until


async def lose(town: Town) -> None:
    """Lose everything, as a server without persistence does when it starts again."""
    async with connect(town.redis_url) as client:
        await say(client, "FLUSHALL")


@pytest.mark.promise("catches-up")
async def test_what_was_answered_is_not_answered_again(town: Town) -> None:
    """The platform shows that it was, in the channel and in a thread; what nobody has answered is answered."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        town.community.follow_up(asked, "And an arm?")
        await town.sees(asked, ANSWER, times=2)
        town.community.follow_up(asked, "Thank you so much!", by="Bob")
    await lose(town)
    requests = len(town.chat.received)
    missed = town.community.ask("What is a robot for?", by="Bob")
    async with town.bot():
        await town.sees(missed, ANSWER)

    assert len(town.community.said(asked)) == 2
    questions = [str(request.body["messages"][-1]) for request in town.chat.received[requests:]]
    assert not any("arm" in text or "Thank" in text for text in questions)


@pytest.mark.promise("catches-up")
async def test_half_an_answer_is_finished_in_its_place(town: Town) -> None:
    """Whoever was at it is gone, and only the platform knows of it."""
    async with town.bot(FOOTNOTE_GRACE_SECONDS="0"), half_written(town) as asked:
        pass
    town.chat.script.clear()
    before = town.community.said(asked)
    await lose(town)
    async with town.bot():
        await town.community.until(lambda: town.community.controls(asked) is Controls.VOTE, what="the whole answer")

    assert (len(before), len(town.community.said(asked))) == (1, 1)


@pytest.mark.promise("crash-safe")
@pytest.mark.parametrize("comes_again", [False, True])
async def test_an_answer_goes_on_when_the_store_is_emptied(town: Town, comes_again: bool) -> None:
    """Also if the platform tells of the question again at the same moment; what is done is known as done."""
    async with town.bot(FOOTNOTE_LEASE_SECONDS="5"):
        async with half_written(town) as asked:
            await lose(town)
            if comes_again:
                town.community.repeat(asked)
        await town.sees(asked, ANSWER)
        await wait_until(
            lambda: any(isinstance(event, LostByStore) for event in town.events), what="that it is noticed"
        )
        town.community.repeat(asked)
        follow_up = town.community.follow_up(asked, "And an arm?")
        await town.sees(asked, ANSWER, times=2)
        await town.remembers(follow_up)
        await town.community.until(lambda: len(town.community.said(asked)) == 2, what="one answer to each")
