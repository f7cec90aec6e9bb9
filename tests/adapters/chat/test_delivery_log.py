"""What is noted of the messages of an answer, and what is not done by who has lost it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field

import pytest

from adapters.chat.delivery import DeliveryLog
from adapters.chat.lease import while_held
from adapters.chat.platform import Destination, Part
from core.errors import Gone, LeaseLost, StoreUnavailable
from core.events import Event, Passed, Step
from core.model import Claim, Delivery, MessageRef, WaitNotice
from tests.board import BoardRenderer
from tests.builders import NOON, question, thread
from tests.fakes.poster import DELETED, Thread
from tests.platforms import Notes
from tests.waiting import wait_until

CLAIM = Claim(question())
NOTICE = WaitNotice(thread=thread(), nonce="n0", id="w1")
"""What was said below the question."""


def ref(name: str) -> MessageRef:
    """A message of the answer."""
    return MessageRef(thread=thread(), id=name)


@dataclass
class Desk:
    """A log of what is posted in a thread in memory, and all that it did."""

    delivery: Delivery = Delivery()
    poster: Thread = field(default_factory=Thread)
    notes: Notes = field(default_factory=lambda: Notes(told=lambda: None))
    retracted: list[WaitNotice] = field(default_factory=list[WaitNotice])
    seen: list[Event] = field(default_factory=list[Event])
    may_retract: asyncio.Event = field(default_factory=asyncio.Event)
    shown: int = 0

    def __post_init__(self) -> None:
        self.may_retract.set()
        destination = Destination(poster=self.poster, renderer=BoardRenderer(""), place=thread())
        self.log = DeliveryLog(
            CLAIM, self.delivery, self.notes, destination, lambda: NOON, self.retract, self.show, self.seen.append
        )

    async def retract(self, notice: WaitNotice) -> None:
        """Take away what was said, which is gone already."""
        await self.may_retract.wait()
        self.retracted.append(notice)
        raise Gone

    def show(self) -> None:
        """Hear that something appears."""
        self.shown += 1


@pytest.fixture(name="desk")
def _desk() -> Desk:
    return Desk()


async def test_a_post_is_noted_before_and_after_it_is_made(desk: Desk) -> None:
    """First that one is tried, then which it is; an edit of a message that is noted notes nothing."""
    async with aclosing(desk.log):
        posted = await desk.log.post(Part("A robot"), "n1")
        await desk.log.edit(posted.id, Part("A robot acts."))
        await desk.log.edit(posted.id, Part("A robot acts here."))

    assert desk.notes.written == [Delivery(trying=NOON), Delivery(messages=(ref("m1"),))]
    assert (desk.poster.shown, desk.shown) == (["A robot acts here."], 3)
    steps = [Step.POSTING, Step.POSTED, Step.NOTED, *[Step.EDITING, Step.EDITED] * 2]
    assert [each for each in desk.seen if each != Passed(CLAIM.message, Step.NOTED)] == [
        Passed(CLAIM.message, step) for step in steps if step != Step.NOTED
    ]
    assert desk.seen.count(Passed(CLAIM.message, Step.NOTED)) == 1


async def test_a_message_that_is_not_noted_is_noted_when_it_is_edited(desk: Desk) -> None:
    """It was found by its nonce, and goes behind the others."""
    desk.poster.messages["m7"] = "half"
    desk.log.delivery = Delivery(messages=(ref("m6"),))
    async with aclosing(desk.log):
        await desk.log.edit("m7", Part("A robot acts."))

    assert desk.notes.written == [Delivery(messages=(ref("m6"), ref("m7")))]


async def test_what_was_tried_before_stays_noted_with_its_time() -> None:
    """Whoever takes over looks for it from then on."""
    earlier = NOON.replace(hour=11)
    desk = Desk(Delivery(trying=earlier))
    async with aclosing(desk.log):
        await desk.log.post(Part("A robot acts."), "n1")

    assert desk.notes.written[0] == Delivery(trying=earlier)


async def test_a_message_that_goes_is_noted_once(desk: Desk) -> None:
    """Beside those that stay; also where it is tried again to remove it."""
    desk.poster.messages.update(m1="one", m2="two")
    desk.log.delivery = Delivery(messages=(ref("m1"), ref("m2")))
    async with aclosing(desk.log):
        await desk.log.delete("m2")
        with pytest.raises(Gone):
            await desk.log.delete("m2")

    assert desk.notes.written == [Delivery(messages=(ref("m1"),), leaving=(ref("m2"),))]
    assert desk.poster.messages == {"m1": "one", "m2": DELETED}


async def test_who_has_lost_a_question_does_not_wait_for_a_store_that_is_away(desk: Desk) -> None:
    """Somebody else does; nothing is posted."""
    desk.notes.failure, holds = StoreUnavailable("It is away."), asyncio.Event()

    class Elsewhere(Notes):
        async def holds(self, task: object) -> bool:
            holds.set()
            return False

    with while_held(CLAIM, Elsewhere(told=lambda: None)), pytest.raises(LeaseLost):
        async with asyncio.timeout(5):
            await desk.log.post(Part("A robot acts."), "n1")

    assert (desk.poster.calls, desk.notes.refusals, holds.is_set()) == ([], 1, True)
    assert desk.seen == []


async def test_who_still_holds_a_question_waits_for_a_store_that_is_away(desk: Desk) -> None:
    """Its post comes after the note."""
    desk.notes.failure = StoreUnavailable("It is away.")
    with while_held(CLAIM, Notes(told=lambda: None)):
        posting = asyncio.create_task(desk.log.post(Part("A robot acts."), "n1"))
    await wait_until(lambda: desk.notes.refusals > 1, what="another try to note it")
    before, desk.notes.failure = list(desk.poster.calls), None
    await posting
    await desk.log.aclose()

    assert (before, desk.poster.shown) == ([], ["A robot acts."])


async def test_a_note_that_is_refused_ends_it_for_good(desk: Desk) -> None:
    """Another worker has the question, and nothing is noted after that either."""
    desk.notes.is_lost = True
    for _ in range(2):
        with pytest.raises(LeaseLost):
            await desk.log.post(Part("A robot acts."), "n1")
        desk.notes.is_lost = False

    assert (desk.poster.calls, desk.notes.written) == ([], [])


@pytest.mark.parametrize("does", ["post", "edit"])
async def test_what_was_said_of_the_wait_goes_once_something_of_the_answer_stands(does: str) -> None:
    """Once, whatever else comes; that it is gone already is as good, and noted before the log closes."""
    desk = Desk(Delivery(notice=NOTICE))
    desk.poster.messages["m0"] = "half"
    async with aclosing(desk.log):
        before = list(desk.retracted)
        await (desk.log.post(Part("A robot"), "n1") if does == "post" else desk.log.edit("m0", Part("A robot")))
        for _ in range(2):
            desk.log.begin_retracting()

    assert (before, desk.retracted) == ([], [NOTICE])
    assert [each.notice for each in desk.notes.written][-1] is None


async def test_without_such_words_nothing_is_taken_away(desk: Desk) -> None:
    """And nothing breaks for it."""
    async with aclosing(desk.log):
        await desk.log.post(Part("A robot acts."), "n1")
        desk.log.begin_retracting()

    assert (desk.retracted, len(asyncio.all_tasks())) == ([], 1)
