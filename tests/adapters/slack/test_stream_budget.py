"""How much an answer asks of Slack: never so many streams, nor messages so soon, that it would refuse one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.chat.platform import Part
from adapters.slack.platform import SlackChat
from core.errors import RateLimited
from core.model import Progress
from tests.adapters.slack.test_streaming import DRAFT, streamer
from tests.fakes.surface import drafted
from tests.on_slack import POST, START, OnSlack, on_slack
from tests.platforms import ANSWER

ALLOWED = 20  # starts of streams in a minute that Slack allows each workspace


@pytest.fixture(name="slack")
async def _slack() -> AsyncIterator[OnSlack]:
    async with on_slack(OnSlack) as slack:
        yield slack


@pytest.mark.promise("streams-degrade")
async def test_however_many_ask_in_a_minute_slack_refuses_no_stream(slack: OnSlack) -> None:
    """There is room for those of another process; most answers are streams all the same, and all of them are whole."""
    claims = [await slack.asks() for _ in range(ALLOWED + 10)]
    for claim in claims:
        stands = slack.stands

        async def growing() -> AsyncIterator[Progress]:
            yield drafted("A robot acts. It ")
            await slack.until(lambda: stands(claim))  # noqa: B023 - it is over before the next one begins
            yield ANSWER

        await slack.surface.reply(claim, growing())

    shown = [one.method for one in slack.server.requests if one.method in (START, POST)]
    assert ALLOWED / 2 <= shown.count(START) < ALLOWED
    assert [len(slack.stands(claim)) for claim in claims] == [1] * len(claims)


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_the_messages_of_an_answer_come_a_second_apart(slack: OnSlack, *, is_streamed: bool) -> None:
    """Slack takes no more in a channel; a draft that became obsolete meanwhile is not waited for."""
    now, slept, obsolete = [0.0], list[float](), asyncio.Event()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    poster = await streamer(slack, lambda: now[0])
    poster.sleep, poster.readers = sleep, poster.readers if is_streamed else None
    await poster.post(DRAFT, "n1")
    for at, part in enumerate(["One.", "Two."]):
        now[0] += 0.25
        await poster.post(Part(part), f"n{at + 2}")
    obsolete.set()
    with pytest.raises(RateLimited):
        await poster.post(DRAFT, "n4", obsolete)

    assert slept == [0.0, 0.75, 0.75]
    assert SlackChat.posts_apart == poster.posts_apart == 1.0
