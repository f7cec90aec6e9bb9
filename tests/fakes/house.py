"""A house that is as full as a test says."""

from __future__ import annotations

from adapters.chat.full_house import House
from core.crowd import Crowd
from tests.builders import NOON
from tests.fakes.box import Box
from tests.fakes.memo import MemoryMemo
from tests.fakes.naps import Naps
from tests.fakes.notices import MemoryNotices

FULL = 65  # questions that wait


def house(box: Box, naps: Naps, notices: MemoryNotices | None = None) -> House:
    """A house in which it is noon, and whose looks for answers a test wakes up."""
    return House(
        crowd=Crowd(seats=12),
        inbox=box,
        memo=MemoryMemo(),
        notices=notices or MemoryNotices(),
        awaits=box.awaits,
        now=lambda: NOON,
        sleep=naps.sleep,
    )
