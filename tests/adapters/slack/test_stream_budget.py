"""How many answers may be streams: never so many that Slack would refuse one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.model import Progress
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
            yield drafted("A robot ")
            await slack.until(lambda: stands(claim))  # noqa: B023 - it is over before the next one begins
            yield ANSWER

        await slack.surface.reply(claim, growing())

    shown = [one.method for one in slack.server.requests if one.method in (START, POST)]
    assert ALLOWED / 2 <= shown.count(START) < ALLOWED
    assert [len(slack.stands(claim)) for claim in claims] == [1] * len(claims)
