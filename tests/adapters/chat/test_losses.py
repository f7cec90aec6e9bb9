"""A store that was emptied, as processes notice it that listen to a platform."""

from __future__ import annotations

import asyncio

import pytest

from adapters.chat.background import take_over
from tests.adapters.chat.test_accepting import PLATFORM, Emptied, Finder
from tests.fakes.services import MemoryServices
from tests.waiting import at_once, cancelled


@pytest.mark.promise("catches-up")
async def test_a_loss_before_the_first_look_is_noticed_by_what_was_read_before() -> None:
    """As when the store is emptied while a process that has just started catches up."""
    told = asyncio.Event()
    office = MemoryServices(inbox=Emptied(), sleep=at_once)
    office.services.store_mark.known = "the one before"
    taking = asyncio.create_task(take_over(office.services, PLATFORM, Finder().find, lost=told.set))
    await asyncio.wait_for(told.wait(), 5)
    await cancelled(taking)

    assert office.services.store_mark.known == "2"
