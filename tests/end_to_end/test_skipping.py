"""A model that fails again and again: nobody waits for it, and it is asked again once that may help."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.retry import AT_LEAST, SERVICE, SKIPPED
from core.events import ServiceBack, ServiceSkipped
from core.messages import FAILED
from tests.end_to_end.community import ANSWER, Town
from tests.fakes.clock import Clock
from tests.servers.service import Reply

DOWN = Reply(503, {"error": {"message": "down"}})


@pytest.mark.promise("failing-services-are-skipped")
async def test_nobody_waits_for_a_model_that_has_failed_again_and_again(town: Town) -> None:
    """Whoever asks is told so at once, and is answered as soon as it works."""
    clock = Clock()
    town.retries = replace(SERVICE, waits=(0.001,), clock=clock)
    town.chat.broken = DOWN
    async with town.bot():
        for _ in range(2):
            await town.sees(town.community.ask(), FAILED)
            clock.advance(AT_LEAST)
        before = len(town.chat.received)
        skipped = town.community.ask()
        await town.sees(skipped, FAILED)
        asked = len(town.chat.received) - before
        town.chat.broken = None
        clock.advance(SKIPPED.waits[0])
        await town.sees(town.community.ask(), ANSWER)

    news = [event for event in town.events if isinstance(event, ServiceSkipped | ServiceBack)]
    assert asked == 0
    assert news == [ServiceSkipped("chat model", "status 503"), ServiceBack("chat model")]
