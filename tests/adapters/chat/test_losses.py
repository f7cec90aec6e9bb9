"""A store that was emptied, as processes notice it that listen to a platform."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from adapters.chat.background import accepted, remember, settle, take_over
from core.model import MessageRef, Signal, Stage
from tests.adapters.chat.test_accepting import PLATFORM, A, Emptied, Finder, placed
from tests.fakes.services import Counter, MemoryServices
from tests.waiting import at_once, cancelled, wait_until


class Slow(Counter):
    """Takes so long to say how far what was accepted has come that it is moved meanwhile."""

    office: MemoryServices

    async def stages(self, messages: Sequence[MessageRef]) -> Sequence[Stage]:
        """Say that it is over, as it goes by another name by now."""
        until = asyncio.get_running_loop().time() + self.accepted_for
        await settle(self.office.services, A, until, Finder().find, Finder().tell)
        return [Stage.OVER for _ in messages]


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


class Bereft(Emptied):
    """Keeps which questions are `gone`."""

    gone: Sequence[MessageRef] = ()

    async def put(self, signal: Signal) -> bool:
        """Hear of one."""
        self.gone = [*self.gone, signal.message]
        return await super().put(signal)


@pytest.mark.promise("forget-person")
@pytest.mark.parametrize("is_lost", [True, False])
async def test_what_was_forgotten_is_not_put_back(*, is_lost: bool) -> None:
    """A store that was emptied right after that does not know of it any more; what may stand there is taken away."""
    told = asyncio.Event()
    office = MemoryServices(inbox=(inbox := Bereft()), sleep=at_once)
    office.services.store_mark.known = "the one before"
    remember(office.services, A)
    inbox.reached[A.message] = Stage.UNKNOWN if is_lost else Stage.RUNNING
    await office.services.self_help.forgetting.person(A.message.thread.home, A.question.author.id)
    taking = asyncio.create_task(take_over(office.services, PLATFORM, Finder().find, lost=told.set))
    await asyncio.wait_for(told.wait(), 5)
    await cancelled(taking)

    assert (office.services.unanswered, office.inbox.signals) == ({}, [])
    assert list(inbox.gone) == [A.message] * is_lost


@pytest.mark.promise("crash-safe")
async def test_what_is_moved_while_the_store_is_asked_is_remembered() -> None:
    """Nobody else puts it back, where its worker dies and the store loses it."""
    inbox = Slow()
    office = inbox.office = MemoryServices(inbox=inbox)
    await accepted(office.services, A)
    taking = asyncio.create_task(take_over(office.services, PLATFORM, Finder().find))
    await wait_until(lambda: bool(inbox.signals), what="the move")
    await asyncio.sleep(0.01)
    await cancelled(taking)

    assert [each.asked for each in office.services.unanswered.values()] == [placed(A)]
