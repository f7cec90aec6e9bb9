"""Where the bot may not read what was said before, only a store that lost something keeps it from answering."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog

from adapters.redis.connection import connect
from adapters.redis.inbox_store import PREFIX
from bot.logs import log_events
from bot.metrics import Metrics
from core.events import AnswerAssumed
from tests.end_to_end.community import ANSWER, Town
from tests.fixtures.redis import say
from tests.servers.clock import ServerClock
from tests.servers.valkey import alone

HOUR = 3600


@pytest.mark.promise("asked-once")
async def test_nothing_is_answered_of_which_nobody_can_know_whether_it_was(town: Town) -> None:
    """The store was emptied, and the platform tells again what it has told before; it is counted and logged."""
    async with town.bot():
        asked = town.community.ask()
        await town.sees(asked, ANSWER)
        await town.remembers(asked)
        town.community.hide_history()
        async with connect(town.redis_url) as client:
            await say(client, "FLUSHALL")
        town.community.tell_again(asked)
        await town.community.until(lambda: assumed(town), what="that it counts as answered")
        await town.sees(town.community.ask("And what not?"), ANSWER)

    metrics, log = Metrics(), structlog.testing.CapturingLogger()
    (event,) = assumed(town)  # although a mention on Slack comes as two events
    metrics.observe(event)
    log_events(log)(event)
    platform = event.question.thread.platform
    assert len(town.community.said(asked)) == 1
    assert f'answers_assumed_total{{platform="{platform}"}} 1.0' in metrics.exposed(None)[0].decode()
    assert log.calls == [("warning", ("answer_assumed",), {"question": str(event.question)})]


@pytest.mark.promise("asked-once")
@pytest.mark.parametrize("jump", [-HOUR, HOUR])
async def test_a_clock_of_the_store_that_is_set_keeps_nobody_from_being_answered(
    town: Town, tmp_path: Path, jump: int
) -> None:
    """It is no loss, so nothing has to be looked for."""
    clock = ServerClock(tmp_path / "clock")
    with alone(tmp_path / "store", clock=clock) as store:
        town.redis_url = f"redis://{store.host}/0"
        async with town.bot():
            await town.community.until(lambda: store.say("GET", f"{PREFIX}since"), what="a look at the store")
            town.community.hide_history()
            clock.put(ahead=jump)
            for words in ("What is a robot?", "And what not?"):
                await town.sees(town.community.ask(words), ANSWER)
        async with town.bot():
            await town.sees(town.community.ask("What is an arm?"), ANSWER)

    assert assumed(town) == []


def assumed(town: Town) -> list[AnswerAssumed]:
    """Give the questions that count as answered."""
    return [event for event in town.events if isinstance(event, AnswerAssumed)]
