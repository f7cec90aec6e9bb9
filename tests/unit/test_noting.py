"""What is posted is noted once more at the end of an answer, and what holds where it cannot be."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from core.events import Answered, Charged, MemoryFailed, Passed, State, StateChanged, Step
from core.model import Asked, Claim, Cost, Deleted, Delivery, MessageRef, Progress, Status
from tests.builders import question, thread
from tests.fakes.chat import Script
from tests.fakes.inbox import MemoryInbox
from tests.fakes.surface import RecordingSurface
from tests.unit.test_responder import ANSWERED, Desk


class Noting(RecordingSurface):
    """Notes what it posts at once, as every platform does; then something happens to the question."""

    def __init__(self, inbox: MemoryInbox, happen: Callable[[MessageRef], object]) -> None:
        super().__init__()
        self._inbox = inbox
        self._happen = happen

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Post it, and note it."""
        delivery = await super().reply(claim, progress)
        await self._inbox.record(claim, delivery)
        self._happen(claim.message)
        return delivery


@pytest.mark.promise("no-orphans")
async def test_an_answer_that_the_store_does_not_note_at_its_end_is_found_by_the_note_of_its_posts(
    script: Script,
) -> None:
    """It is an answer all the same, and remembered; whoever runs the bot is told."""
    inbox, about = MemoryInbox(), question().message
    desk = Desk(script(*ANSWERED), inbox=inbox)
    desk.surface = Noting(inbox, lambda _: setattr(inbox, "fails", True))
    await inbox.put(Asked(question=question()))
    async with inbox.claim() as claim:
        assert isinstance(claim, Claim)
        answer = await desk.answer(claim)
    inbox.fails = False

    assert (answer.status, desk.surface.reactions) == (Status.ANSWERED, [])
    assert desk.events[2:] == [
        Passed(about, Step.SHOWN),
        MemoryFailed(about, "append"),
        Passed(about, Step.REMEMBERED),
        Charged(about, Cost(questions=1)),
        Answered.of(about, answer),
        StateChanged(about, State.COMPLETE),
    ]

    await inbox.put(Deleted(message=about))
    async with inbox.claim() as withdrawal:
        assert withdrawal.delivery == Delivery(messages=(MessageRef(thread=thread(), id="m1-reply"),))


@pytest.mark.promise("deletions-count")
async def test_whoever_has_lost_a_question_remembers_nothing_of_it(script: Script) -> None:
    """Who has it now may have answered it in its newer words, or forgotten it, as it was deleted."""
    inbox = MemoryInbox()
    desk = Desk(script(*ANSWERED), inbox=inbox)
    desk.surface = Noting(inbox, inbox.lose)
    await inbox.put(Asked(question=question()))
    async with inbox.claim() as claim:
        assert isinstance(claim, Claim)
        await desk.answer(claim)

    assert not (await desk.store.load(thread())).turns
    assert Passed(question().message, Step.RECORDED) not in desk.events
