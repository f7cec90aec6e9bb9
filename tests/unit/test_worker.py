"""The worker: from the inbox to the surface, whatever happens on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from core.answering.agent import Agent
from core.answering.responder import Responder
from core.errors import ModelUnavailable
from core.events import ServiceFailed, TaskFailed
from core.model import (
    MOST_ATTEMPTS,
    AskedAgain,
    Claim,
    Delivery,
    MessageRef,
    Person,
    Progress,
    Reaction,
    Status,
    Stopped,
    WaitNotice,
    Withdrawal,
)
from core.worker import EXHAUSTED, Worker
from tests.builders import NOON, thread, turn_of
from tests.fakes.chat import Script, Silence, turn
from tests.fakes.clock import Clock
from tests.fakes.office import WHOLE, Office, silent
from tests.fakes.shelf import Shelf
from tests.fakes.surface import RecordingSurface
from tests.inboxes import asked, deleted, edited, stopped
from tests.waiting import wait_until


def posted(id: str) -> Delivery:  # noqa: A002 - the field's name
    """What the surface posts for a question."""
    return Delivery(messages=(MessageRef(thread=thread(), id=f"{id}-reply"),))


async def test_questions_are_answered_where_they_were_asked(script: Script) -> None:
    """And remembered, in their order."""
    office = Office(script(*WHOLE, *WHOLE))
    await office.inbox.put(asked("1"))
    await office.inbox.put(asked("2"))
    async with office.open():
        answers = await office.answered(2)

    assert [answer.status for answer in answers] == [Status.ANSWERED] * 2
    assert await office.remembered() == ["What is 1?", "What is 2?"]
    assert office.events == []


@pytest.mark.promise("stops-count")
async def test_a_stop_ends_the_answer_where_it_is(script: Script) -> None:
    """It is remembered as far as it came, and the thread goes on."""
    silence = Silence()
    office = Office(script(*silent(silence), *WHOLE))
    await office.inbox.put(asked("1"))
    async with office.open():
        await silence.begun.wait()
        await office.inbox.put(asked("2"))
        await office.inbox.put(stopped(asked("1")))
        answers = await office.answered(2)

    assert [answer.status for answer in answers] == [Status.STOPPED, Status.ANSWERED]
    assert await office.remembered() == ["What is 1?", "What is 2?"]


@pytest.mark.promise("stops-count")
async def test_a_stop_before_the_first_word_costs_nothing(script: Script) -> None:
    """The model is not asked, whoever waits is told, and nothing is remembered."""
    office = Office(script())
    await office.inbox.put(asked("1"))
    await office.inbox.put(stopped(asked("1")))
    async with office.open():
        answers = await office.answered(1)

    assert [answer.text for answer in answers] == ["Stopped."]
    assert await office.remembered() == []


@pytest.mark.promise("edits-count")
async def test_an_edit_starts_the_answer_again(script: Script) -> None:
    """The first is broken off without an end, and only the second is remembered."""
    silence = Silence()
    model = script(*silent(silence), *WHOLE)
    office = Office(model)
    await office.inbox.put(asked("1"))
    async with office.open():
        await silence.begun.wait()
        await office.inbox.put(edited("1"))
        answers = await office.answered(1)

    assert [answer.status for answer in answers] == [Status.ANSWERED]
    assert await office.remembered() == ["What is 1 #1?"]
    assert model.closed_early == 1


@pytest.mark.promise("edits-count")
@pytest.mark.parametrize(
    ("later", "follow_up", "expected"),
    [
        (timedelta(minutes=10), False, ["What is 1 #1?"]),
        (timedelta(minutes=11), False, ["What is 1?"]),
        (timedelta(0), True, ["What is 1?", "Q?"]),
    ],
)
async def test_an_answer_is_updated_for_a_while_and_before_any_follow_up(
    script: Script, later: timedelta, follow_up: bool, expected: list[str]
) -> None:
    """Afterwards people have read it, and it stays."""
    is_updated = expected == ["What is 1 #1?"]
    office = Office(script(*WHOLE, *(WHOLE if is_updated else ())), now=NOON + later)
    await office.inbox.put(asked("1"))
    async with office.open():
        await office.answered(1)
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the first answer")
        if follow_up:
            later_on = {"asked_at": NOON + timedelta(minutes=1)}
            await office.memory.append(thread(), turn_of("Q?", id="2").model_copy(update=later_on))
        await office.inbox.put(edited("1"))
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the second answer")

    assert (len(office.answers), office.events) == (1 + is_updated, [])
    assert await office.remembered() == expected


@pytest.mark.promise("edits-count")
async def test_who_was_told_to_wait_for_an_old_question_that_was_edited_is_answered(script: Script) -> None:
    """And what they were told goes with that."""
    office = Office(script(*WHOLE, *WHOLE), now=NOON + timedelta(hours=1))
    await office.inbox.put(asked("1"))
    async with office.open():
        await office.answered(1)
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the first answer")
    await office.inbox.put(edited("1"))
    assert await office.inbox.announce(asked("1").message, WaitNotice(thread=thread(), nonce="n"))
    office.reopen()
    async with office.open():
        await office.answered(2)
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the second answer")

    assert await office.remembered() == ["What is 1 #1?"]


@pytest.mark.promise("edits-count")
async def test_a_follow_up_that_failed_is_answered_once_it_is_edited(script: Script) -> None:
    """What was said before it is no reason to leave it; what was said after it would be."""
    office = Office(script(turn(ModelUnavailable("down")), *WHOLE))
    earlier = turn_of("Q?", id="0").model_copy(update={"asked_at": NOON - timedelta(minutes=1)})
    await office.memory.append(thread(), earlier)
    await office.inbox.put(asked("1"))
    async with office.open():
        await office.answered(1)
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the first answer")
        await office.inbox.put(edited("1"))
        failed, answer = await office.answered(2)

    assert (failed.status, answer.status) == (Status.FAILED, Status.ANSWERED)


@pytest.mark.promise("deletions-count")
async def test_what_is_deleted_while_it_is_answered_is_taken_back_at_once(script: Script) -> None:
    """By whoever is at it: a store may lose what stands there before another one would be."""
    silence = Silence()
    office = Office(script(*silent(silence)))
    await office.inbox.put(asked("1"))
    async with office.open():
        await silence.begun.wait()
        await office.inbox.put(deleted(asked("1")))
        await wait_until(lambda: bool(office.surface.withdrawn), what="the withdrawal")
        await wait_until(lambda: not office.inbox.is_busy, what="the end of it")

    [withdrawal] = office.surface.withdrawn
    assert (withdrawal.message, withdrawal.fence, withdrawal.asker_id) == (asked("1").message, 1, "p1")
    assert await office.remembered() == []


@pytest.mark.promise("deletions-count")
async def test_a_deleted_question_leaves_nothing(script: Script) -> None:
    """Neither the turn nor, if nobody has replied, what was posted."""
    office = Office(script(*WHOLE))
    await office.inbox.put(asked("1"))
    async with office.open():
        await office.answered(1)
        await office.inbox.put(deleted(asked("1")))
        await wait_until(lambda: bool(office.surface.withdrawn), what="the withdrawal")

    message = asked("1").message
    assert office.surface.withdrawn == [Withdrawal(message, fence=2, delivery=posted("1"), asker_id="p1")]
    assert await office.remembered() == []


@pytest.mark.promise("deletions-count")
async def test_a_question_deleted_while_it_is_answered_ends_without_an_answer(script: Script) -> None:
    """The model is silenced, and what was begun is taken back."""
    silence = Silence()
    model = script(*silent(silence))
    office = Office(model)
    await office.inbox.put(asked("1"))
    async with office.open():
        await silence.begun.wait()
        await office.inbox.put(deleted(asked("1")))
        await wait_until(lambda: bool(office.surface.withdrawn), what="the withdrawal")

    assert (office.answers, model.closed_early) == ([], 1)


@pytest.mark.promise("retry")
async def test_a_question_that_failed_can_be_tried_again(script: Script) -> None:
    """Somebody presses a button, and the same words are answered anew in the place of the failure."""
    office = Office(script(turn(ModelUnavailable("down")), *WHOLE))
    async with office.open():
        await office.inbox.put(asked("m1"))
        [failed] = await office.answered(1)
        async with asyncio.timeout(2):
            while not await office.inbox.put(AskedAgain(message=asked("m1").message, by=Person(id="p2"))):  # noqa: ASYNC110 - no event tells that it was settled
                await asyncio.sleep(0)
        _, answer = await office.answered(2)

    assert failed.status is Status.FAILED
    assert answer.status is Status.ANSWERED


@pytest.mark.promise("tried-again")
async def test_what_fails_is_tried_three_times_and_then_apologized_for(script: Script) -> None:
    """Each failure is an event, and the warning comes once."""
    office = Office(script(), surface=Broken())
    await office.inbox.put(asked("1"))
    async with office.open():
        await office.answered(1)

    message = asked("1").message
    assert [answer.status for answer in office.answers] == [Status.FAILED]
    assert office.surface.reactions == [(message, Reaction.WARNING)]
    assert office.events == [TaskFailed(message, n, n == 3, "ConnectionError") for n in (1, 2, 3)]
    assert list(office.inbox.dead) == [message]


@pytest.mark.promise("given-up-is-seen-to")
@pytest.mark.parametrize(("breaks", "told"), [(4, [Status.FAILED]), (6, [Status.FAILED]), (7, [])])
async def test_an_apology_that_cannot_be_made_now_is_made_later(
    script: Script, breaks: int, told: list[Status]
) -> None:
    """The platform was away for all three attempts; after three more the operator alone hears of it."""
    office = Office(script(), surface=Broken(breaks))
    await office.inbox.put(asked("1"))
    async with office.open():
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the question")

    assert [answer.status for answer in office.answers] == told
    assert [event.is_last for event in office.events if isinstance(event, TaskFailed)].count(True) == 1
    assert list(office.inbox.dead) == [asked("1").message]


@pytest.mark.promise("given-up-is-seen-to")
@pytest.mark.parametrize(
    ("workers", "is_stopped", "statuses"),
    [(2, False, [Status.ANSWERED]), (3, False, [Status.FAILED]), (3, True, [Status.FAILED]), (6, False, [])],
)
async def test_what_ends_every_process_that_begins_it_is_given_up(
    script: Script, workers: int, *, is_stopped: bool, statuses: list[Status]
) -> None:
    """With an apology, also where somebody has stopped it, unless that may be what ends them."""
    office = Office(script(*WHOLE) if workers < MOST_ATTEMPTS else script())
    await office.inbox.put(asked("1"))
    office.inbox.outlive(asked("1").message, workers=workers)
    if is_stopped:
        await office.inbox.put(Stopped(message=asked("1").message, by=Person(id="p1")))
    async with office.open():
        await wait_until(lambda: not office.inbox.is_busy, what="the end of the question")

    assert [answer.status for answer in office.answers] == statuses
    assert [str(error) for error in office.inbox.dead.values()] == [EXHAUSTED] * (workers >= 3)


class Broken(RecordingSurface):
    """Breaks some times before it draws anything."""

    def __init__(self, times: int = 3) -> None:
        super().__init__()
        self._left = times

    async def reply(self, claim: Claim, progress: AsyncIterator[Progress]) -> Delivery:
        """Break, or draw."""
        if self._left:
            self._left -= 1
            raise ConnectionError("the surface was told to break")
        return await super().reply(claim, progress)


async def test_a_platform_that_the_worker_does_not_serve_is_told(script: Script) -> None:
    """With what to do, in the event."""
    office = Office(script())
    office.worker = Worker(
        office.inbox,
        Responder(Agent(script(), Shelf(), clock=Clock()), None, now=lambda: NOON),
        {},
        office.memory,
        now=lambda: NOON,
        observer=office.events.append,
    )
    await office.inbox.put(asked("1"))
    async with office.open():
        await wait_until(lambda: bool(office.inbox.dead), what="the dead letter")

    assert {event.reason for event in office.events if isinstance(event, TaskFailed)} == {
        "This worker cannot answer on test. Set what test needs, and start again."
    }


@pytest.mark.promise("deletions-count")
async def test_a_worker_without_the_platform_forgets_nothing_of_a_deleted_question(script: Script) -> None:
    """Whoever can take the answer back still has to know who asked."""
    office = Office(script(*WHOLE))
    await office.inbox.put(asked("1"))
    async with office.open():
        await office.answered(1)
    responder = Responder(Agent(script(), Shelf(), clock=Clock()), None, now=lambda: NOON)
    office.worker = Worker(office.inbox, responder, {}, office.memory, now=lambda: NOON, observer=office.events.append)
    await office.inbox.put(deleted(asked("1")))
    async with office.open():
        await wait_until(lambda: any(isinstance(each, TaskFailed) for each in office.events), what="the failure")

    assert len(await office.remembered()) == 1


async def test_so_many_are_answered_at_once_and_no_more(script: Script) -> None:
    """The others wait in the inbox."""
    first, second = Silence(), Silence()
    model = script(*silent(first), *silent(second))
    office = Office(model)
    for name in ("1", "2", "3"):
        await office.inbox.put(asked(name, in_thread=name))
    async with office.open(concurrency=2) as running:
        await wait_until(lambda: len(model.prompts) == 4 or second.begun.is_set(), what="two answers")
        await asyncio.sleep(0)
        assert await office.inbox.waiting() == 1
        running.cancel()


async def test_an_orderly_stop_finishes_what_is_under_way(script: Script) -> None:
    """And takes nothing more."""
    silence = Silence()
    office = Office(script(*silent(silence)))
    await office.inbox.put(asked("1"))
    async with office.open(concurrency=1) as running:
        await silence.begun.wait()
        await office.inbox.put(asked("2", in_thread="2"))
        office.worker.stop()
        await asyncio.sleep(0)
        assert not running.done()
        await office.inbox.put(stopped(asked("1")))
        await running

    assert [answer.status for answer in office.answers] == [Status.STOPPED]
    assert await office.inbox.waiting() == 1


async def test_a_worker_that_is_cancelled_hands_its_work_back(script: Script) -> None:
    """At once; somebody else does it."""
    silence = Silence()
    office = Office(script(*silent(silence)))
    await office.inbox.put(asked("1"))
    async with office.open() as running:
        await silence.begun.wait()
        running.cancel()

    assert (office.answers, await office.inbox.waiting()) == ([], 1)


async def test_an_inbox_that_is_away_is_waited_for(script: Script) -> None:
    """The worker tells it, rests, and goes on once it is back."""
    office = Office(script(*WHOLE))
    await office.inbox.put(asked("1"))
    office.inbox.fails = True
    async with office.open():
        await wait_until(lambda: office.inbox.refusals > 4, what="several attempts")
        office.inbox.fails = False
        answers = await office.answered(1)

    assert [answer.status for answer in answers] == [Status.ANSWERED]
    assert set(office.events) == {ServiceFailed("inbox", "The data store cannot be reached. Try again in a moment.")}
