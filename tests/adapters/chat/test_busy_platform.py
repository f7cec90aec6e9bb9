"""An answer on a platform that asks for ever more patience."""

from __future__ import annotations

from functools import partial

import pytest

from adapters.chat.delivery import nonce
from adapters.chat.live_message import LiveMessage, Pace
from adapters.chat.platform import Part, Posted
from core.errors import RateLimited
from core.model import MessageRef
from tests.builders import thread
from tests.fakes.poster import Thread

QUESTION = MessageRef(thread=thread(), id="m1")


@pytest.mark.promise("posted-once")
async def test_an_answer_that_the_platform_limits_at_its_end_is_not_posted_anew() -> None:
    """A further post would be limited as well, and stand below the half of an answer that nobody could remove."""
    platform = Thread(messages={"m1": "Robots"}, failures=[RateLimited(100.0)] * 10)
    pace = Pace(clock=platform.now, sleep=platform.sleep)
    half = [Posted("m1", Part("Robots"))]
    async with LiveMessage(platform, partial(nonce, QUESTION, 0), messages=half, pace=pace) as shown:
        with pytest.raises(RateLimited):
            await shown.finish([Part("Robots act.")])

    assert (set(platform.did), platform.messages) == ({"edit"}, {"m1": "Robots"})
