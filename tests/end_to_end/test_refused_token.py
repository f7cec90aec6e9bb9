"""A platform that refuses the bot's token while it runs, and takes it again, as whoever runs the bot sees it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Callable

import pytest

from tests.end_to_end.community import Community
from tests.end_to_end.conftest import PLATFORMS
from tests.end_to_end.on_slack import SlackCommunity
from tests.end_to_end.test_run_slack import LINK, PATIENCE, started, stopped, told_until
from tests.fixtures.commands import Footnote
from tests.pages import page
from tests.servers.valkey import free_port

QUESTION = "What do penguins eat?"


@pytest.mark.promise("bans-are-waited-out")
@pytest.mark.promise("tells-how-it-is")
@pytest.mark.parametrize(("platform", "code"), [("discord", ""), ("slack", "token_revoked"), ("slack", "invalid_auth")])
async def test_no_question_is_lost_while_a_token_is_refused_and_either_is_told_once(
    footnote: Footnote, platform: str, code: str
) -> None:
    """In the terminal, the log, the metrics, and at /ready for as long as it is so; Slack has a *code* for it."""
    community, port = PLATFORMS[platform](), free_port()
    if isinstance(community, SlackCommunity):
        community.refusal = code
    name, watched = platform.title(), {"FOOTNOTE_HEALTH_PORT": str(port)}
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(community.open())
        running = await stack.enter_async_context(started(footnote, **community.settings(), **watched))
        await told_until(running, f"{name}: connected as")
        await answered(community, community.ask(QUESTION))
        community.refuse(the_token=True)
        asked = [community.ask(QUESTION)]
        await says(port, "/ready", ": no connection since ")
        during = await page(port, "/metrics")
        asked.append(community.ask(QUESTION, by="Bob"))
        seen = community.refused()
        await until(lambda: community.refused() > seen)
        community.refuse(the_token=False)
        for each in asked:
            await answered(community, each)
        await says(port, "/ready", "ok")
        after = await page(port, "/metrics")
        code_of_exit, told = await stopped(running)

    assert [line.partition(" (")[0] for line in told] == [f"{name}: no connection", f"{name}: connected again."]
    log = (footnote.data / "footnote.log").read_text().splitlines()
    events = Counter(json.loads(line)["event"] for line in log)
    assert (events["connection_lost"], events["connected"], code_of_exit) == (1, 2, 0)
    lost, reachable = (f'footnote_{what}{{platform="{platform}"}}' for what in ("connections_lost_total", "connected"))
    assert (
        {f"{lost} 1.0", f"{reachable} 0.0"} - {*during[1]} == {f"{lost} 1.0", f"{reachable} 1.0"} - {*after[1]} == set()
    )
    assert [sum(LINK in said for said in community.said(each)) for each in asked] == [1, 1]


async def answered(community: Community, asked: str) -> None:
    """Wait for an answer to a question from the documents."""
    await until(lambda: any(LINK in said for said in community.said(asked)))


async def until(is_true: Callable[[], bool]) -> None:
    """Return as soon as *is_true* says so, which another process brings about."""
    async with asyncio.timeout(PATIENCE):
        while not is_true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def says(port: int, path: str, words: str) -> None:
    """Wait until a page says *words*."""
    async with asyncio.timeout(PATIENCE):
        while not any(words in line for line in (await page(port, path))[1]):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
