"""A room in which as many wait as a test says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from adapters.chat.services import Waits
from core.community.admission import WaitEstimate
from core.messages import AWAITED
from core.model import Awaited, Question
from tests.builders import NOON
from tests.fakes.box import Box
from tests.fakes.dedup import MemoryDedup
from tests.waiting import at_once

FULL = 65  # questions that wait
WORDS = "I'm busy; your answer comes in about 40 seconds."
TURN = AWAITED[Awaited.TURN]


def waits(box: Box, *, admits: bool = True, sleep: Callable[[float], Awaitable[object]] = at_once) -> Waits:
    """Say how long people wait whose questions are in a box, at noon."""

    async def answer(_: Question) -> bool:
        return admits

    return Waits(
        estimate=WaitEstimate(concurrency=12),
        room=box,
        dedup=MemoryDedup(),
        admits=answer,
        now=lambda: NOON,
        sleep=sleep,
    )
