"""Which share of the work a process takes, and how a stop ends it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app import until
from bot.roles import NOT_SET_UP, NOT_SHARED, NOTHING_TO_RUN, Role, shares
from bot.settings import read_settings
from bot.settings.fields import UNHEARD
from core.errors import Misconfigured
from tests.waiting import cancelled

DISCORD = {"DISCORD_TOKEN": "t0ken"}
SLACK = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}
SHARED = {"QDRANT_URL": "http://localhost:6333", "REDIS_URL": "redis://localhost:6379"}
HEARD_AND_ANSWERED = {Role.SLACK, Role.WORKER}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path) -> Iterator[None]:
    """No `.env` of whoever runs the tests is read."""
    with contextlib.chdir(tmp_path):
        yield


@pytest.mark.parametrize(
    ("given", "named", "becomes"),
    [
        (SLACK, (), HEARD_AND_ANSWERED | {Role.SYNC}),
        (DISCORD, (), {Role.DISCORD, Role.WORKER, Role.SYNC}),
        (DISCORD | SLACK, (), set(Role)),
        (DISCORD | SLACK, HEARD_AND_ANSWERED, HEARD_AND_ANSWERED),
        (SLACK | SHARED, {Role.SLACK}, {Role.SLACK}),
        (DISCORD | SLACK | SHARED, {Role.WORKER}, {Role.WORKER}),
        (SLACK | SHARED, {Role.SYNC}, {Role.SYNC}),
        (SLACK, {Role.SYNC}, NOT_SHARED),
        ({}, (), NOTHING_TO_RUN),
        ({}, {Role.SLACK}, NOTHING_TO_RUN),
        (SLACK, {Role.DISCORD}, NOT_SET_UP.format(role="discord")),
        (SLACK, {Role.SLACK}, NOT_SHARED),
        (SLACK, {Role.WORKER}, NOT_SHARED),
        (DISCORD | SLACK, {Role.DISCORD, Role.SLACK}, NOT_SHARED),
        (DISCORD | {"SLACK_BOT_TOKEN": "xoxb-1"}, (), UNHEARD),
    ],
)
def test_a_process_does_what_is_set_up_or_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], named: set[Role], becomes: set[Role] | str
) -> None:
    """Everything that is configured, unless roles are named; one that hears needs one that answers somewhere."""
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    try:
        found: frozenset[Role] | str = shares(named, read_settings())
    except Misconfigured as refused:
        found = str(refused)

    assert found == becomes


@pytest.mark.promise("orderly-stop")
async def test_a_second_stop_reaches_what_the_first_one_waits_for() -> None:
    """And is over once that is."""
    stopping, ending, ended = asyncio.Event(), asyncio.Event(), list[str]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ending.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("at once")

    running = asyncio.create_task(until(stopping, work()))
    stopping.set()
    await ending.wait()
    await cancelled(running)

    assert ended == ["at once"]
