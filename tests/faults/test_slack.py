"""The eyes of the rig on Slack: whose excuse it is that one person sees."""

from __future__ import annotations

import asyncio
from collections import Counter

from slack_bolt.async_app import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from adapters.slack.http import RequestVerifier, serve
from core.messages import CANNOT_TAKE, WARNING
from tests.fakes.dedup import MemoryDedup
from tests.faults.audit import Ending, endings, wrongs
from tests.faults.slack import OnSlack

LATEST = 3.0  # seconds


async def _refuse(_: AsyncBoltRequest) -> BoltResponse:
    return BoltResponse(status=200, body={"text": f"{WARNING} {CANNOT_TAKE}", "response_type": "ephemeral"})


async def test_an_excuse_for_a_command_over_http_belongs_to_its_question() -> None:
    """While requests cannot be let in, and where one was let in and its question could not be accepted."""
    seen, slack = MemoryDedup(), OnSlack(is_several=True)
    verifier = RequestVerifier(_refuse, signing_secret=slack.server.signing_secret, seen=seen)
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    async with slack.open():
        task = asyncio.create_task(serve(verifier, "127.0.0.1", slack.port, started=started.set_result))
        await started
        asked = [slack.command(1, "What?"), slack.command(2, "And who?", private=True)]
        await slack.changes.until(lambda: all(slack.scene(one.place).shown for one in asked), LATEST, "an excuse")
        seen.fails = True
        asked += [slack.command(3, "What?"), slack.command(4, "And who?", private=True)]
        await slack.changes.until(lambda: all(slack.scene(one.place).shown for one in asked), LATEST, "an excuse")
        scenes = [slack.scene(one.place) for one in asked]
        task.cancel()
        await asyncio.wait({task})

    assert [endings(scene) for scene in scenes] == [{one.number: Ending.EXCUSED} for one in asked]
    assert [list(wrongs(scene)) for scene in scenes] == [[]] * len(asked)
    assert slack.strays() == []
    assert Counter(len(scene.shown) for scene in scenes) == {1: len(asked)}
